import HealthModel

/// The result of a pruning or of its dry run.
public struct PruneResult: Hashable, Sendable {
    /// The number of the ledger entry, or 0 if nothing was removed.
    public var ingest: Int64 = 0
    /// The number of removed samples.
    public var samples = 0
    /// The number of removed tombstones.
    public var tombstones = 0
    /// The number of samples and tombstones that are kept until a target has received them.
    public var waiting = 0
    /// The number of samples and tombstones that are kept because an applied repair, which can be undone, created or
    /// replaced them.
    public var repaired = 0
}

/// Retention of samples by type (HealthKit's earliest permitted date).
///
/// Samples that ended before the date of their type are removed permanently, with their tombstones and duplicates. No
/// row remains, and the same reading is refused if it arrives again. A pruning is not a deletion, so export targets
/// keep their data. The change log contains one entry per series. A reader that has not read the removed changes must
/// read everything again (``Epochs``).
extension SampleStore {
    static let prefix = "earliest "

    /// The earliest permitted end of samples, by type.
    public func earliestPermittedDates() throws(StoreError) -> [SampleType: Instant] {
        try Self.earliestPermittedDates(connection)
    }

    static func earliestPermittedDates(_ connection: Connection) throws(StoreError) -> [SampleType: Instant] {
        var dates: [SampleType: Instant] = [:]
        for setting in try connection.settings.values(withPrefix: prefix) {
            guard let type = SampleType(setting.name.dropFirst(prefix.count)), let time = Int64(setting.text) else { continue }
            dates[type] = Instant(microseconds: time)
        }
        return dates
    }

    /// Returns what a pruning would remove.
    ///
    /// - Parameter targets: The names of the targets to wait for, or `nil` for all targets that ever received data.
    public func prunable(_ dates: [SampleType: Instant], waitingFor targets: Set<String>? = nil) throws -> PruneResult {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let untold = try firstUntold(targets)
        var result = PruneResult()
        for series in try allSeries() {
            guard let date = dates[series.type] else { continue }
            for rows in [SampleTable.Rows.live, .tombstones] {
                let found = try count(Ended(rows, of: series.id, before: date, untold: untold))
                if rows == .live { result.samples += found.removable } else { result.tombstones += found.removable }
                result.waiting += found.waiting
                result.repaired += found.repaired
            }
        }
        return result
    }

    /// Sets the dates and removes the samples that ended before them. A date is set back to an earlier one only if it lies in the future,
    /// because the clock was wrong when it was set.
    ///
    /// - Parameters:
    ///   - byAge: Whether the dates were computed from the present time, so that nothing is removed if that is doubtful
    ///     (``pruningDoubt(_:at:isConfirmed:waitingFor:)``).
    ///   - isConfirmed: Whether a person has confirmed the dates.
    ///   - targets: The names of the targets to wait for, or `nil` for all targets that ever received data.
    ///   - description: The ledger entry, of the kind `prune`.
    public func prune(
        _ dates: [SampleType: Instant], byAge: Bool = false, isConfirmed: Bool = false, waitingFor targets: Set<String>? = nil,
        description: IngestDescription
    ) throws -> PruneResult {
        let now = Instant(microseconds: description.received)
        if byAge, let doubt = try pruningDoubt(dates, at: now, isConfirmed: isConfirmed, waitingFor: targets) {
            throw StoreError(.invalid, "nothing was removed: \(doubt)")
        }
        return try withReserve { try pruneInSteps(dates, waitingFor: targets, description) }
    }

