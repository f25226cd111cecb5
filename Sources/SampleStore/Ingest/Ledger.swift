import HealthModel

extension SampleStore {
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
    public func resumeIngest(
        kind: IngestKind, named name: String? = nil, begunWithin range: Range<Int64>, owner: String?,
        replacingAcrossDevices: Bool = false, comparingPaths: Bool = true, linkingCopies: Bool = false
    ) throws(StoreError) -> (ingest: Ingest, account: IngestAccount)? {
        let clause = """
            WHERE kind = ?1 AND received >= ?2 AND received < ?3 AND state <> 'running' AND (?4 IS NULL OR name = ?4)
                AND NOT EXISTS(SELECT 1 FROM ingest AS other WHERE other.undoes = ingest.id)
            ORDER BY id DESC LIMIT 1
            """
        let found = try accounts(
            clause, [.text(kind.rawValue), .integer(range.lowerBound), .integer(range.upperBound), .optional(name)])
        guard let account = found.first else { return nil }
        let kept = try connection.integer("SELECT count(*) FROM refused WHERE ingest = ?", .integer(account.id)) ?? 0
        let ingest = try Ingest(
            store: self, resuming: account, owner: owner, refusalsKept: Int(kept),
            replacesAcrossDevices: replacingAcrossDevices, comparesPaths: comparingPaths, linksCopies: linkingCopies)
        return (ingest, account)
    }

    private func accounts(_ clause: String, _ bindings: [Value]) throws(StoreError) -> [IngestAccount] {
        let statement = try connection.statement(
            """
            SELECT id, kind, name, profile, zone, received, finished, state, stored, duplicate, quarantined, refused, notes, deleted, restored,
                witnesses, linked, owner
            FROM ingest \(clause)
            """)
        defer { statement.reset() }
        try statement.bind(bindings)
        var accounts: [IngestAccount] = []
        while try statement.step() {
            let id = statement.integer(0)
            guard let kind = IngestKind(rawValue: statement.text(1)) else {
                throw StoreError(.newer, "ledger entry \(id) was written by a newer Vitalgate: update this program")
            }
            var account = IngestAccount(
                id: id, kind: kind, name: statement.optionalText(2),
                profile: statement.optionalText(3), zone: statement.optionalText(4), received: statement.integer(5),
                state: statement.text(7))
            account.finished = statement.optionalInteger(6)
            account.stored = Int(statement.integer(8))
            account.duplicate = Int(statement.integer(9))
            account.quarantined = Int(statement.integer(10))
            account.refused = Int(statement.integer(11))
            account.deleted = Int(statement.integer(13))
            account.restored = Int(statement.integer(14))
            account.witnesses = Int(statement.integer(15))
            account.linked = Int(statement.integer(16))
            account.owner = statement.optionalText(17)
            account.notes = statement.optionalText(12)?.split(separator: "\n").map(String.init) ?? []
            accounts.append(account)
        }
        for index in accounts.indices {
            accounts[index].skipped = try skipped(by: accounts[index].id)
            // A killed process could not update its entry. The next command that writes stores this state.
            if accounts[index].state == "running", accounts[index].owner != nil, !IngestLock.isHeld(accounts[index].id, of: path)
            {
                accounts[index].state = "interrupted"
            }
        }
        return accounts
    }

    private func skipped(by ingest: Int64) throws(StoreError) -> [String: Int] {
        let statement = try connection.statement("SELECT kind, count FROM skipped WHERE ingest = ?")
        defer { statement.reset() }
        try statement.bind([.integer(ingest)])
        var skipped: [String: Int] = [:]
        while try statement.step() { skipped[statement.text(0)] = Int(statement.integer(1)) }
        return skipped
    }

    /// The refusals of a ledger entry: the first thousand with their places, then counts by reason.
    public func refusals(of ingest: Int64) throws(StoreError) -> [RefusalEntry] {
        let statement = try connection.statement(
            """
            SELECT reason, place_kind, place, count FROM refused WHERE ingest = ?
            ORDER BY place_kind = 'more', place, reason
            """)
        defer { statement.reset() }
        try statement.bind([.integer(ingest)])
        var entries: [RefusalEntry] = []
        while try statement.step() {
            entries.append(
                RefusalEntry(
                    reason: statement.text(0), placeKind: statement.text(1), place: statement.integer(2),
                    count: Int(statement.integer(3))))
        }
        return entries
    }
}
