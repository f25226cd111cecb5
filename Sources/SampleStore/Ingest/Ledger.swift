import HealthModel

extension SampleStore.Ledger {
    /// The ledger entry with this number, or `nil`.
    public func account(of ingest: Int64) throws(StoreError) -> IngestAccount? {
        try accounts("WHERE id = ?", [.integer(ingest)]).first
    }

    /// The latest ledger entries, oldest first.
    public func accounts(limit: Int = .max) throws(StoreError) -> [IngestAccount] {
        try accounts("ORDER BY id DESC LIMIT ?", [.integer(Int64(limit))]).reversed()
    }

    /// Resumes the last entry of a kind that was begun in a time range and has ended, so that a restarted hub does not
    /// begin another one. Returns `nil` if there is no such entry or it was undone.
    ///
    /// - Parameters:
    ///   - name: The required name, or `nil` for any name.
    ///   - replacingAcrossDevices: See ``IngestDescription/replacesAcrossDevices``.
    public func resume(
        kind: IngestKind, named name: String? = nil, begunWithin range: Range<Int64>, owner: String?,
        replacingAcrossDevices: Bool = false, comparingPaths: Bool = true, linkingCopies: Bool = false, client: String? = nil
    ) throws(StoreError) -> (ingest: Ingest, account: IngestAccount)? {
        guard let account = try connection.ledger.last(kind, named: name, begunWithin: range) else { return nil }
        let ingest = try Ingest(
            store: store, resuming: account, owner: owner, retainedRefusals: try connection.ledger.refusalCount(of: account.id),
            replacesAcrossDevices: replacingAcrossDevices, comparesPaths: comparingPaths, linksCopies: linkingCopies,
            client: client)
        return (ingest, account)
    }

    private func accounts(_ clause: String, _ bindings: [Value]) throws(StoreError) -> [IngestAccount] {
        try connection.ledger.accounts(clause, bindings).map(checked)
    }

    /// Returns the entry as interrupted if its process ended. A killed process could not update its entry. The next command that writes
    /// stores this state.
    private func checked(_ account: IngestAccount) -> IngestAccount {
        guard account.state == "running", account.owner != nil, !IngestLock.isLocked(account.id, of: store.path) else {
            return account
        }
        var account = account
        account.state = "interrupted"
        return account
    }

    /// The refusals of a ledger entry: the first thousand with their places, then counts by reason.
    public func refusals(of ingest: Int64) throws(StoreError) -> [RefusalEntry] { try connection.ledger.refusals(of: ingest) }
}
