import HealthModel

extension SampleStore {
    /// Takes back what an ingest did: what it brought or restored is deleted, what it deleted is restored, what it put into quarantine
    /// is rejected.
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
            let chain = try UndoChain(of: undone, connection)
            if chain.takesBack { try refuseIfRepaired(broughtBy: chain.root) }
            let live = try places(
                """
                SELECT sample.series, start, hash FROM change JOIN sample ON sample.series = change.series
                    AND start BETWEEN low AND high AND seq BETWEEN first_seq AND last_seq
                WHERE (change.ingest = ?2 OR cause = ?1) AND NOT deletion
                """, undone, chain.takesBack ? chain.root : undone)
            let dead = try places(
                "SELECT series, start, hash FROM deleted WHERE ingest = ? AND NOT forgotten ORDER BY seq", undone)
            let witnesses = Witnesses(connection: connection, deletion: deletion)
            if !isUndone { try witnesses.judge(by: chain) }
            let isOfMerge = try self.account(of: chain.root)?.kind == .merge
            if isOfMerge { for place in chain.takesBack ? dead : live { try witnesses.part(place, by: chain) } }
            func isLeft(_ place: SampleKey) throws(StoreError) -> Bool {
                isOfMerge ? false : try witnesses.isLeftToSettling(place, undoing: chain)
            }
            for place in live where try !isLeft(place) { try deletion.delete(place) }
            // What stands in for a measurement whose first is there again stays a witness.
            for place in dead where try !witnesses.isToldByAnother(place) && !isLeft(place) { try deletion.restore(place) }
            try connection.run(
                "UPDATE quarantine SET state = 'rejected', judged = ?2 WHERE ingest = ?1 AND state = 'held'", .integer(undone),
                .integer(ingest))
            if connection.changes > 0 { deletion.changesMore() }
            try revokeJudgements(of: undone, deletion)
            if forget, try self.forget(undone) > 0 { deletion.changesMore() }
            // Whether what it told of a person counts follows from its state.
            if !isUndone, try hasCharacteristics(broughtBy: chain.root) { deletion.changesMore() }
            try witnesses.review(after: live + dead)
            if !isUndone { try chain.keepStates(connection) }
            try connection.run("UPDATE ingest SET undoes = ? WHERE id = ?", .integer(undone), .integer(ingest))
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

    /// Makes the tombstones of what an ingest brought harmless, and returns how many there were.
    private func forget(_ ingest: Int64) throws(StoreError) -> Int {
        let table = SampleTable(connection: connection)
        try table.forgetPlacesOfWitnesses(broughtBy: ingest)
        try connection.run(
            "DELETE FROM witness_row WHERE decision IN (SELECT id FROM decision WHERE ingest = ?)", .integer(ingest))
        let witnesses = connection.changes
        try connection.run("DELETE FROM decision WHERE ingest = ?", .integer(ingest))
        let count = try table.forget(broughtBy: ingest)
        // For the ledger's sums: a forgotten row gives its place away when the same sample comes and is deleted once more.
        try connection.run(
            "INSERT INTO setting VALUES('forgotten', ?) ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
            .integer(Int64(count)))
        try connection.run("DELETE FROM quarantine WHERE ingest = ? AND state <> 'accepted'", .integer(ingest))
        return try count + witnesses + forgetCharacteristics(broughtBy: ingest)
    }

    private func places(_ sql: String, _ ingests: Int64...) throws(StoreError) -> [SampleKey] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        try statement.bind(ingests.map { .integer($0) })
        var places: [SampleKey] = []
        while try statement.step() {
            try places.append(SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)))
        }
        return places
    }
}
