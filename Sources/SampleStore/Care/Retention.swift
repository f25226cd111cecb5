import HealthModel

/// What a pruning did, or would do.
public struct PruneResult: Hashable, Sendable {
    /// Its number in the ledger; 0 where nothing was removed.
    public var ingest: Int64 = 0
    /// Samples that are gone.
    public var samples = 0
    /// Tombstones that are gone.
    public var tombstones = 0
    /// Samples and tombstones that stay until a target has been told of them.
    public var waiting = 0
    /// Samples and tombstones that stay since a repair that can be undone made them, or something of them.
    public var repaired = 0
}

/// How long samples stay (HealthKit's earliest permitted date, by type).
///
/// What ended before the date of its type is removed for good, with its tombstones and witnesses: no row of it is left, and the same reading arriving
/// again is refused. That is no deletion: other stores keep what they have. Whoever reads the change log hears of it once a series; a reader who has
/// not read what is gone is told to read everything again (``Epochs``).
extension SampleStore {
    private static let prefix = "earliest "
    /// Rows that are removed in one transaction.
    private static let slice = 20_000

    /// The dates before which nothing may end, by type.
    public func earliestPermittedDates() throws(StoreError) -> [SampleType: Instant] {
        try Self.earliestPermittedDates(connection)
    }

    static func earliestPermittedDates(_ connection: Connection) throws(StoreError) -> [SampleType: Instant] {
        let rows = try connection.statement("SELECT name, value FROM setting WHERE name > '\(prefix)' AND name < 'earliest!'")
        defer { rows.reset() }
        var dates: [SampleType: Instant] = [:]
        while try rows.step() {
            guard let type = SampleType(rows.text(0).dropFirst(prefix.count)) else { continue }
            dates[type] = Instant(microseconds: rows.integer(1))
        }
        return dates
    }

    /// What a pruning would remove.
    ///
    /// - Parameter targets: those that are waited for, by name; `nil` for all that were ever delivered to.
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

    /// Sets the dates, never to an earlier one, and removes what ended before them.
    ///
    /// - Parameters:
    ///   - targets: those that are waited for, by name; `nil` for all that were ever delivered to.
    ///   - description: of the kind `prune`.
    public func prune(
        _ dates: [SampleType: Instant], waitingFor targets: Set<String>? = nil, description: IngestDescription
    ) throws -> PruneResult {
        try connection.transaction {
            for (type, date) in dates {
                try connection.run(
                    "INSERT INTO setting VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET value = max(value, ?2)",
                    .text(Self.prefix + type.id), .integer(date.microseconds))
            }
        }
        let would = try prunable(dates, waitingFor: targets)
        guard would.samples + would.tombstones > 0 else { return would }
        let ingest = try beginIngest(description)
        var sum = PruneResult(ingest: ingest.id, waiting: would.waiting, repaired: would.repaired)
        while true {
            let part = try connection.transaction {
                try remove(dates, by: ingest.id, untold: try firstUntold(targets), slice: Self.slice)
            }
            sum.samples += part.samples
            sum.tombstones += part.tombstones
            if part.samples + part.tombstones < Self.slice { break }
        }
        try connection.run("UPDATE ingest SET deleted = ? WHERE id = ?", .integer(Int64(sum.samples)), .integer(ingest.id))
        _ = try ingest.finish(at: description.received)
        return sum
    }

    /// The number behind which some target still has to be told; nothing where none waits.
    private func firstUntold(_ names: Set<String>?) throws(StoreError) -> Int64 {
        var number = Int64.max
        for target in try targets() where names?.contains(target.name) ?? true {
            number = min(number, target.anchor.seq)
            if let backlog = target.backlog, backlog.anchor.seq < backlog.end { number = min(number, backlog.anchor.seq) }
        }
        return number
    }

    // MARK: Rows

