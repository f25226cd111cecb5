import HealthModel

extension SampleStore {
    /// Completes or reverts a deletion or undo that an earlier process did not finish. Does nothing while that process
    /// is running.
    public func resumePending() throws {
        let pending = PendingChanges(connection: connection)
        guard try pending.entry() != nil, !IngestLock.isLocked(IngestLock.pending, of: path) else { return }
        let lock = try IngestLock(IngestLock.pending, of: path)
        defer { withExtendedLifetime(lock) {} }
        connection.writerPause.begin()
        // Another process may have finished it in the meantime.
        if let entry = try pending.entry() { _ = try updatePending(abs(entry), isDone: entry > 0) }
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
            !IngestLock.isLocked(IngestLock.pending, of: path)
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
                    let keys = try pending.keys(after: last, isRestored: true, limit: stepRows)
                    try restore(keys, entry, deletion)
                    return keys.last
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
            _ = try? updatePending(entry, isDone: false)
            throw error
        }
        return (entry, try updatePending(entry, isDone: true, finish: finish))
    }

    /// Updates all listed samples to match the ledger.
    ///
    /// - Returns: The number of samples that the entry deleted and restored.
    private func updatePending(
        _ entry: Int64, isDone: Bool, finish: (Int64) throws -> Void = { _ in }
    ) throws -> Int {
        let pending = PendingChanges(connection: connection)
        let deletes = try isDone && ledger.account(of: entry)?.kind == .delete
        while try step(
            entry,
            { deletion -> Bool in
                let keys = try pending.keys(limit: stepRows)
                if deletes {
                    try deletion.delete(keys)
                } else {
                    try LiveSampleUpdate(deletion).update(listed: keys)
                }
                try pending.remove(keys)
                return !keys.isEmpty
            })
        {}
        try finish(entry)
        return try connection.transaction {
            try connection.ledger.finishUnlessUndone(entry, state: isDone ? "done" : "interrupted")
            try pending.end()
            let count = try ledger.account(of: entry).map { $0.deleted + $0.restored } ?? 0
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
                try deletion.updateDerived()
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
