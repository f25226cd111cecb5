import HealthModel

/// Finds which rows of a batch the store has already, live or deleted.
///
/// A batch is sorted by nominal time, as the store is, so that the two are merged: one scan where both are dense, one seek for each
/// row where the store holds much more.
struct ExistingSamples {
    let connection: Connection
    /// Why readings that are there are not seen as they came.
    private(set) var hindrances = Hindrances()
    private let comparesTimes: Bool
    /// Whether the series that is looked at has records that start when they were added, each time at another.
    private var startsWhenAdded = false
    /// What ingests that made tombstones did.
    private var fates: [Int64: (kind: IngestKind?, isRepair: Bool)] = [:]
    private let reader: MeasurementReader
    /// Of a series: who brought the samples of a stretch of the change log.
    private var bringer: (series: Int64, seqs: ClosedRange<Int64>, ingest: Int64)?
    /// Of the series that is looked at, by the row's index: what is said of it.
    private var hindered: [Int32: Hindrances.Reason] = [:]
    /// By series: nominal times of which there is another reading as well.
    private(set) var shared: [Int64: Set<Int64>] = [:]
    /// Those of the series that is looked at, some more than once.
    private var instants: [Int64] = []

    init(connection: Connection, comparesTimes: Bool) {
        self.connection = connection
        reader = MeasurementReader(connection: connection)
        self.comparesTimes = comparesTimes
    }

    /// How many rows the scan passes over before it seeks the next row of the batch instead.
    private static let patience = 48

    /// Sorts the rows by nominal time and hash, and returns the indices of those that are there already, or twice in the batch.
    ///
    /// - Parameter startsWhenAdded: whether a row that is there already may start at another time.
    mutating func mark(
        _ rows: inout [SampleRow], of series: Int64, startsWhenAdded: Bool = false
    ) throws(StoreError) -> [Int32] {
        self.startsWhenAdded = startsWhenAdded
        // Of equal rows the one that came first stays in front.
        rows.sortIfNeeded { ($0.nominal, $0.high, $0.low, $0.index) < ($1.nominal, $1.high, $1.low, $1.index) }
        var marked: [Int32] = []
        instants.removeAll(keepingCapacity: true)
        hindered.removeAll(keepingCapacity: true)
        for index in rows.indices.dropFirst() where rows[index].nominal == rows[index - 1].nominal {
            if Self.same(rows[index], rows[index - 1]) {
                marked.append(rows[index].index)
            } else if rows[index].context != rows[index - 1].context {
                note(rows[index].nominal)
            }
        }
        // Without a skew the nominal time is where a sample stands.
        try merge(
            rows, series, .stands,
            "SELECT start, hash FROM sample WHERE series = ? AND start >= ? AND start <= ? ORDER BY start, hash",
            &marked)
        let hasDeleted = try connection.integer("SELECT 1 FROM deleted WHERE series = ? LIMIT 1", .integer(series)) != nil
        if hasDeleted {
            try merge(
                rows, series, .deleted,
                """
                SELECT start, hash, ingest, replaced_by IS NOT NULL, seq FROM deleted WHERE series = ? AND start >= ? AND start <= ? AND NOT forgotten ORDER BY start, hash
                """, &marked)
        }
        if try connection.integer("SELECT 1 FROM reading_alias WHERE series = ? LIMIT 1", .integer(series)) != nil {
            // The same reading, read rightly: its repaired sample is there.
            try merge(
                rows, series, .repaired,
                """
                SELECT nominal, hash FROM reading_alias WHERE series = ? AND nominal >= ? AND nominal <= ? ORDER BY nominal, hash
                """, &marked)
        }
        if try connection.integer("SELECT 1 FROM place WHERE series = ? LIMIT 1", .integer(series)) != nil {
            try merge(
                rows, series, hasDeleted ? .placedOrDeleted : .placed,
                "SELECT nominal, hash, start FROM place WHERE series = ? AND nominal >= ? AND nominal <= ? ORDER BY nominal, hash",
                &marked)
        }
        // After the tombstones: of a witness's it says who took the witness back.
        if try connection.integer("SELECT 1 FROM witness_row WHERE series = ? LIMIT 1", .integer(series)) != nil {
            try merge(
                rows, series, .witnesses,
                """
                SELECT start, hash, decision.ingest FROM witness_row CROSS JOIN decision ON decision.id = decision
                WHERE series = ? AND start >= ? AND start <= ? ORDER BY start, hash
                """, &marked)
        }
        if !instants.isEmpty { shared[series] = Set(instants) }
        for reason in hindered.values { hindrances.count(reason) }
        return marked
    }

    /// What there is to say of a row that a table has: by the statement's third and fourth column.
    private enum Table { case stands, deleted, repaired, witnesses, placed, placedOrDeleted }