    private func pruneInSteps(
        _ dates: [SampleType: Instant], waitingFor targets: Set<String>?, _ description: IngestDescription
    ) throws -> PruneResult {
        try resumePending()
        let would = try prunable(dates, waitingFor: targets)
        guard would.samples + would.tombstones > 0 else {
            try connection.transaction { try setEarliest(dates, now: description.received) }
            return would
        }
        var sum = PruneResult(waiting: would.waiting, repaired: would.repaired)
        var walk = PruningWalk(parts: try allSeries().filter { dates[$0.type] != nil })
        connection.writerPause.begin()
        do {
            while !walk.isDone {
                sum = try connection.partialTransaction {
                    try refuseIfPending()
                    var sum = sum
                    if sum.ingest == 0 {
                        // Set the dates together with the first removal, so that a pruning that fails refuses no
                        // readings.
                        try setEarliest(dates, now: description.received)
                        sum.ingest = try beginIngest(description).id
                    }
                    let part = try remove(dates, by: sum.ingest, untold: try firstUntold(targets), &walk)
                    sum.samples += part.samples
                    sum.tombstones += part.tombstones
                    try connection.ledger.finish(
                        sum.ingest, at: description.received, state: walk.isDone ? "done" : "interrupted", deleted: sum.samples)
                    return sum
                }
            }
        } catch {
            interner.forget()
            throw error
        }
        return sum
    }

    private func setEarliest(_ dates: [SampleType: Instant], now: Int64) throws(StoreError) {
        for (type, date) in dates {
            let name = Self.prefix + type.id
            if let set = try connection.settings.integer(name), set > max(now, date.microseconds) {
                try connection.settings.set(name, to: .integer(date.microseconds))
            }
            try connection.settings.raise(name, to: date.microseconds)
        }
    }

    /// The number of the last change that every target has received, or `Int64.max` if no target is waited for.
    func firstUntold(_ names: Set<String>?) throws(StoreError) -> Int64 {
        var number = Int64.max
        for target in try targets.all() where names?.contains(target.name) ?? true {
            number = min(number, target.anchor.seq)
            if let backlog = target.backlog, backlog.anchor.seq < backlog.end { number = min(number, backlog.anchor.seq) }
        }
        return number
    }

    // MARK: Rows

    /// The progress of a pruning.
    private struct PruningWalk {
        /// The series to prune.
        var parts: [SeriesDescription]
        var index = 0
        var rows = SampleTable.Rows.live
        /// The start of the last row that was removed.
        var start = Int64.min
        var isDone: Bool { index == parts.count }

        /// Whether live rows of a series are left for the next step.
        func isAmid(_ series: Int64) -> Bool { !isDone && rows == .live && parts[index].id == series }

        mutating func advance() {
            if rows == .tombstones { index += 1 }
            rows = rows == .live ? .tombstones : .live
            start = .min
        }
    }

