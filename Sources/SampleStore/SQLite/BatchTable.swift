import CSQLite

/// One row of `sample`, as it is going to be written.
struct SampleRow {
    var series: Int64
    var start: Int64
    var nominal: Int64
    var low: UInt64
    var high: UInt16
    var value: Double
    var context: Int64
    /// 0 for none.
    var duration: Int64
    /// After `start`; `Int64.min` for none of its own.
    var received: Int64
    /// 0 for none.
    var group: Int64
    /// 0 for none.
    var metadata: Int64
    var seq: Int64 = 0
    /// Where the numeral's text lies in the batch's text, where the value does not tell it.
    var numeral: Range<Int32>
    /// The position in the batch as it was given.
    var index: Int32

    var place: SamplePlace { SamplePlace(series: series, start: start, high: high, low: low) }
}

/// A batch of rows that SQL sees as the table `batch`.
final class BatchTable: VirtualTable {
    /// What the table holds; set by ``with(rows:text:_:)`` while a statement runs.
    private var rows = UnsafeBufferPointer<SampleRow>(start: nil, count: 0)
    private var text = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// What each row is a witness of, where they are witnesses.
    private var firsts = UnsafeBufferPointer<SamplePlace>(start: nil, count: 0)

    init() {
        super.init(
            name: "batch",
            columns: """
                series, start, hash, value, numeral, context, duration, received, grp, metadata, seq, nominal, of_series, of_start, of_hash
                """)
    }

    override var count: Int { rows.count }

    /// Lets `body` run statements over these rows, and nothing afterwards.
    ///
    /// - Parameter firsts: what each row is a witness of, where they are witnesses.
    func with<Result>(
        rows: [SampleRow], text: [UInt8], firsts: [SamplePlace] = [], _ body: () throws -> Result
    ) rethrows -> Result {
        try rows.withUnsafeBufferPointer { rows in
            try text.withUnsafeBufferPointer { text in
                try firsts.withUnsafeBufferPointer { firsts in
                    (self.rows, self.text, self.firsts) = (rows, text, firsts)
                    defer {
                        self.rows = UnsafeBufferPointer(start: nil, count: 0)
                        self.text = UnsafeBufferPointer(start: nil, count: 0)
                        self.firsts = UnsafeBufferPointer(start: nil, count: 0)
                    }
                    return try body()
                }
            }
        }
    }

    override func give(_ position: Int, _ column: Int32, to context: OpaquePointer?) {
        // A copy, since each look at a property of a class is checked for another's at the same time.
        let rows = rows
        guard position < rows.count else { return }
        switch column {
        case 0: sqlite3_result_int64(context, rows[position].series)
        case 1: sqlite3_result_int64(context, rows[position].start)
        case 2: Self.give(hash: rows[position].high, rows[position].low, to: context)
        case 3: sqlite3_result_double(context, rows[position].value)
        case 4:
            let range = rows[position].numeral
            if let text = text.baseAddress, !range.isEmpty {
                sqlite3_result_text(
                    context, UnsafeRawPointer(text + Int(range.lowerBound)).assumingMemoryBound(to: CChar.self),
                    Int32(range.count), vitalgate_sqlite_static)
            }
        case 5: sqlite3_result_int64(context, rows[position].context)
        case 6: if rows[position].duration != 0 { sqlite3_result_int64(context, rows[position].duration) }
        case 7: if rows[position].received != .min { sqlite3_result_int64(context, rows[position].received) }
        case 8: if rows[position].group != 0 { sqlite3_result_int64(context, rows[position].group) }
        case 9: if rows[position].metadata != 0 { sqlite3_result_int64(context, rows[position].metadata) }
        case 10: sqlite3_result_int64(context, rows[position].seq)
        case 11: sqlite3_result_int64(context, rows[position].nominal)
        default: if position < firsts.count { Self.give(firsts[position], column, to: context) }
        }
    }
    private static func give(_ first: SamplePlace, _ column: Int32, to context: OpaquePointer?) {
        switch column {
        case 12: sqlite3_result_int64(context, first.series)
        case 13: sqlite3_result_int64(context, first.start)
        default: give(hash: first.high, first.low, to: context)
        }
    }
}
