import HealthModel

/// What a UUID is in the store.
public enum Lookup: Sendable {
    case live(StoredSample)
    /// Deleted, or replaced by the sample of that UUID.
    case deleted(StoredSample, replacedBy: String?)
}

extension SampleStore {
    /// Finds a sample by its UUID, live or deleted.
    public func lookup(_ uuid: SampleIdentity) throws(StoreError) -> Lookup? {
        for (table, places) in [
            ("sample", try places(of: uuid, in: "sample")), ("deleted", try places(of: uuid, in: "deleted")),
        ] {
            let remembered = table == "deleted" ? " AND NOT forgotten" : ""
            let replaced = table == "deleted" ? ", replaced_by" : ""
            let statement = try connection.statement(
                "SELECT \(SampleDecoder.columns)\(replaced) FROM \(table) WHERE series = ? AND start = ? AND hash = ?\(remembered)"
            )
            defer { statement.reset() }
            // What was forgotten may stand at another place than what came after it.
            for place in places {
                statement.reset()
                try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
                guard try statement.step() else { continue }
                let stored = try SampleDecoder(connection: connection).decode(statement, series: place.series)
                return table == "sample" ? .live(stored) : .deleted(stored, replacedBy: statement.optionalText(10))
            }
        }
        return nil
    }

    func places(of uuid: SampleIdentity, in table: String) throws(StoreError) -> [SamplePlace] {
        var places: [SamplePlace] = []
        for series in try series(matching: SampleQuery()) { places += try self.places(of: uuid, in: table, ofSeries: series.id) }
        return places
    }

    /// The nominal time finds the place and the hash confirms it; a table leads from nominal times that are not the start.
    func places(of uuid: SampleIdentity, in table: String, ofSeries series: Int64) throws(StoreError) -> [SamplePlace] {
        let hash = uuid.storedHash
        let low = Int64(uuid.milliseconds) * 1000
        let statement = try connection.statement(
            """
            SELECT start FROM \(table) WHERE series = ?1 AND start BETWEEN ?2 AND ?3 AND hash = ?4
            UNION SELECT start FROM place WHERE series = ?1 AND nominal BETWEEN ?2 AND ?3 AND hash = ?4
            """)
        defer { statement.reset() }
        try statement.bind([.integer(series), .integer(low), .integer(low + 999), .blob(hash)])
        var places: [SamplePlace] = []
        while try statement.step() { try places.append(SamplePlace(series: series, start: statement.integer(0), hash: hash)) }
        return places
    }

    /// Deletes samples for good: they leave tombstones, so that the same readings arriving again stay deleted.
    ///
    /// - Returns: how many; all of the query's or none.
    @discardableResult
    public func delete(
        matching query: SampleQuery, description: IngestDescription
    ) throws -> (ingest: Int64, count: Int) {
        try change(description) { _, deletion in
            var places: [SamplePlace] = []
            let cursor = try samples(matching: query)
            while let (series, stored) = try cursor.nextWithSeries() {
                places.append(SamplePlace(series: series, start: stored.sample.start.microseconds, of: stored.uuid))
            }
            cursor.close()
            var count = 0
            for place in places where try deletion.delete(place) {
                count += 1
            }
            return count
        }
    }

    /// Deletes the samples of these UUIDs; an unknown one fails and nothing is deleted.
    @discardableResult
    public func delete(_ uuids: [SampleIdentity], description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try change(description) { _, deletion in
            var count = 0
            for uuid in uuids {
                let places = try places(of: uuid, in: "sample")
                var found = false
                for place in places where try deletion.delete(place) {
                    found = true
                    count += 1
                }
                guard found else { throw StoreError(.invalid, "there is no sample \(uuid)") }
            }
            return count
        }
    }