    private func remove(
        _ dates: [SampleType: Instant], by ingest: Int64, untold: Int64, _ walk: inout PruningWalk
    ) throws -> PruneResult {
        var result = PruneResult()
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS pruned(
                series INTEGER, start INTEGER, hash BLOB, nominal INTEGER, number INTEGER, live INTEGER, counts INTEGER,
                PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
            DELETE FROM pruned
            """)
        while !walk.isDone {
            let left = stepRows - result.samples - result.tombstones
            guard left > 0 else { break }
            let series = walk.parts[walk.index]
            guard let date = dates[series.type] else {
                walk.advance()
                continue
            }
            let ended = Ended(walk.rows, of: series.id, from: walk.start, before: date, untold: untold)
            let marked = try mark(ended, isLive: walk.rows == .live, limit: left)
            if walk.rows == .live { result.samples += marked } else { result.tombstones += marked }
            guard marked == left else {
                walk.advance()
                continue
            }
            // The step may contain both live rows and tombstones of the series.
            let isLive = Value.integer(walk.rows == .live ? 1 : 0)
            walk.start =
                try connection.integer(
                    "SELECT max(start) FROM pruned WHERE series = ? AND live = ?", .integer(series.id), isLive) ?? walk.start
        }
        guard result.samples + result.tombstones > 0 else { return result }
        try announce(dates, isWaiting: untold < .max, walk, by: ingest)
        try removeMarked(by: ingest)
        return result
    }

    /// The rows of a series that ended before a date.
    struct Ended {
        let number: String
        let rows: String
        let bindings: [Value]

        init(
            _ rows: SampleTable.Rows, of series: Int64, from start: Int64 = .min, before date: Instant, untold: Int64
        ) {
            number = rows == .live ? "seq" : "deleted_seq"
            self.rows = """
                FROM \(rows.rawValue) AS row WHERE series = ?1 AND start < ?2 AND start + coalesce(duration, 0) < ?2 AND start >= ?4
                """
            bindings = [
                .integer(series), .integer(date.microseconds), .integer(untold), .integer(start),
            ]
        }
    }

    func count(_ ended: Ended) throws(StoreError) -> (removable: Int, waiting: Int, repaired: Int) {
        try connection.first(
            """
            SELECT count(*) FILTER (WHERE \(ended.number) > ?3),
                count(*) FILTER (WHERE \(ended.number) <= ?3 AND \(RepairTable.isRepaired)), count(*) \(ended.rows)
            """, ended.bindings
        ) { row in
            let (waiting, repaired) = (Int(row.integer(0)), Int(row.integer(1)))
            return (Int(row.integer(2)) - waiting - repaired, waiting, repaired)
        } ?? (0, 0, 0)
    }

    private func mark(_ ended: Ended, isLive: Bool, limit: Int) throws(StoreError) -> Int {
        try connection.run(
            """
            INSERT OR IGNORE INTO pruned SELECT series, start, hash,
                start + \(SeriesTable.skew(of: "row.context")), \(ended.number), \(isLive ? 1 : 0),
                \(isLive ? "1" : "NOT forgotten")
            \(ended.rows) AND \(ended.number) <= ?3 AND NOT \(RepairTable.isRepaired) ORDER BY start LIMIT ?5
            """, ended.bindings + [.integer(Int64(max(0, limit)))])
        return connection.changes
    }

    /// Writes one change log entry per series, and the number that a reader must have reached.
    private func announce(
        _ dates: [SampleType: Instant], isWaiting: Bool, _ walk: PruningWalk, by ingest: Int64
    ) throws(StoreError) {
        let table = connection.samples
        var number = try table.lastNumber()
        let log = ChangeLog(connection: connection, cause: ingest)
        for series in try allSeries() {
            guard let date = dates[series.type], let bounds = try connection.samples.prunedBounds(of: series.id) else { continue }
            try connection.summaries.forget(series: series.id, from: bounds.low, to: date.microseconds)
            // Rows that are left for the next step, or for a target, are named one by one if they are within the bounds.
            let before = isWaiting || walk.isAmid(series.id) ? bounds.high + 1 : date.microseconds
            number += 1
            try log.insertPruning(series: series.id, seq: number, low: bounds.low, before: before, ingest: ingest)
        }
        let last = try connection.integer("SELECT max(number) FROM pruned") ?? 0
        try connection.settings.raise("pruned", to: last)
        try Restriction.noteLost(connection, namedThrough: number)
        try table.setLast(number: number)
    }

    private func removeMarked(by ingest: Int64) throws(StoreError) {
        // The lower versions of a removed record do not come forward.
        try Deletion(connection: connection, ingest: ingest).decide(.deleted, try connection.records.replacedByPruned())
        let counted = try connection.integer("SELECT count(*) FROM pruned WHERE counts") ?? 0
        try connection.samples.removePruned()
        try connection.records.removePruned()
        // A decision is about the measurement.
        for (form, origin) in try connection.repairs.prunedForms() { try connection.decisions.move(from: form, to: origin) }
        try connection.decisions.removePruned()
        try connection.derived.removePruned()
        try connection.duplicates.removePruned()
        try connection.repairs.removePruned()
        try connection.grants.removePruned()
        // A phone keeps what it has.
        try connection.writeBack.removePruned()
        // Count the removed rows as forgotten, so that the ledger's sums stay correct.
        try connection.settings.add(counted, to: "forgotten")
    }
}
