import HealthModel

/// A sample of another path that may be the same measurement.
struct Candidate {
    let place: SampleKey
    /// The sample that it is a witness of, and stands in for; itself where it is none.
    let first: SampleKey
    /// While it is rough, the resolution of its value is the coarsest that it can be.
    private(set) var trace: ReadingTrace
    private var isRough: Bool
    /// Whether a row of the batch is its witness.
    var isTaken = false

    init(place: SampleKey, first: SampleKey, trace: ReadingTrace, isRough: Bool) {
        (self.place, self.first) = (place, first)
        self.trace = trace
        self.isRough = isRough
    }

    /// Finds the resolution of a value that tells its numeral by itself.
    mutating func refine() {
        guard isRough else { return }
        isRough = false
        if Int64(exactly: trace.value) == nil { trace.valueResolution *= Numeral(shortest: trace.value).step }
    }
}

/// Walks along a sibling's samples beside rows that are sorted by start, and holds those near the row that is looked at.
struct SiblingScan {
    let sibling: Sibling
    /// Those held, some that were passed, and the next one where it is known.
    private(set) var candidates: [Candidate] = []
    private let statement: Statement
    private var telling: SeriesTelling
    private let witnessed: WitnessedStretch
    /// Which of them stand in for others; nil where none does.
    private let standIns: MeasurementReader?
    let table: Table
    private var begun = false
    private var ended = false
    /// Where those held begin and end.
    private var (head, tail) = (0, 0)

    /// How many samples are passed over before the next place is sought instead.
    private static let patience = 48

    enum Table {
        case live
        /// What a person deleted: deleted stays deleted, whichever way it comes.
        case deleted
        /// What an undoing took back: it may come again, over this path or another, and is one with it once the undoing is undone.
        case withdrawn
    }

    init(
        _ sibling: Sibling, _ table: Table, telling: SeriesTelling, witnessed: WitnessedStretch, standIns: MeasurementReader?,
        connection: Connection
    ) throws(StoreError) {
        (self.sibling, self.table, self.standIns) = (sibling, table, standIns)
        self.telling = telling
        self.witnessed = witnessed
        let columns = "start, hash, value, context, numeral, metadata" + (sibling.lasts ? ", duration" : "")
        statement = try Statement(
            connection,
            table == .live
                ? "SELECT \(columns) FROM sample WHERE series = ? AND start >= ? ORDER BY start"
                : """
                SELECT \(columns) FROM deleted WHERE series = ? AND start >= ? AND NOT forgotten AND replaced_by IS NULL
                    AND (SELECT kind FROM ingest WHERE ingest.id = deleted.ingest) \(table == .withdrawn ? "=" : "<>") \(IngestKind.undo.literal)
                ORDER BY start
                """)
    }

    /// Which of the ``candidates`` start between two times, until the next call; asked for with ever later times.
    mutating func near(_ low: Int64, _ high: Int64) throws(StoreError) -> Range<Int> {
        while head < tail, candidates[head].place.start < low { head += 1 }
        if head > 512, head * 2 > candidates.count {
            candidates.removeFirst(head)
            tail -= head
            head = 0
        }
        if !begun { try seek(low) }
        var passed = 0
        while try readsAhead(), candidates[tail].place.start <= high {
            if candidates[tail].place.start >= low {
                tail += 1
                continue
            }
            candidates.removeLast()
            passed += 1
            if passed > Self.patience {
                try seek(low)
                passed = 0
            }
        }
        return head..<tail
    }

    /// Hands over those of the ``candidates`` that a reading is like, by their position.
    mutating func forEachLike(
        of trace: ReadingTrace, among near: Range<Int>, _ rule: DuplicateRule, _ body: (Likeness, Int) -> Void
    ) {
        for position in near {
            // Most of what differs is told apart without its digits.
            let difference = abs(candidates[position].trace.value - trace.value)
            guard difference <= Likeness.tolerance(trace, candidates[position].trace) else { continue }
            candidates[position].refine()
            if let likeness = Likeness(trace, candidates[position].trace, rule: rule) { body(likeness, position) }
        }
    }

    /// Makes a row the witness of one of the ``candidates``, and says which sample that is; nil where it has one already.
    mutating func take(_ position: Int) throws(StoreError) -> SampleKey? {
        let place = candidates[position].first
        guard !candidates[position].isTaken, try !witnessed.contains(place) else { return nil }
        candidates[position].isTaken = true
        return place
    }

    private mutating func seek(_ low: Int64) throws(StoreError) {
        statement.reset()
        try statement.bind([.integer(sibling.series), .integer(low)])
        begun = true
    }

    /// Makes the next one known; false where there is none.
    private mutating func readsAhead() throws(StoreError) -> Bool {
        if tail < candidates.count { return true }
        if ended { return false }
        guard try statement.step() else {
            ended = true
            statement.reset()
            return false
        }
        let start = statement.integer(0)
        let isRough = statement.isNull(4)
        let place = try SampleKey(series: sibling.series, start: start, hash: statement.blob(1))
        try candidates.append(
            Candidate(
                place: place, first: standIns?.first(of: place) ?? place,
                trace: telling.trace(
                    start: start, duration: sibling.lasts ? statement.integer(6) : 0, value: statement.real(2),
                    step: isRough ? 1 : (try? Numeral(parsing: statement.blob(4)))?.step ?? 0, context: statement.integer(3),
                    metadata: statement.integer(5)),
                isRough: isRough))
        return true
    }
}
