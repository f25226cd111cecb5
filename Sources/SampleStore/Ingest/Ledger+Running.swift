import HealthModel

extension SampleStore.Ledger {
    /// Returns the latest time of any entry, or `nil` if there is none.
    public func lastEntry() throws(StoreError) -> Instant? {
        try connection.ledger.lastReceived().map { Instant(microseconds: $0) }
    }

    /// Marks entries whose process ended without finishing them as interrupted. Their stored samples remain.
    public func closeAbandoned() throws {
        try connection.transaction {
            for ingest in try connection.ledger.running() where !IngestLock.isLocked(ingest, of: store.path) {
                try connection.ledger.set(state: "interrupted", of: ingest)
            }
        }
        try store.resumePending()
    }

    /// Throws an error if the entry is still running, because samples that it stores later would remain.
    ///
    /// - Throws: ``StoreError`` of the kind `busy`.
    func refuseIfRunning(_ account: IngestAccount) throws(StoreError) {
        guard account.state == "running" else { return }
        throw StoreError(
            .busy,
            account.kind == .live
                ? "the hub is running and adds to ledger entry \(account.id): stop the hub first, or delete samples with 'vitalgate delete'"
                : "ledger entry \(account.id) is still being written: wait until it is done, or stop it first")
    }
}