    /// Gives deleted samples back as they were.
    @discardableResult
    public func restore(_ uuids: [SampleIdentity], description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try change(description) { _, deletion in
            var count = 0
            let witnesses = Witnesses(connection: connection, deletion: deletion)
            var restored: [SamplePlace] = []
            for uuid in try inOrder(uuids) {
                var found = false
                for place in try places(of: uuid, in: "deleted") {
                    guard try witnesses.standsIn(place) else { continue }
                    throw StoreError(
                        .invalid, "\(uuid) is a duplicate of a sample that is there; 'vitalgate query \(uuid)' names it")
                }
                for place in try places(of: uuid, in: "deleted")
                where try deletion.restore(place) {
                    found = true
                    count += 1
                    restored.append(place)
                }
                guard found else {
                    if let place = try places(of: uuid, in: "deleted").first,
                        let next = try Replacements(connection: connection).successor(of: place)
                    {
                        throw StoreError(
                            .invalid, "\(uuid) was replaced by \(next), by a repair: 'vitalgate migrate undo' takes that back")
                    }
                    throw StoreError(.invalid, "there is no deleted sample \(uuid), or another version of its record is live")
                }
            }
            // What stood in for it meanwhile steps back: else one measurement would be there twice.
            try witnesses.settle(after: restored)
            return count
        }
    }

    /// Deleted samples as they came once: those of one frame stay in order.
    private func inOrder(_ uuids: [SampleIdentity]) throws(StoreError) -> [SampleIdentity] {
        guard uuids.count > 1 else { return uuids }
        var numbers: [SampleIdentity: Int64] = [:]
        for uuid in uuids {
            for place in try places(of: uuid, in: "deleted") {
                numbers[uuid] = try connection.integer(
                    "SELECT seq FROM deleted WHERE series = ? AND start = ? AND hash = ?", .integer(place.series),
                    .integer(place.start), .blob(place.hash))
            }
        }
        return uuids.sorted { numbers[$0] ?? 0 < numbers[$1] ?? 0 }
    }

    /// Takes back what an ingest did: what it brought or restored is deleted, what it deleted is restored, what it put into quarantine
    /// is rejected.
    ///
    /// - Parameter forget: leave no tombstones, so that the same file can be imported anew; also after an undoing that left them.
    @discardableResult
    public func undo(_ undone: Int64, forget: Bool, description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        guard let account = try account(of: undone) else { throw StoreError(.invalid, "there is no ingest \(undone)") }
        if let result = try undoRepair(account, forget: forget, description: description) { return result }
        return try change(description) { ingest, deletion in
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
            if account.kind == .merge {
                for place in dead { try witnesses.withdraw(place) }
            }
            for place in live where try !witnesses.isLeftToSettling(place, undoing: chain) { try deletion.delete(place) }
            // What stands in for a measurement whose first is there again stays a witness.
            for place in dead where try !witnesses.standsIn(place) && !witnesses.isLeftToSettling(place, undoing: chain) {
                try deletion.restore(place)
            }
            try connection.run(
                "UPDATE quarantine SET state = 'rejected', judged = ?2 WHERE ingest = ?1 AND state = 'held'", .integer(undone),
                .integer(ingest))
            if connection.changes > 0 { deletion.changesMore() }
            try revokeJudgements(of: undone, deletion)
            if forget, try self.forget(undone) > 0 { deletion.changesMore() }
            try witnesses.settle(after: live + dead)
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
        return count + witnesses
    }

    private func places(_ sql: String, _ ingests: Int64...) throws(StoreError) -> [SamplePlace] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        try statement.bind(ingests.map { .integer($0) })
        var places: [SamplePlace] = []
        while try statement.step() {
            try places.append(SamplePlace(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)))
        }
        return places
    }

    /// Makes a change in one transaction, with its entry in the ledger; a change that changes nothing leaves none, and is ingest 0.
    func change(
        _ description: IngestDescription, _ body: (Int64, Deletion) throws -> Int
    ) throws -> (ingest: Int64, count: Int) {
        do {
            return try connection.transaction {
                let ingest = try beginIngest(description)
                let deletion = Deletion(connection: connection, ingest: ingest.id)
                let count = try body(ingest.id, deletion)
                guard count > 0 || deletion.hasChangedMore else { throw NothingToChange() }
                try connection.run(
                    "UPDATE ingest SET finished = ?, state = 'done', deleted = ?, restored = ? WHERE id = ?",
                    .integer(description.received), .integer(Int64(deletion.deleted)), .integer(Int64(deletion.restored)),
                    .integer(ingest.id))
                return (ingest.id, count)
            }
        } catch is NothingToChange {
            return (0, 0)
        } catch {
            // Rows that it made for samples to share are gone with it.
            interner.forget()
            throw error
        }
    }

    private struct NothingToChange: Error {}
}

/// What tells one series from another.
