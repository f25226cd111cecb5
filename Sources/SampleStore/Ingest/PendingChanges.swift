import HealthModel

/// The samples that a deletion or an undo removes or restores in several transactions.
///
/// 1. The samples are listed. Readers see no change.
/// 2. Restored samples are written, but hidden from readers (``Connection/hidePending()``).
/// 3. One small transaction changes the ledger. From then on, readers see all restored samples and no removed ones.
/// 4. The samples are updated to match the ledger and leave the list.
///
/// If the process is killed, the next writer completes step 4 or reverts step 2. Both work the same way: the
/// measurements are updated to match the ledger.
struct PendingChanges {
    let connection: Connection

    /// The SQL condition that a row of `sample` is hidden. A row to be removed is hidden once the entry is effective,
    /// and a restored row until then.
    static func isHidden(_ row: String) -> String {
        """
        EXISTS(SELECT 1 FROM main.pending AS p WHERE p.series = \(row).series AND p.start = \(row).start AND p.hash = \(row).hash
            AND p.comes = (\(SettingTable.value("pending")) < 0))
        """
    }

    /// The number of the ledger entry, negative until it is effective, or `nil` if nothing is pending.
    func entry() throws(StoreError) -> Int64? {
        try connection.settings.integer("pending")
    }

    func set(_ entry: Int64) throws(StoreError) {
        try connection.settings.set("pending", to: .integer(entry))
    }

    func end() throws(StoreError) { try connection.settings.remove("pending") }

    /// Lists samples in one transaction.
    func add(going: [SampleKey], coming: [SampleKey] = []) throws(StoreError) {
        do {
            try connection.partialTransaction {
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

    /// The next listed samples, sorted by place.
    func places(after last: SampleKey? = nil, comes: Bool? = nil, limit: Int) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT series, start, hash FROM pending WHERE (series, start, hash) > (?1, ?2, ?3) AND (?4 IS NULL OR comes = ?4)
            ORDER BY series, start, hash LIMIT ?5
            """,
            [
                .integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? []),
                .optional(comes.map { $0 ? 1 : 0 }), .integer(Int64(limit)),
            ])
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
    /// Completes or reverts a deletion or undo that an earlier process did not finish. Does nothing while that process
    /// is running.
    public func resumePending() throws {
        let pending = PendingChanges(connection: connection)
        guard try pending.entry() != nil, !IngestLock.isHeld(IngestLock.pending, of: path) else { return }
        let lock = try IngestLock(IngestLock.pending, of: path)
        defer { withExtendedLifetime(lock) {} }
        connection.writerPause.begin()
        // Another process may have finished it in the meantime.
        if let entry = try pending.entry() { _ = try settlePending(abs(entry), isDone: entry > 0) }
    }

    /// Throws an error while another process, which has listed its samples, deletes or undoes in several transactions.
    ///
    /// - Throws: ``StoreError`` of the kind `busy`.
    func refuseIfPending() throws(StoreError) {
        guard try PendingChanges(connection: connection).entry() != nil else { return }
        throw IngestLock.pendingIsBusy
    }

    /// Completes the changes of a killed process before this store reads.
    func resumePendingBeforeReading() {
        guard (try? PendingChanges(connection: connection).entry()) ?? nil != nil,
            !IngestLock.isHeld(IngestLock.pending, of: path)
        else { return }
        // If the file is not writable, the views still show readers a state that matches the ledger.
        try? SampleStore(path: path, access: .write).resumePending()
    }

    /// Deletes or undoes in several transactions, so that memory and the write-ahead log stay small and other writers
    /// can write in between.
    ///
    /// - Parameters:
    ///   - list: Lists the samples.
    ///   - restore: Writes restored samples in parts.
    ///   - decide: Makes the entry effective.
    ///   - finish: Called after all listed samples match the ledger, before another change of this kind may begin.
    func changeInSteps(
        _ description: IngestDescription, list: (PendingChanges, Int64) throws -> Void,
        restore: ([SampleKey], Int64, Deletion) throws -> Void = { _, _, _ in },
        decide: (Int64, Deletion) throws -> Void = { _, _ in }, finish: (Int64) throws -> Void = { _ in }
    ) throws -> (ingest: Int64, count: Int) {
        let lock = try IngestLock(IngestLock.pending, of: path)
        defer { withExtendedLifetime(lock) {} }
        let pending = PendingChanges(connection: connection)
        connection.writerPause.begin()
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
            // If this fails, the next writer does it.
            _ = try? settlePending(entry, isDone: false)
            throw error
        }
        return (entry, try settlePending(entry, isDone: true, finish: finish))
    }

    /// Updates all listed samples to match the ledger.
    ///
    /// - Returns: The number of samples that the entry deleted and restored.
    private func settlePending(
        _ entry: Int64, isDone: Bool, finish: (Int64) throws -> Void = { _ in }
    ) throws -> Int {
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
        try finish(entry)
        return try connection.transaction {
            try connection.ledger.finishUnlessUndone(entry, state: isDone ? "done" : "interrupted")
            try pending.end()
            let count = try account(of: entry).map { $0.deleted + $0.restored } ?? 0
            // A deletion that found nothing leaves no entry.
            if deletes, count == 0 { try connection.ledger.remove(entry) }
            return count
        }
    }

    /// Runs one of several transactions of a ledger entry.
    func step<Result>(_ entry: Int64, _ body: (Deletion) throws -> Result) throws -> Result {
        do {
            return try connection.partialTransaction {
                let deletion = Deletion(connection: connection, ingest: entry)
                let result = try body(deletion)
                try deletion.settleDerived()
                if deletion.deleted + deletion.restored > 0 {
                    try connection.ledger.add(deleted: deletion.deleted, restored: deletion.restored, to: entry)
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
    /// Hides the rows that ``PendingChanges`` hides from a reader, with views of the same names as the tables. Used
    /// when a snapshot begins.
    ///
    /// A writer sees the tables unchanged. The views of a restricted reader already contain the condition.
    func hidePending() throws(StoreError) {
        guard !isWritable, !isRestricted else { return }
        let isPending: Bool
        do throws(StoreError) {
            isPending = try PendingChanges(connection: self).entry() != nil
        } catch {
            // Files that are not stores are detected later.
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

    /// The samples to which the change log refers, including hidden ones. A reader of the log sees each change when it
    /// is written.
    var loggedSamples: String { isRestricted ? "logged_sample" : "main.sample" }
}
