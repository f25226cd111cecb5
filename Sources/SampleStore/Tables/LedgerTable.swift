import HealthModel

/// The entries of the ledger with their counts. It has all SQL on ``Schema/ingest``, ``Schema/skipped``, and ``Schema/refused``.
struct LedgerTable {
    let connection: Connection

    // MARK: Parts of larger statements

    /// SQL for whether an entry is undone.
    static func isUndone(_ id: String) -> String {
        "EXISTS(SELECT 1 FROM main.ingest AS i WHERE i.id = \(id) AND i.state = 'undone')"
    }

    /// SQL for whether one of two entries is undone.
    static func isUndone(_ id: String, or other: String) -> String {
        "EXISTS(SELECT 1 FROM main.ingest AS i WHERE i.id IN (\(id), \(other)) AND i.state = 'undone')"
    }

    /// SQL for the time of receipt of an entry.
    static func received(of id: String) -> String { "(SELECT ingest.received FROM ingest WHERE ingest.id = \(id))" }

    /// SQL for the kind of an entry.
    static func kind(of id: String) -> String { "(SELECT kind FROM main.ingest WHERE id = \(id))" }

    /// SQL for the state of an entry.
    static func state(of id: String) -> String { "(SELECT state FROM ingest WHERE ingest.id = \(id))" }

    /// SQL for the entry that an entry undoes.
    static func undone(by id: String) -> String { "(SELECT undoes FROM ingest WHERE id = \(id))" }

    /// SQL for all entries.
    static let ids = "(SELECT id FROM ingest)"

    // MARK: Entries

