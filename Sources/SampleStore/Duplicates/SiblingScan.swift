import HealthModel

/// A sample of another path that may be the same measurement.
struct Candidate {
    var place: SamplePlace
    var duration: Int64
    var value: Double
    var context: Int64
    /// One step of the numeral as received, in its own unit; negative where the value tells it.
    var step: Double
    /// Whether a row of the batch is its witness.
    var isTaken = false
}

/// Walks along a sibling's samples beside rows that are sorted by start, and holds those near the row that is looked at.
struct SiblingScan {
    let sibling: Sibling
    /// Those held, and some that were passed.
    var candidates: [Candidate] = []
    private let statement: Statement
    private var next: Candidate?
    private var ended = false
    /// Where those held begin.
    private var head = 0

    /// How many samples are passed over before the next place is sought instead.
    private static let patience = 48

    enum Table {
        case live
        /// What a person deleted: deleted stays deleted, whichever way it comes. What an undoing took back may come again.
        case deleted
    }

    init(_ sibling: Sibling, _ table: Table, connection: Connection) throws(StoreError) {
        self.sibling = sibling
        let columns = "start, hash, value, numeral, context, duration"
        statement = try Statement(
            connection,
            table == .live
                ? "SELECT \(columns) FROM sample WHERE series = ? AND start >= ? ORDER BY start"
                : """
                SELECT \(columns) FROM deleted WHERE series = ? AND start >= ? AND NOT forgotten AND replaced_by IS NULL
                    AND (SELECT kind FROM ingest WHERE ingest.id = deleted.ingest) = \(IngestKind.delete.literal) ORDER BY start
                """)
    }

    /// Which of the ``candidates`` start between two times, until the next call; asked for with ever later times.
    mutating func near(_ low: Int64, _ high: Int64) throws(StoreError) -> Range<Int> {
        while head < candidates.count, candidates[head].place.start < low { head += 1 }
        if head > 512, head * 2 > candidates.count {
            candidates.removeFirst(head)
            head = 0
        }
        if next == nil, !ended { try seek(low) }
        var passed = 0
        while let candidate = next, candidate.place.start <= high {
            if candidate.place.start >= low {
                candidates.append(candidate)
            } else {
                passed += 1
                if passed > Self.patience {
                    try seek(low)
                    passed = 0
                    continue
                }
            }
            try advance()
        }
        return head..<candidates.count
    }

    private mutating func seek(_ low: Int64) throws(StoreError) {
        statement.reset()
        try statement.bind([.integer(sibling.series), .integer(low)])
        try advance()
    }

    private mutating func advance() throws(StoreError) {
        guard try statement.step() else {
            next = nil
            ended = true
            statement.reset()
            return
        }
        next = try Candidate(
            place: SamplePlace(series: sibling.series, start: statement.integer(0), hash: statement.blob(1)),
            duration: statement.integer(5), value: statement.real(2), context: statement.integer(4),
            step: statement.isNull(3) ? -1 : (try? Numeral(parsing: statement.blob(3)))?.step ?? 0)
    }

    /// The step of a numeral that is told by its value.
    static func step(of value: Double) -> Double { value == value.rounded() ? 1 : Numeral(shortest: value).step }
}