    private func remove(_ dates: [SampleType: Instant], by ingest: Int64, untold: Int64, slice: Int) throws -> PruneResult {
        var result = PruneResult()
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS pruned(
                series INTEGER, start INTEGER, hash BLOB, nominal INTEGER, number INTEGER, live INTEGER, counts INTEGER,
                PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
            DELETE FROM pruned
            """)
        for series in try allSeries() {
            guard let date = dates[series.type] else { continue }
            for rows in [SampleTable.Rows.live, .tombstones] {
                let left = slice - result.samples - result.tombstones
                let marked = try mark(
                    Ended(rows, of: series.id, before: date, untold: untold), isLive: rows == .live, limit: left)
                if rows == .live { result.samples += marked } else { result.tombstones += marked }
            }
        }
        guard result.samples + result.tombstones > 0 else { return result }
        try announce(dates, by: ingest)
        try removeMarked()
        return result
    }

    /// What of a series ended before a date.
    private struct Ended {
        let number: String
        let rows: String
        let bindings: [Value]
        static let isRepaired = """
            ((series, start, hash) IN (SELECT series, start, hash FROM repaired)
                OR (series, start, hash) IN (SELECT old_series, old_start, old_hash FROM repaired))
            """

        init(_ rows: SampleTable.Rows, of series: Int64, before date: Instant, untold: Int64) {
            number = rows == .live ? "seq" : "deleted_seq"
            self.rows = "FROM \(rows.rawValue) AS row WHERE series = ?1 AND start < ?2 AND start + coalesce(duration, 0) < ?2"
            bindings = [.integer(series), .integer(date.microseconds), .integer(untold)]
        }
    }

    private func count(_ ended: Ended) throws(StoreError) -> (removable: Int, waiting: Int, repaired: Int) {
        let statement = try connection.statement(
            """
            SELECT count(*) FILTER (WHERE \(ended.number) > ?3),
                count(*) FILTER (WHERE \(ended.number) <= ?3 AND \(Ended.isRepaired)), count(*) \(ended.rows)
            """)
        defer { statement.reset() }
        try statement.bind(ended.bindings)
        guard try statement.step() else { return (0, 0, 0) }
        let (waiting, repaired) = (Int(statement.integer(0)), Int(statement.integer(1)))
        return (Int(statement.integer(2)) - waiting - repaired, waiting, repaired)
    }

    private func mark(_ ended: Ended, isLive: Bool, limit: Int) throws(StoreError) -> Int {
        let statement = try connection.statement(
            """
            INSERT OR IGNORE INTO pruned SELECT series, start, hash,
                start + (SELECT skew FROM context WHERE context.id = row.context), \(ended.number), \(isLive ? 1 : 0),
                \(isLive ? "1" : "NOT forgotten")
            \(ended.rows) AND \(ended.number) <= ?3 AND NOT \(Ended.isRepaired) ORDER BY start LIMIT ?4
            """)
        defer { statement.reset() }
        try statement.bind(ended.bindings + [.integer(Int64(max(0, limit)))])
        _ = try statement.step()
        return connection.changes
    }

    /// One entry of the change log for each series, and the number that a reader must have come to by then.
    private func announce(_ dates: [SampleType: Instant], by ingest: Int64) throws(StoreError) {
        let table = SampleTable(connection: connection)
        var number = try table.lastNumber()
        let log = ChangeLog(connection: connection, cause: ingest)
        for series in try allSeries() {
            guard let date = dates[series.type],
                let low = try connection.integer(
                    "SELECT min(start) FROM pruned WHERE series = ? AND live HAVING count(*) > 0", .integer(series.id))
            else { continue }
            number += 1
            try log.insertPruning(series: series.id, seq: number, low: low, before: date.microseconds, ingest: ingest)
        }
        let last = try connection.integer("SELECT max(number) FROM pruned") ?? 0
        try connection.run(
            "INSERT INTO setting VALUES('pruned', ?1) ON CONFLICT(name) DO UPDATE SET value = max(value, ?1)", .integer(last))
        try Restriction.noteLost(connection)
        try table.setLast(number: number)
    }

    private func removeMarked() throws(StoreError) {
        let marked = "(SELECT series, start, hash FROM pruned)"
        let counted = try connection.integer("SELECT count(*) FROM pruned WHERE counts") ?? 0
        try SampleTable(connection: connection).removePruned()
        for statement in [
            "DELETE FROM \(Records.byPlace) WHERE (series, start, hash) IN \(marked)",
            "DELETE FROM decided WHERE (series, start, hash) IN \(marked)",
            "DELETE FROM derived WHERE (series, start, hash) IN \(marked)",
            "DELETE FROM granted_object WHERE (series, start, hash) IN \(marked)",
            "DELETE FROM link WHERE (series, start, hash) IN \(marked) OR (of_series, of_start, of_hash) IN \(marked)",
            """
            DELETE FROM witness_row WHERE (series, start, hash) IN (SELECT series, start, hash FROM witness
                WHERE (series, start, hash) IN \(marked) OR (of_series, of_start, of_hash) IN \(marked))
            """,
        ] { try connection.run(statement) }
        // For the ledger's sums, as what is forgotten.
        try connection.run(
            "INSERT INTO setting VALUES('forgotten', ?) ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
            .integer(counted))
    }
}
