import HealthModel
import SQLiteKit

/// A sample that is removed and the sample that replaces it.
struct Replacement {
    /// How the new sample gets into the store.
    enum Arrival: Int64 {
        /// It is inserted as a new row.
        case made = 0
        /// It is restored from its tombstone.
        case restored = 1
        /// It already exists.
        case present = 2
    }

    /// The old sample's change number, which orders samples that have the same start.
    var order: Int64
    var old: SampleKey
    /// Whether the old sample is removed. False in the undo of a merge, because the reading that replaced the sample stays.
    var leaves = true
    var arrival: Arrival
    var new: SampleKey
    var uuid: SampleIdentity
    /// The ledger entry that the new sample is counted in.
    var ingestID: Int64
    // The following properties are those of a sample that is inserted.
    var value = 0.0
    var numeral: String?
    var context: Int64 = 0
    /// In microseconds, 0 if none.
    var duration: Int64 = 0
    /// In microseconds after the start.
    var received: Int64?
    var group: Int64?
    var metadata: Int64?
    /// The identity that the reading would have had if it had been read correctly. Its start is the nominal start.
    var alias: SampleKey?
    /// The numbers of the deletion and of the addition in the change log.
    var seqs: (old: Int64, new: Int64) = (0, 0)
}

/// Replacements that SQL sees as the table `replacement`.
final class ReplacementTable: VirtualTable {
    /// The table's contents, set by ``with(_:_:)`` while statements run.
    private var rows = UnsafeBufferPointer<Replacement>(start: nil, count: 0)

    init() {
        super.init(
            name: "replacement",
            columns: """
                series, start, hash, value, numeral, context, duration, received, grp, metadata, seq, old_series, old_start, old_hash,
                old_seq, uuid, leaves, arrival, nominal, alias
                """)
    }

    override var count: Int { rows.count }

    /// Runs `body`, whose statements see these rows. The table is empty afterwards.
    func with(_ rows: [Replacement], _ body: () throws -> Void) rethrows {
        try rows.withUnsafeBufferPointer { rows in
            self.rows = rows
            defer { self.rows = UnsafeBufferPointer(start: nil, count: 0) }
            try body()
        }
    }

    override func give(_ position: Int, _ column: Int32, to result: SQLiteResult) {
        // Read once, because each access to a class's property is checked for exclusivity.
        let rows = rows
        guard position < rows.count else { return }
        func give(_ number: Int64?) { if let number { result.give(number) } }
        switch column {
        case 0: give(rows[position].new.series)
        case 1: give(rows[position].new.start)
        case 2: result.give(hash: rows[position].new.high, rows[position].new.low)
        case 3: result.give(rows[position].value)
        case 4: if let numeral = rows[position].numeral { result.give(numeral) }
        case 5: give(rows[position].context)
        case 6: if rows[position].duration != 0 { give(rows[position].duration) }
        case 7: give(rows[position].received)
        case 8: give(rows[position].group)
        case 9: give(rows[position].metadata)
        case 10: give(rows[position].seqs.new)
        case 11: give(rows[position].old.series)
        case 12: give(rows[position].old.start)
        case 13: result.give(hash: rows[position].old.high, rows[position].old.low)
        case 14: give(rows[position].seqs.old)
        case 15: result.give(rows[position].uuid)
        case 16: give(rows[position].leaves ? 1 : 0)
        case 17: give(rows[position].arrival.rawValue)
        case 18: give(rows[position].alias?.start)
        default: if let alias = rows[position].alias { result.give(hash: alias.high, alias.low) }
        }
    }
}
