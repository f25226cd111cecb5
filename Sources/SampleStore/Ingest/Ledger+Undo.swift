import HealthModel

extension SampleStore.Ledger {
    /// Undoes a ledger entry, so that its readings and decisions no longer count. Undoing the undo makes them count
    /// again.
    ///
    /// - Parameter forget: Whether to leave no tombstones, so that the same file can be imported again. This also works
    ///   after an undo that left them.
    @discardableResult
    public func undo(_ undone: Int64, forget: Bool, description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        guard let account = try account(of: undone) else { throw StoreError(.invalid, "there is no ledger entry \(undone)") }
        guard account.kind != .prune, account.kind != .erase else {
            throw StoreError(.invalid, "ledger entry \(undone) removed samples permanently, so they cannot be restored")
        }
        try refuseIfRunning(account)
        if let result = try undoRepair(account, forget: forget, description: description) { return result }
        try store.resumePending()
        guard try rows(touchedBy: account) <= store.stepRows else { return try undoInSteps(undone, forget: forget, description) }
        return try store.samples.change(description) { ingest, deletion in
            try store.refuseIfPending()
            if try refuseIfNotUndoable(undone, forget: forget) {
                let liveUpdate = LiveSampleUpdate(deletion)
                let chain = try liveUpdate.reader.states.chain(from: undone)
                try liveUpdate.reader.states.undo(undone, by: ingest)
                try refuseIfRepaired(chain, liveUpdate)
                var touched: [SampleKey] = []
                for entry in chain { touched += try liveUpdate.reports(of: entry) }
                for entry in chain { try liveUpdate.update(touchedBy: entry) }
                for entry in chain { try connection.quarantine.update(touchedBy: entry) }
                // A report that comes forward may be another sample's, and a measurement may have a place for another report.
                try Regrouping(deletion).update(around: touched)
                deletion.changesMore()
            } else {
                // It stays undone until this entry is undone as well.
                try LedgerStates(connection: connection).undo(undone, by: ingest)
            }
            if forget {
                let count = try Forgetting(connection, of: undone, limit: store.stepRows).run { try $0(deletion) }
                if count > 0 { deletion.changesMore() }
            }
            return deletion.deleted + deletion.restored
        }
    }

    /// Undoes an entry with many samples in several transactions (``PendingChanges``).
    private func undoInSteps(
        _ undone: Int64, forget: Bool, _ description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        func forgetSamples(_ entry: Int64) throws {
            guard forget else { return }
            _ = try Forgetting(connection, of: undone, limit: store.stepRows).run { body in try store.step(entry) { try body($0) }
            }
        }
        // An entry that is already undone needs another one that forgets its samples.
        guard try refuseIfNotUndoable(undone, forget: forget) else {
            return try store.changeInSteps(
                description, list: { _, _ in },
                finish: { entry in
                    try store.step(entry) { _ in try LedgerStates(connection: connection).undo(undone, by: entry) }
                    try forgetSamples(entry)
                })
        }
        /// Returns a settlement with the future state of the ledger.
        func liveUpdate(_ entry: Int64, _ deletion: Deletion, listedIn list: PendingChanges? = nil) throws -> LiveSampleUpdate {
            let liveUpdate = LiveSampleUpdate(deletion, listedIn: list)
            liveUpdate.reader.states.assume(undone, undoneBy: entry)
            return liveUpdate
        }
        return try store.changeInSteps(
            description,
            list: { pending, entry in
                let liveUpdate = try liveUpdate(entry, Deletion(connection: connection, ingest: entry), listedIn: pending)
                let chain = try liveUpdate.reader.states.chain(from: undone)
                try refuseIfRepaired(chain, liveUpdate)
                for entry in chain { try liveUpdate.update(touchedBy: entry) }
            },
            restore: { keys, entry, deletion in
                try liveUpdate(entry, deletion).update(listed: keys, onlyRestoring: true)
            },
            decide: { entry, deletion in
                _ = try refuseIfNotUndoable(undone, forget: forget)
                let liveUpdate = LiveSampleUpdate(deletion)
                let chain = try liveUpdate.reader.states.chain(from: undone)
                try liveUpdate.reader.states.undo(undone, by: entry)
                for entry in chain { try connection.quarantine.update(touchedBy: entry) }
            }, finish: forgetSamples)
    }

    /// The maximum number of samples that an undo of the entry may change.
    private func rows(touchedBy account: IngestAccount) throws(StoreError) -> Int {
        let chain = try LedgerStates(connection: connection).chain(from: account.id)
        var sum = 0
        for entry in chain {
            guard let account = try self.account(of: entry) else { continue }
            sum += account.stored + account.nearDuplicates + account.deleted + account.restored
        }
        return sum
    }

    /// Throws an error if the entry cannot be undone.
    ///
    /// - Returns: False if the entry is already undone and only needs to be forgotten.
    private func refuseIfNotUndoable(_ undone: Int64, forget: Bool) throws(StoreError) -> Bool {
        // The entry may have been resumed, such as the hub's entry of today.
        guard let account = try account(of: undone) else { return false }
        try refuseIfRunning(account)
        try refuseIfCorrected(account)
        let isUndone = account.state == "undone"
        // A restored sample may have been repaired since.
        if isUndone, forget { try store.repairs.refuseIfRepaired(ingestedBy: undone) }
        guard !isUndone || forget else { throw StoreError(.invalid, "ledger entry \(undone) is already undone") }
        return !isUndone
    }

    /// Refuses to restore readings while their corrections are live, or what they correct, because both would count.
    private func refuseIfCorrected(_ account: IngestAccount) throws(StoreError) {
        guard account.kind == .delete, account.name == Correction.entryName else { return }
        let keys = try connection.decisions.keys(decidedBy: account.id, after: nil, limit: Int(store.stepRows))
        for key in try CorrectionSearch(connection: connection).conflicts(with: keys) {
            guard let sample = try connection.samples.identity(at: key) else { continue }
            throw StoreError(
                .invalid,
                "ledger entry \(account.id) is a part of a correction, and \(sample) counts instead: delete it first, or undo its entry"
            )
        }
    }

    private func refuseIfRepaired(_ chain: [Int64], _ liveUpdate: LiveSampleUpdate) throws(StoreError) {
        if let first = chain.last, try !liveUpdate.reader.states.isActive(first) {
            try store.repairs.refuseIfRepaired(ingestedBy: first)
        }
    }

    /// Undoes a repair as a whole, or returns `nil` if the entry is not a repair. To revert the undo of a repair, apply
    /// the repair again.
    private func undoRepair(
        _ account: IngestAccount, forget: Bool, description: IngestDescription
    ) throws -> (ingest: Int64, count: Int)? {
        if account.kind == .undoRepair {
            throw StoreError(.invalid, "ledger entry \(account.id) undid a repair: run 'vitalgate repair apply' to repair again")
        }
        guard let repairID = try store.repairs.repair(ingest: account.id) else { return nil }
        guard !forget else {
            throw StoreError(
                .invalid,
                "ledger entry \(account.id) is repair \(repairID.id), and a repair cannot be forgotten: run 'vitalgate repair undo \(repairID.id)'"
            )
        }
        return try store.repairs.undo(repairID.id, at: Instant(microseconds: description.received))
    }
}