    private mutating func look(_ row: SampleRow, _ table: Table, _ statement: Statement) throws(StoreError) {
        switch table {
        case .witnesses: try noteWitness(row, statement)
        case .stands: try noteTime(row, row.nominal)
        case .repaired: hindered[row.index] = .repaired
        case .deleted: hindered[row.index] = try reason(statement, row.series)
        case .placed: try noteTime(row, statement.integer(2))
        case .placedOrDeleted:
            let start = statement.integer(2)
            let tombstone = try connection.statement(
                "SELECT start, hash, ingest, replaced_by IS NOT NULL, seq FROM deleted WHERE series = ? AND start = ? AND hash = ? AND NOT forgotten"
            )
            defer { tombstone.reset() }
            try tombstone.bind([.integer(row.series), .integer(start), .blob(row.place.hash)])
            guard try tombstone.step() else { return try noteTime(row, start) }
            hindered[row.index] = try reason(tombstone, row.series)
        }
    }

    /// A witness of an undone import is not there where nothing else tells the measurement.
    private mutating func noteWitness(_ row: SampleRow, _ statement: Statement) throws(StoreError) {
        let bringer = statement.integer(2)
        guard try !reader.states.isActive(bringer) else { return }
        let history = try reader.measurement(of: row.place).history
        let isDeleted = history.decisions.contains { $0.isActive && $0.kind == .deleted }
        guard history.live.isEmpty, !isDeleted else {
            if case .withdrawn? = hindered[row.index] { hindered[row.index] = nil }
            return
        }
        hindered[row.index] = .withdrawn(by: try reader.states.changed(bringer))
    }

    private mutating func noteTime(_ row: SampleRow, _ start: Int64) throws(StoreError) {
        guard comparesTimes, !startsWhenAdded, row.start != start else { return }
        let seq = try connection.integer(
            "SELECT seq FROM sample WHERE series = ? AND start = ? AND hash = ?", .integer(row.series), .integer(start),
            .blob(row.place.hash))
        guard let seq else { return }
        if bringer?.series != row.series || bringer?.seqs.contains(seq) != true {
            let change = try connection.statement(
                "SELECT first_seq, last_seq, ingest FROM change WHERE series = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1"
            )
            defer { change.reset() }
            try change.bind([.integer(row.series), .integer(seq)])
            guard try change.step(), change.integer(1) >= seq else { return }
            bringer = (row.series, change.integer(0)...change.integer(1), change.integer(2))
        }
        if let bringer { hindered[row.index] = .elsewhere(broughtBy: bringer.ingest) }
    }

    /// Why a tombstone is there, by what made it: columns 2 to 4 are the ingest that did, whether another sample took the place, and the number.
    private mutating func reason(_ tombstone: Statement, _ series: Int64) throws(StoreError) -> Hindrances.Reason? {
        let ingest = tombstone.integer(2)
        if fates[ingest] == nil {
            let kind = try connection.text("SELECT kind FROM ingest WHERE id = ?", .integer(ingest))
            let isRepair =
                try connection.integer(
                    "SELECT 1 FROM migration WHERE ingest = ? AND state = 'applied'", .integer(ingest)) != nil
            fates[ingest] = (kind.flatMap(IngestKind.init(rawValue:)), isRepair)
        }
        guard let fate = fates[ingest] else { return nil }
        if tombstone.integer(3) != 0 { return fate.isRepair ? .repaired : nil }
        guard fate.kind == .delete || fate.kind == .undo else { return nil }
        let bringer = try reader.bringer(of: tombstone.integer(4), in: series)
        if fate.kind == .delete { return .deleted }
        if try reader.states.isActive(bringer) { return .deleted }
        return .withdrawn(by: try reader.states.changed(bringer))
    }

    private mutating func note(_ instant: Int64) {
        if instants.last != instant { instants.append(instant) }
    }

    private static func same(_ one: SampleRow, _ other: SampleRow) -> Bool {
        one.nominal == other.nominal && one.low == other.low && one.high == other.high
    }

    private mutating func merge(_ rows: [SampleRow], _ series: Int64, _ table: Table, _ sql: String, _ marked: inout [Int32])
        throws(StoreError)
    {
        guard let last = rows.last else { return }
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        var position = 0
        while position < rows.count {
            statement.reset()
            try statement.bind([.integer(series), .integer(rows[position].nominal), .integer(last.nominal)])
            var passed = 0
            var ended = true
            while try statement.step() {
                let time = statement.integer(0)
                let hash = try HashBytes.read(statement.blob(1))
                let key = (time, hash.high, hash.low)
                while position < rows.count, (rows[position].nominal, rows[position].high, rows[position].low) < key {
                    position += 1
                    passed = 0
                }
                if position > 0, rows[position - 1].nominal == time { note(time) }
                guard position < rows.count else { return }
                if rows[position].nominal == time, rows[position].low == hash.low, rows[position].high == hash.high {
                    marked.append(rows[position].index)
                    try look(rows[position], table, statement)
                    position += 1
                    passed = 0
                    // The same row again within the batch is marked already.
                    while position < rows.count, Self.same(rows[position], rows[position - 1]) { position += 1 }
                    guard position < rows.count else { return }
                    if rows[position].nominal == time { note(time) }
                } else {
                    if rows[position].nominal == time { note(time) }
                    passed += 1
                    if passed > Self.patience, rows[position].nominal > time {
                        ended = false
                        break
                    }
                }
            }
            if ended { return }
        }
    }
}