    /// Returns entries in the order of a clause.
    func accounts(_ clause: String, _ bindings: [Value]) throws(StoreError) -> [IngestAccount] {
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
            account.nearDuplicates = Int(statement.integer(15))
            account.linked = Int(statement.integer(16))
            account.owner = statement.optionalText(17)
            account.notes = statement.optionalText(12)?.split(separator: "\n").map(String.init) ?? []
            accounts.append(account)
        }
        for index in accounts.indices { accounts[index].skipped = try skipped(by: accounts[index].id) }
        return accounts
    }

    /// Returns the last entry of a kind that was begun in a time range and has ended, unless it was undone.
    func last(_ kind: IngestKind, named name: String?, begunWithin range: Range<Int64>) throws(StoreError) -> IngestAccount? {
        let clause = """
            WHERE kind = ?1 AND received >= ?2 AND received < ?3 AND state <> 'running' AND (?4 IS NULL OR name = ?4)
                AND NOT EXISTS(SELECT 1 FROM ingest AS other WHERE other.undoes = ingest.id)
            ORDER BY id DESC LIMIT 1
            """
        return try accounts(
            clause, [.text(kind.rawValue), .integer(range.lowerBound), .integer(range.upperBound), .optional(name)]
        ).first
    }

    func kind(of id: Int64) throws(StoreError) -> IngestKind? {
        try connection.text("SELECT kind FROM ingest WHERE id = ?", .integer(id)).flatMap(IngestKind.init(rawValue:))
    }

    /// Returns the latest time of any entry, in microseconds since 1970.
    func lastReceived() throws(StoreError) -> Int64? { try connection.integer("SELECT max(received) FROM ingest") }

    /// Returns the time of receipt of an entry in microseconds since 1970, also to a restricted reader.
    func received(of id: Int64) throws(StoreError) -> Int64? {
        try connection.integer("SELECT received FROM main.ingest WHERE id = ?", .integer(id))
    }

    /// Whether an entry is undone, also to a restricted reader.
    func isUndone(_ id: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM main.ingest WHERE id = ? AND state = 'undone'", .integer(id)) != nil
    }

    /// Returns the entry that an entry undoes.
    func undone(by id: Int64) throws(StoreError) -> Int64? {
        try connection.integer("SELECT undoes FROM ingest WHERE id = ? AND undoes IS NOT NULL", .integer(id))
    }

    /// Returns the undos of an entry, the undos of these, and so on.
    func undos(of id: Int64) throws(StoreError) -> [UndoHistory.Undo] {
        try connection.list(
            """
            WITH RECURSIVE undo(id, undone) AS (
                SELECT id, undoes FROM main.ingest WHERE undoes = ?1
                UNION SELECT ingest.id, ingest.undoes FROM undo CROSS JOIN main.ingest ON ingest.undoes = undo.id)
            SELECT id, undone FROM undo
            """, [.integer(id)]
        ) { UndoHistory.Undo(entry: $0.integer(0), undone: $0.integer(1)) }
    }

    /// Returns the entries that are marked as running. An entry within a single transaction has no owner, and other processes never see it
    /// running.
    func running() throws(StoreError) -> [Int64] {
        try connection.list("SELECT id FROM ingest WHERE state = 'running' AND owner IS NOT NULL") { $0.integer(0) }
    }

    // MARK: Sums

    func count() throws(StoreError) -> Int { Int(try connection.integer("SELECT count(*) FROM ingest") ?? 0) }

    /// Returns the number of samples that all entries stored.
    func storedSum() throws(StoreError) -> Int64 { try connection.integer("SELECT sum(stored) FROM ingest") ?? 0 }

    /// Returns the number of samples that each entry that brought readings stored, in order.
    func stored() throws(StoreError) -> [(id: Int64, count: Int64)] {
        try connection.list("SELECT id, stored FROM ingest WHERE kind IN \(IngestKind.bringing) ORDER BY id") {
            ($0.integer(0), $0.integer(1))
        }
    }

    /// Returns the sums of the entries that brought readings and began at or after a time, in microseconds since 1970.
    func readingCounts(since start: Int64) throws(StoreError) -> ReadingCounts {
        let statement = try connection.statement(
            """
            SELECT total(stored), total(duplicate), total(quarantined), total(refused),
                (SELECT total(count) FROM skipped WHERE ingest IN
                    (SELECT id FROM ingest WHERE received >= ?1 AND kind IN \(IngestKind.bringing)))
            FROM ingest WHERE received >= ?1 AND kind IN \(IngestKind.bringing)
            """)
        defer { statement.reset() }
        try statement.bind([.integer(start)])
        var counts = ReadingCounts()
        guard try statement.step() else { return counts }
        counts.stored = Int(statement.integer(0))
        counts.duplicate = Int(statement.integer(1))
        counts.quarantined = Int(statement.integer(2))
        counts.refused = Int(statement.integer(3))
        counts.skipped = Int(statement.integer(4))
        return counts
    }

    // MARK: Writing entries

    /// Adds an entry that is running.
    func begin(_ description: IngestDescription) throws(StoreError) -> Int64 {
        try connection.run(
            """
            INSERT INTO ingest(kind, name, profile, zone, received, state, owner, notes, of_member)
            VALUES(?, ?, ?, ?, ?, 'running', ?, ?, ?)
            """,
            .text(description.kind.rawValue), .optional(description.name), .optional(description.profile),
            .optional(description.zone), .integer(description.received), .optional(description.owner),
            Self.joined(description.notes), .integer(description.isOfMember ? 1 : 0))
        return connection.lastInsertedRow
    }

    /// Whether a member of the household, a phone or another client brought the entry's readings.
    func isOfMember(_ id: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT of_member FROM ingest WHERE id = ?", .integer(id)) == 1
    }

    func resume(_ id: Int64, owner: String?) throws(StoreError) {
        try connection.run(
            "UPDATE ingest SET state = 'running', finished = NULL, owner = ? WHERE id = ?", .optional(owner), .integer(id))
    }

    /// Ends an entry. Counts that are `nil` stay as they are.
    func finish(
        _ id: Int64, at time: Int64, state: String = "done", stored: Int? = nil, deleted: Int? = nil, restored: Int? = nil
    ) throws(StoreError) {
        try connection.run(
            """
            UPDATE ingest SET finished = ?, state = ?, stored = coalesce(?, stored), deleted = coalesce(?, deleted),
                restored = coalesce(?, restored) WHERE id = ?
            """,
            .integer(time), .text(state), .optional(stored.map(Int64.init)), .optional(deleted.map(Int64.init)),
            .optional(restored.map(Int64.init)), .integer(id))
    }

    /// Ends an entry at its time of receipt, unless it is undone already.
    func finishUnlessUndone(_ id: Int64, state: String) throws(StoreError) {
        try connection.run(
            "UPDATE ingest SET finished = received, state = ? WHERE id = ? AND state <> 'undone'", .text(state), .integer(id))
    }

    func set(state: String, of id: Int64) throws(StoreError) {
        try connection.run("UPDATE ingest SET state = ? WHERE id = ?", .text(state), .integer(id))
    }

    /// Records which entry an entry undoes.
    func set(undone: Int64?, by id: Int64) throws(StoreError) {
        try connection.run("UPDATE ingest SET undoes = ? WHERE id = ?", .optional(undone), .integer(id))
    }

    func set(zone: String, of id: Int64) throws(StoreError) {
        try connection.run("UPDATE ingest SET zone = ? WHERE id = ?", .text(zone), .integer(id))
    }

    /// Replaces the notes.
    func set(notes: [String], of id: Int64) throws(StoreError) {
        try connection.run("UPDATE ingest SET notes = ? WHERE id = ?", Self.joined(notes), .integer(id))
    }

    func add(notes: [String], to id: Int64) throws(StoreError) {
        for note in notes {
            try connection.run(
                "UPDATE ingest SET notes = coalesce(notes || char(10), '') || ? WHERE id = ?", .text(note), .integer(id))
        }
    }

    private static func joined(_ notes: [String]) -> Value { notes.isEmpty ? .null : .text(notes.joined(separator: "\n")) }

    /// Adds to the counts of incoming readings.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if another process erased the person of the entry. The readings of the batch are not
    ///   stored then, because nothing of the person may come back.
    func add(
        stored: Int64, duplicate: Int64, quarantined: Int64, refused: Int64, nearDuplicates: Int64, linked: Int64, to id: Int64
    ) throws(StoreError) {
        try connection.run(
            """
            UPDATE ingest SET stored = stored + ?, duplicate = duplicate + ?, quarantined = quarantined + ?, refused = refused + ?,
                witnesses = witnesses + ?, linked = linked + ?
            WHERE id = ?
            """, .integer(stored), .integer(duplicate), .integer(quarantined), .integer(refused), .integer(nearDuplicates),
            .integer(linked), .integer(id))
        guard connection.changes > 0 else {
            throw StoreError(.invalid, "entry \(id) is no longer in the ledger, because its person was erased")
        }
    }

    /// Adds to the counts of deleted and restored samples.
    func add(deleted: Int, restored: Int, to id: Int64) throws(StoreError) {
        try connection.run(
            "UPDATE ingest SET deleted = deleted + ?, restored = restored + ? WHERE id = ?", .integer(Int64(deleted)),
            .integer(Int64(restored)), .integer(id))
    }

    /// Counts a duplicate of an import as a sample.
    func promoteDuplicate(of id: Int64) throws(StoreError) {
        try connection.run(
            "UPDATE ingest SET stored = stored + 1, duplicate = duplicate - 1, witnesses = witnesses - 1 WHERE id = ?",
            .integer(id))
    }

    func remove(_ id: Int64) throws(StoreError) { try connection.run("DELETE FROM ingest WHERE id = ?", .integer(id)) }

    // MARK: Refused and skipped readings

    /// Counts refused readings at a place.
    func refuse(_ count: Int, _ reason: String, placeKind: String, place: Int64, by id: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO refused(ingest, reason, place_kind, place, count) VALUES(?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET count = count + excluded.count
            """, .integer(id), .text(reason), .text(placeKind), .integer(place), .integer(Int64(count)))
    }

    func skip(_ count: Int, _ kind: String, by id: Int64) throws(StoreError) {
        try connection.run(
            "INSERT INTO skipped(ingest, kind, count) VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
            .integer(id), .text(kind), .integer(Int64(count)))
    }

    private func skipped(by id: Int64) throws(StoreError) -> [String: Int] {
        let statement = try connection.statement("SELECT kind, count FROM skipped WHERE ingest = ?")
        defer { statement.reset() }
        try statement.bind([.integer(id)])
        var skipped: [String: Int] = [:]
        while try statement.step() { skipped[statement.text(0)] = Int(statement.integer(1)) }
        return skipped
    }

    /// Returns the number of rows with refusals.
    func refusalCount(of id: Int64) throws(StoreError) -> Int {
        Int(try connection.integer("SELECT count(*) FROM refused WHERE ingest = ?", .integer(id)) ?? 0)
    }

    /// Returns the refusals of an entry: those with their places, then counts by reason.
    func refusals(of id: Int64) throws(StoreError) -> [RefusalEntry] {
        try connection.list(
            """
            SELECT reason, place_kind, place, count FROM refused WHERE ingest = ?
            ORDER BY place_kind = 'more', place, reason
            """, [.integer(id)]
        ) {
            RefusalEntry(
                reason: $0.text(0), placeKind: $0.text(1), place: $0.integer(2),
                count: Int($0.integer(3)))
        }
    }

    /// Returns the entries whose count of refused readings differs from the reasons.
    func wrongRefusals() throws(StoreError) -> [(id: Int64, refused: Int64, reasons: Int64)] {
        try connection.list(
            """
            SELECT id, refused, coalesce((SELECT sum(count) FROM refused WHERE ingest = ingest.id), 0) AS kept FROM ingest WHERE refused <> kept
            """
        ) { ($0.integer(0), $0.integer(1), $0.integer(2)) }
    }

    // MARK: Erasure

    /// SQL for the entries that name a text, `?1`.
    static let naming = "SELECT id FROM ingest WHERE instr(lower(name), lower(?1)) > 0 OR instr(notes, ?1) > 0"

    /// SQL for the imports of the same files as the imports in a table of ids.
    static func imports(ofFilesIn ids: String) -> String {
        """
        SELECT ingest.id FROM ingest JOIN ingest AS other ON other.name = ingest.name
            AND other.kind = ingest.kind WHERE other.id IN (SELECT id FROM \(ids)) AND ingest.kind = 'import'
        """
    }

    /// SQL for the entries that entries outside a table of ids undo.
    static func undone(byOthersThan ids: String) -> String {
        "SELECT undoes FROM ingest WHERE undoes IS NOT NULL AND id NOT IN (SELECT id FROM \(ids))"
    }

    /// Removes the entries in a table of ids.
    func removeAll(in ids: String) throws(StoreError) {
        for (table, column) in [("refused", "ingest"), ("skipped", "ingest"), ("ingest", "id")] {
            try connection.run("DELETE FROM \(table) WHERE \(column) IN (SELECT id FROM \(ids))")
        }
    }

    /// Removes reasons, notes, and names with one of the words from the entries in a table of ids.
    func blank(_ ids: String, words: [String]) throws(StoreError) {
        let shared = "(SELECT id FROM \(ids))"
        // Reasons may quote refused values, and it is unknown to whom they belong.
        try connection.run("DELETE FROM refused WHERE ingest IN \(shared)")
        try connection.run(
            """
            INSERT INTO refused SELECT id, 'of somebody whose data was erased, or of others', 'more', 0, refused FROM ingest
            WHERE id IN \(shared) AND refused > 0
            """)
        try connection.run("UPDATE ingest SET notes = NULL WHERE id IN \(shared)")
        for word in words {
            try connection.run(
                "UPDATE ingest SET name = NULL WHERE id IN \(shared) AND instr(lower(name), lower(?)) > 0", .text(word))
        }
    }
}
