import HealthModel

/// Finds the rows of a batch that the store already has, live or deleted.
///
/// Both the batch and the store are sorted by nominal time, so they are merged. If both are dense, one scan is enough.
/// If the store has many more rows, there is one seek per row of the batch.
struct ExistingSamples {
    let connection: Connection
    /// The reasons why existing readings are not visible as imported.
    private(set) var duplicateReport = DuplicateReport()
    /// Readings of undone imports that the batch has at another instant, by the entry that stored them. A file of local times was
    /// imported in the wrong zone, the import was undone, and now it is imported in another zone. The batch's readings are stored.
    private(set) var moved: [Int64: [SampleKey]] = [:]
    /// The repaired samples of readings that arrive as the repair made them, by row index.
    private(set) var forms: [Int32: SampleKey] = [:]
    private let comparesTimes: Bool
    /// Whether the current series has records that start when they were exported, so that each export has another
    /// start.
    private var startsWhenAdded = false
    /// The kinds of the ledger entries that made tombstones.
    private var deletionKinds: [Int64: (kind: IngestKind?, isRepair: Bool)] = [:]
    private let reader: MeasurementReader
    /// The import of the samples in a range of change numbers of a series.
    private var ingestID: (series: Int64, seqs: ClosedRange<Int64>, ingest: Int64)?
    /// The reasons found for rows of the current series, by row index.
    private var reasons: [Int32: DuplicateReport.Reason] = [:]
    /// The nominal times, by series, at which the store or the batch has another reading.
    private(set) var shared: [Int64: Set<Int64>] = [:]
    /// The shared nominal times of the current series. Some occur more than once.
    private var instants: [Int64] = []

    init(connection: Connection, comparesTimes: Bool) {
        self.connection = connection
        reader = MeasurementReader(connection: connection)
        self.comparesTimes = comparesTimes
    }

    /// The number of rows that the scan skips one by one before it seeks to the next row of the batch.
    private static let rowsBeforeSeek = 48

    /// Sorts the rows by nominal time and hash. Returns the indices of rows that the store already has or that occur
    /// twice in the batch.
    ///
    /// - Parameter startsWhenAdded: Whether an existing row may have a different start.
    mutating func mark(
        _ rows: inout [SampleRow], of series: Int64, startsWhenAdded: Bool = false
    ) throws(StoreError) -> [Int32] {
        self.startsWhenAdded = startsWhenAdded
        // Equal rows stay in the order of arrival.
        rows.sortIfNeeded { ($0.nominal, $0.high, $0.low, $0.index) < ($1.nominal, $1.high, $1.low, $1.index) }
        var marked: [Int32] = []
        instants.removeAll(keepingCapacity: true)
        reasons.removeAll(keepingCapacity: true)
        for index in rows.indices.dropFirst() where rows[index].nominal == rows[index - 1].nominal {
            if Self.same(rows[index], rows[index - 1]) {
                marked.append(rows[index].index)
            } else if rows[index].context != rows[index - 1].context {
                note(rows[index].nominal)
            }
        }
        // Without a skew, the nominal time equals the start of the stored sample.
        let (samples, duplicates) = (connection.samples, connection.duplicates)
        try merge(rows, series, .stands, try samples.known(), &marked)
        let hasDeleted = try samples.contains(.tombstones, of: series)
        if hasDeleted {
            try merge(rows, series, .deleted, try samples.knownDeleted(), &marked)
        }
        if try connection.repairs.hasAliases(series: series) {
            // The repaired sample of this reading exists.
            try merge(rows, series, .repaired, try connection.repairs.knownAliases(), &marked)
        }
        if try samples.hasSkewed(series) {
            try merge(rows, series, hasDeleted ? .placedOrDeleted : .placed, try samples.knownElsewhere(), &marked)
        }
        // Check duplicates after tombstones, because a row of an undone import is only missing if no other report of it
        // remains.
        if try duplicates.contains(series: series) {
            try merge(rows, series, .duplicates, try duplicates.known(), &marked)
        }
        if !instants.isEmpty { shared[series] = Set(instants) }
        for reason in reasons.values { duplicateReport.count(reason) }
        return marked
    }

    /// The kind of an existing row.
    private enum Table { case stands, deleted, repaired, duplicates, placed, placedOrDeleted }

    /// Notes why an existing reading is not visible as imported.
    ///
    /// - Returns: Whether the row is a duplicate of it.
    private mutating func look(_ row: SampleRow, _ table: Table, _ known: KnownReadings) throws(StoreError) -> Bool {
        switch table {
        case .duplicates: if let ingestID = known.ingestID { try noteWithdrawnDuplicate(row, ingestedBy: ingestID) }
        case .stands: try noteTime(row, row.nominal)
        case .repaired:
            reasons[row.index] = .repaired
            forms[row.index] = try known.form(in: row.series)
        case .deleted:
            guard let tombstone = known.tombstone else { break }
            return try note(tombstone, at: row.nominal, of: row)
        case .placed: try noteTime(row, known.start)
        case .placedOrDeleted:
            let key = SampleKey(series: row.series, start: known.start, high: row.high, low: row.low)
            guard let tombstone = try connection.samples.tombstone(at: key) else {
                try noteTime(row, known.start)
                break
            }
            return try note(tombstone, at: known.start, of: row)
        }
        return true
    }

