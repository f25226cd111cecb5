import HealthModel

/// The samples that a deletion or an undo removes or restores in several transactions.
///
/// 1. The samples are listed. Nothing is seen of it.
/// 2. Samples that come back are written, and readers do not see them (``Connection/hidePending()``).
/// 3. One small transaction changes the ledger. From then on readers see all samples that came back, and none that are to go.
/// 4. The samples are settled and leave the list.
///
/// Whoever writes next goes on with 4, or takes 2 back, if the process was killed. Both are the same: the measurements are settled as the ledger is.
struct PendingChanges {
    let connection: Connection

    /// SQL's condition that a row of `sample` is hidden: it is to go and the entry counts, or it came back and the entry does not count yet.
    static func isHidden(_ row: String) -> String {
        """
        EXISTS(SELECT 1 FROM main.pending AS p WHERE p.series = \(row).series AND p.start = \(row).start AND p.hash = \(row).hash
            AND p.comes = (SELECT value < 0 FROM main.setting WHERE name = 'pending'))
        """
    }

    /// The entry of the ledger, negative until it counts; `nil` if nothing is pending.
    func entry() throws(StoreError) -> Int64? {
        try connection.integer("SELECT value FROM main.setting WHERE name = 'pending'")
    }

    func set(_ entry: Int64) throws(StoreError) {
        try connection.run("INSERT OR REPLACE INTO setting VALUES('pending', ?)", .integer(entry))
    }

    func end() throws(StoreError) { try connection.run("DELETE FROM setting WHERE name = 'pending'") }

    /// Lists samples, in one transaction.
    func add(going: [SampleKey], coming: [SampleKey] = []) throws(StoreError) {
        do {
            try connection.transaction {
                for (places, comes) in [(going, 0), (coming, 1)] {
                    for place in places {
                        try connection.run(
                            "INSERT OR IGNORE INTO pending VALUES(?, ?, ?, ?)", .integer(place.series), .integer(place.start),
                            .blob(place.hash), .integer(Int64(comes)))
                    }
                }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.defect, "\(error)")
        }
    }

    /// The next listed samples, in the order of their places.
    func places(after last: SampleKey? = nil, comes: Bool? = nil, limit: Int) throws(StoreError) -> [SampleKey] {
        let statement = try connection.statement(
            """
            SELECT series, start, hash FROM pending WHERE (series, start, hash) > (?1, ?2, ?3) AND (?4 IS NULL OR comes = ?4)
            ORDER BY series, start, hash LIMIT ?5
            """)
        defer { statement.reset() }
        try statement.bind([
            .integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? []),
            .optional(comes.map { $0 ? 1 : 0 }), .integer(Int64(limit)),
        ])
        var places: [SampleKey] = []
        while try statement.step() {
            try places.append(SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)))
        }
        return places
    }

    func remove(_ places: [SampleKey]) throws(StoreError) {
        for place in places {
            try connection.run(
                "DELETE FROM pending WHERE series = ? AND start = ? AND hash = ?", .integer(place.series), .integer(place.start),
                .blob(place.hash))
        }
    }
}

extension SampleStore {
    /// Completes, or takes back, what an earlier process began to delete or undo and did not end; nothing while that process runs.
    public func resumePending() throws {
        let pending = PendingChanges(connection: connection)
        guard try pending.entry() != nil, !IngestLock.isHeld(IngestLock.pending, of: path) else { return }
        let lock = try IngestLock(IngestLock.pending, of: path)
        defer { withExtendedLifetime(lock) {} }
        // Another process may have done it in between.
        if let entry = try pending.entry() { _ = try settlePending(abs(entry), isDone: entry > 0) }
    }

    /// - Throws: ``StoreError`` of the kind `busy` while another process deletes or undoes in several transactions. It has listed the samples.
    func refuseIfPending() throws(StoreError) {
        guard try PendingChanges(connection: connection).entry() != nil else { return }
        throw IngestLock.pendingIsBusy
    }

    /// Completes what was left by a process that was killed, before this store reads.
    func resumePendingBeforeReading() {
        guard (try? PendingChanges(connection: connection).entry()) ?? nil != nil,
            !IngestLock.isHeld(IngestLock.pending, of: path)
        else { return }
        // Where the file cannot be written, readers see it as the ledger is all the same.
        try? SampleStore(path: path, access: .write).resumePending()
    }

