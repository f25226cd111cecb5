import SQLiteKit

/// One row of the table `sample`, ready to be written.
struct SampleRow {
    var series: Int64
    var start: Int64
    var nominal: Int64
    var low: UInt64
    var high: UInt16
    var value: Double
    /// One unit of the numeral's last digit, in the numeral's own unit, or 0 if the value is not compared.
    var step: Double
    var context: Int64
    /// In microseconds, 0 if none.
    var duration: Int64
    /// In microseconds after `start`, `Int64.min` if the row has no receive time of its own.
    var received: Int64
    /// 0 if none.
    var group: Int64
    /// 0 if none.
    var metadata: Int64
    var seq: Int64 = 0
    /// The position of the numeral's text in the batch's text. Empty if the value's shortest decimal text is the numeral.
    var numeral: Range<Int32>
    /// The position of the sample in the batch as it was passed in.
    var index: Int32

    var key: SampleKey { SampleKey(series: series, start: start, high: high, low: low) }
}

/// A batch of rows that SQL sees as the table `batch`. It can be limited to the rows that are witnesses, together with the samples they are
/// witnesses of.
final class BatchTable: VirtualTable {
    /// A row that is the witness of a sample.
    struct DuplicateRow {
        /// The index in the batch's rows.
        var row: Int
        /// The id of the decision that it shares with other witnesses (``Schema/decision``).
        var decision: Int64
        var of: SampleKey
    }

    /// The table's contents, set by ``with(rows:text:_:)`` while a statement runs.
    private var rows = UnsafeBufferPointer<SampleRow>(start: nil, count: 0)
    private var text = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The rows that the table is limited to, or nil for all rows.
    private var nearDuplicates: UnsafeBufferPointer<DuplicateRow>?

    init() {
        super.init(
            name: "batch",
            columns: """
                series, start, hash, value, numeral, context, duration, received, grp, metadata, seq, nominal, decision, of_start, of_hash
                """)
    }

    override var count: Int { nearDuplicates?.count ?? rows.count }

    /// Runs `body`, whose statements see these rows. The table is empty afterwards.
    func with<Result>(rows: [SampleRow], text: [UInt8], _ body: () throws -> Result) rethrows -> Result {
        try rows.withUnsafeBufferPointer { rows in
            try text.withUnsafeBufferPointer { text in
                (self.rows, self.text) = (rows, text)
                defer {
                    self.rows = UnsafeBufferPointer(start: nil, count: 0)
                    self.text = UnsafeBufferPointer(start: nil, count: 0)
                }
                return try body()
            }
        }
    }

    /// Runs `body`, whose statements see only the rows that are witnesses.
    func with<Result>(
        rows: [SampleRow], text: [UInt8], nearDuplicates: [DuplicateRow], _ body: () throws -> Result
    ) rethrows -> Result {
        try nearDuplicates.withUnsafeBufferPointer { nearDuplicates in
            self.nearDuplicates = nearDuplicates
            defer { self.nearDuplicates = nil }
            return try with(rows: rows, text: text, body)
        }
    }

    override func give(_ position: Int, _ column: Int32, to result: SQLiteResult) {
        guard let nearDuplicates = nearDuplicates else { return give(row: position, column, to: result) }
        switch column {
        case 12: result.give(nearDuplicates[position].decision)
        case 13: result.give(nearDuplicates[position].of.start)
        case 14: result.give(hash: nearDuplicates[position].of.high, nearDuplicates[position].of.low)
        default: give(row: nearDuplicates[position].row, column, to: result)
        }
    }

    @inline(__always)
    private func give(row position: Int, _ column: Int32, to result: SQLiteResult) {
        // Read once, because each access to a class's property is checked for exclusivity.
        let rows = rows
        guard position < rows.count else { return }
        switch column {
        case 0: result.give(rows[position].series)
        case 1: result.give(rows[position].start)
        case 2: result.give(hash: rows[position].high, rows[position].low)
        case 3: result.give(rows[position].value)
        case 4:
            let range = rows[position].numeral
            if let text = text.baseAddress, !range.isEmpty {
                result.give(lastingText: UnsafeRawBufferPointer(start: text + Int(range.lowerBound), count: range.count))
            }
        case 5: result.give(rows[position].context)
        case 6: if rows[position].duration != 0 { result.give(rows[position].duration) }
        case 7: if rows[position].received != .min { result.give(rows[position].received) }
        case 8: if rows[position].group != 0 { result.give(rows[position].group) }
        case 9: if rows[position].metadata != 0 { result.give(rows[position].metadata) }
        case 10: result.give(rows[position].seq)
        case 11: result.give(rows[position].nominal)
        default: return
        }
    }
}