    /// Notes a tombstone of a row's reading.
    ///
    /// - Returns: Whether the row is a duplicate of it.
    private mutating func note(
        _ tombstone: SampleTable.Tombstone, at start: Int64, of row: SampleRow
    ) throws(StoreError) -> Bool {
        let reason = try reason(tombstone, row.series)
        if case .withdrawn? = reason, comparesTimes, !startsWhenAdded, row.start != start {
            let entry = try reader.ingestID(of: tombstone.number, in: row.series)
            moved[entry, default: []].append(SampleKey(series: row.series, start: start, high: row.high, low: row.low))
            return false
        }
        reasons[row.index] = reason
        return true
    }

    /// Notes a duplicate whose import is undone as missing, unless another live or deleted report of the measurement
    /// exists.
    private mutating func noteWithdrawnDuplicate(_ row: SampleRow, ingestedBy ingestID: Int64) throws(StoreError) {
        guard try !reader.states.isActive(ingestID) else { return }
        let history = try reader.measurement(of: row.key).history
        guard history.live.isEmpty, history.state(of: row.key) == .withdrawn else {
            if case .withdrawn? = reasons[row.index] { reasons[row.index] = nil }
            return
        }
        reasons[row.index] = .withdrawn(by: try reader.states.changed(ingestID))
    }

    private mutating func noteTime(_ row: SampleRow, _ start: Int64) throws(StoreError) {
        guard comparesTimes, !startsWhenAdded, row.start != start else { return }
        let key = SampleKey(series: row.series, start: start, high: row.high, low: row.low)
        guard let (seq, isLive) = try connection.samples.number(at: key), isLive else { return }
        if ingestID?.series != row.series || ingestID?.seqs.contains(seq) != true {
            guard let change = try connection.changeTable.entry(of: seq, series: row.series) else { return }
            ingestID = (row.series, change.seqs, change.ingest)
        }
        if let ingestID { reasons[row.index] = .elsewhere(ingestedBy: ingestID.ingest) }
    }

    /// The reason for a tombstone.
    private mutating func reason(
        _ tombstone: SampleTable.Tombstone, _ series: Int64
    ) throws(StoreError) -> DuplicateReport.Reason? {
        let ingest = tombstone.ingest
        if deletionKinds[ingest] == nil {
            let kind = try connection.ledger.kind(of: ingest)
            let isRepair = try connection.repairs.isApplied(by: ingest)
            deletionKinds[ingest] = (kind, isRepair)
        }
        guard let deletion = deletionKinds[ingest] else { return nil }
        if tombstone.replacedBy != nil { return deletion.isRepair ? .repaired : nil }
        guard deletion.kind == .delete || deletion.kind == .undo else { return nil }
        let ingestID = try reader.ingestID(of: tombstone.number, in: series)
        if deletion.kind == .delete { return .deleted }
        if try reader.states.isActive(ingestID) { return .deleted }
        return .withdrawn(by: try reader.states.changed(ingestID))
    }

    private mutating func note(_ instant: Int64) {
        if instants.last != instant { instants.append(instant) }
    }

    private static func same(_ one: SampleRow, _ other: SampleRow) -> Bool {
        one.nominal == other.nominal && one.low == other.low && one.high == other.high
    }

    private mutating func merge(
        _ rows: [SampleRow], _ series: Int64, _ table: Table, _ known: KnownReadings, _ marked: inout [Int32]
    ) throws(StoreError) {
        guard let last = rows.last else { return }
        var position = 0
        while position < rows.count {
            try known.seek(series, from: rows[position].nominal, through: last.nominal)
            var passed = 0
            var ended = true
            while try known.next() {
                let time = known.nominal
                let hash = try known.hash
                let key = (time, hash.high, hash.low)
                while position < rows.count, (rows[position].nominal, rows[position].high, rows[position].low) < key {
                    position += 1
                    passed = 0
                }
                if position > 0, rows[position - 1].nominal == time { note(time) }
                guard position < rows.count else { return }
                if rows[position].nominal == time, rows[position].low == hash.low, rows[position].high == hash.high {
                    if try look(rows[position], table, known) { marked.append(rows[position].index) }
                    position += 1
                    passed = 0
                    // Equal rows later in the batch are already marked.
                    while position < rows.count, Self.same(rows[position], rows[position - 1]) { position += 1 }
                    guard position < rows.count else { return }
                    if rows[position].nominal == time { note(time) }
                } else {
                    if rows[position].nominal == time { note(time) }
                    passed += 1
                    if passed > Self.rowsBeforeSeek, rows[position].nominal > time {
                        ended = false
                        break
                    }
                }
            }
            if ended { return }
        }
    }
}
