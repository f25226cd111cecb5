import CSQLite
import HealthModel

/// One sample that goes and one that comes in its place.
struct Replacement {
    /// How the new one comes to be there.
    enum Arrival: Int64 {
        /// A row of its own.
        case made = 0
        /// Out of its tombstone.
        case restored = 1
        /// It is there already.
        case present = 2
    }

    /// The old one's number, which tells its place among those of one start.
    var order: Int64
    var old: SampleKey
    /// Whether the old one leaves; where it does not, it had never made way.
    var leaves = true
    var arrival: Arrival
    var new: SampleKey
    var uuid: SampleIdentity
    /// The ingest that the new one counts for.
    var bringer: Int64
    // Of a sample that is made.
    var value = 0.0
    var numeral: String?
    var context: Int64 = 0
    /// 0 for none.
    var duration: Int64 = 0
    /// After the start.
    var received: Int64?
    var group: Int64?
    var metadata: Int64?
    /// What the reading would have been identified by, had it been read rightly; its start is the nominal one.
    var alias: SampleKey?
    /// The numbers of the deletion and of the addition in the change log.
    var seqs: (old: Int64, new: Int64) = (0, 0)
}

/// Replacements that SQL sees as the table `replacement`.
final class ReplacementTable: VirtualTable {
    /// What the table holds; set by ``with(_:_:)`` while statements run.
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

    /// Lets `body` run statements over these rows, and nothing afterwards.
    func with(_ rows: [Replacement], _ body: () throws -> Void) rethrows {
        try rows.withUnsafeBufferPointer { rows in
            self.rows = rows
            defer { self.rows = UnsafeBufferPointer(start: nil, count: 0) }
            try body()
        }
    }

    override func give(_ position: Int, _ column: Int32, to context: OpaquePointer?) {
        // Once: each look at a class's property is checked for exclusive access.
        let rows = rows
        guard position < rows.count else { return }
        func give(_ number: Int64?) { if let number { sqlite3_result_int64(context, number) } }
        switch column {
        case 0: give(rows[position].new.series)
        case 1: give(rows[position].new.start)
        case 2: Self.give(hash: rows[position].new.high, rows[position].new.low, to: context)
        case 3: sqlite3_result_double(context, rows[position].value)
        case 4: if let numeral = rows[position].numeral { Self.give(numeral, to: context) }
        case 5: give(rows[position].context)
        case 6: if rows[position].duration != 0 { give(rows[position].duration) }
        case 7: give(rows[position].received)
        case 8: give(rows[position].group)
        case 9: give(rows[position].metadata)
        case 10: give(rows[position].seqs.new)
        case 11: give(rows[position].old.series)
        case 12: give(rows[position].old.start)
        case 13: Self.give(hash: rows[position].old.high, rows[position].old.low, to: context)
        case 14: give(rows[position].seqs.old)
        case 15: Self.give(rows[position].uuid, to: context)
        case 16: give(rows[position].leaves ? 1 : 0)
        case 17: give(rows[position].arrival.rawValue)
        case 18: give(rows[position].alias?.start)
        default: if let alias = rows[position].alias { Self.give(hash: alias.high, alias.low, to: context) }
        }
    }
}
