import HealthModel

extension SampleStore {
    /// Undoes an entry of the ledger: what it reported and decided counts no more. Undoing the undoing makes it count again.
    ///
    /// - Parameter forget: leave no tombstones, so that the same file can be imported anew; also after an undoing that left them.
    @discardableResult
    public func undo(_ undone: Int64, forget: Bool, description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        guard let account = try account(of: undone) else { throw StoreError(.invalid, "there is no ingest \(undone)") }
        guard account.kind != .prune, account.kind != .erase else {
            throw StoreError(.invalid, "ingest \(undone) removed samples for good: nothing is left of them that could come back")
        }
        try refuseIfRunning(account)
        if let result = try undoRepair(account, forget: forget, description: description) { return result }
        return try change(description) { ingest, deletion in
            // It may have begun to run again, as the hub's of today.
            if let account = try self.account(of: undone) { try refuseIfRunning(account) }
            let isUndone = try self.account(of: undone)?.state == "undone"
            guard !isUndone || forget else { throw StoreError(.invalid, "ingest \(undone) is undone already") }
            if !isUndone {
                let settlement = Settlement(deletion)
                let states = settlement.reader.states
                let chain = try states.chain(from: undone)
                try states.undo(chain, by: ingest)
                if let first = chain.last, try !states.isActive(first) { try refuseIfRepaired(broughtBy: first) }
                let judgements = Judgements(connection: connection)
                for entry in chain {
                    try settlement.settle(touchedBy: entry)
                    try judgements.settle(touchedBy: entry)
                    guard try !states.isActive(entry) else { continue }
                    try judgements.reject(heldBy: entry, undoneBy: ingest)
                    try judgements.settle(touchedBy: ingest)
                }
                deletion.changesMore()
            }
            if forget, try Forgetting(deletion).forget(undone) > 0 { deletion.changesMore() }
            return deletion.deleted + deletion.restored
        }
    }

    /// A repair is undone as a whole; the undoing of a repair is taken back by repairing again.
    private func undoRepair(
        _ account: IngestAccount, forget: Bool, description: IngestDescription
    ) throws -> (ingest: Int64, count: Int)? {
        if account.kind == .undoMigration {
            throw StoreError(.invalid, "ingest \(account.id) took a repair back: 'vitalgate migrate apply' makes it again")
        }
        guard let migration = try migration(ingest: account.id) else { return nil }
        guard !forget else {
            throw StoreError(
                .invalid, "ingest \(account.id) is migration \(migration.id): its samples come from others and are not forgotten")
        }
        return try undoMigration(migration.id, at: Instant(microseconds: description.received))
    }
}