    /// Deletes or undoes in several transactions, so that memory and the write-ahead log stay small, and other writers can write in between.
    ///
    /// - Parameters:
    ///   - list: lists the samples.
    ///   - restore: writes samples that come back, some at a time.
    ///   - decide: makes the entry count.
    func changeInSteps(
        _ description: IngestDescription, list: (PendingChanges, Int64) throws -> Void,
        restore: ([SampleKey], Int64, Deletion) throws -> Void = { _, _, _ in },
        decide: (Int64, Deletion) throws -> Void = { _, _ in }
    ) throws -> (ingest: Int64, count: Int) {
        let lock = try IngestLock(IngestLock.pending, of: path)
        defer { withExtendedLifetime(lock) {} }
        let pending = PendingChanges(connection: connection)
        let entry = try connection.transaction {
            try refuseIfPending()
            let entry = try beginIngest(description).id
            try pending.set(-entry)
            return entry
        }
        do {
            try list(pending, entry)
            var last: SampleKey?
            while let end = try step(
                entry,
                { deletion -> SampleKey? in
                    let places = try pending.places(after: last, comes: true, limit: stepRows)
                    try restore(places, entry, deletion)
                    return places.last
                })
            {
                last = end
            }
            try step(entry) { deletion in
                try decide(entry, deletion)
                try pending.set(entry)
            }
        } catch {
            interner.forget()
            // Whoever writes next does it where this fails, too.
            _ = try? settlePending(entry, isDone: false)
            throw error
        }
        return (entry, try settlePending(entry, isDone: true))
    }

    /// Settles all listed samples as the ledger is.
    ///
    /// - Returns: how many samples the entry deleted and restored.
    private func settlePending(_ entry: Int64, isDone: Bool) throws -> Int {
        let pending = PendingChanges(connection: connection)
        let deletes = try isDone && account(of: entry)?.kind == .delete
        while try step(
            entry,
            { deletion -> Bool in
                let places = try pending.places(limit: stepRows)
                if deletes {
                    try deletion.delete(places)
                } else {
                    try Settlement(deletion).settle(listed: places)
                }
                try pending.remove(places)
                return !places.isEmpty
            })
        {}
        return try connection.transaction {
            try connection.run(
                "UPDATE ingest SET finished = received, state = ? WHERE id = ? AND state <> 'undone'",
                .text(isDone ? "done" : "interrupted"), .integer(entry))
            try pending.end()
            let count = try account(of: entry).map { $0.deleted + $0.restored } ?? 0
            // A deletion that found nothing leaves no entry.
            if deletes, count == 0 { try connection.run("DELETE FROM ingest WHERE id = ?", .integer(entry)) }
            return count
        }
    }

    /// One transaction of an entry that has several.
    func step<Result>(_ entry: Int64, _ body: (Deletion) throws -> Result) throws -> Result {
        do {
            return try connection.transaction {
                let deletion = Deletion(connection: connection, ingest: entry)
                let result = try body(deletion)
                try deletion.settleDerived()
                if deletion.deleted + deletion.restored > 0 {
                    try connection.run(
                        "UPDATE ingest SET deleted = deleted + ?, restored = restored + ? WHERE id = ?",
                        .integer(Int64(deletion.deleted)), .integer(Int64(deletion.restored)), .integer(entry))
                }
                return result
            }
        } catch {
            interner.forget()
            throw error
        }
    }
}

extension Connection {
    /// Hides from a reader what ``PendingChanges`` hides, by views of the same names as the tables. Used when a snapshot begins.
    ///
    /// A writer sees the tables as they are. A reader whom something is hidden from anyway has the condition in its own views.
    func hidePending() throws(StoreError) {
        guard !isWritable, !isRestricted else { return }
        let isPending: Bool
        do throws(StoreError) {
            isPending = try PendingChanges(connection: self).entry() != nil
        } catch {
            // A file that is no store is found out later, and so is one of an earlier version.
            return
        }
        guard isPending != hidesPending else { return }
        try execute("PRAGMA query_only = OFF")
        defer { _ = try? execute("PRAGMA query_only = ON") }
        try execute(
            isPending
                ? """
                CREATE TEMP VIEW IF NOT EXISTS sample AS SELECT * FROM main.sample AS row WHERE NOT \(PendingChanges.isHidden("row"));
                CREATE TEMP VIEW IF NOT EXISTS summary AS SELECT * FROM main.summary WHERE 0
                """
                : "DROP VIEW IF EXISTS temp.sample; DROP VIEW IF EXISTS temp.summary")
        hidesPending = isPending
    }

    /// The samples that the change log leads to, those that are hidden among them: a reader of the log sees each change when it is written.
    var loggedSamples: String { isRestricted ? "logged_sample" : "main.sample" }
}
