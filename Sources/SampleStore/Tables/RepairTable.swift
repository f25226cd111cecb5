import HealthModel

/// The repairs, the samples that they replaced, and the identities under which repaired readings may arrive again. It has all SQL on
/// ``Schema/migration``, ``Schema/repaired``, and ``Schema/readingAlias``.
struct RepairTable {
    let connection: Connection

    // MARK: Parts of larger statements

    /// SQL that sets the original's place of a repaired sample whose original was erased. No series has this number.
    static let nowhere = "old_series = 0, old_start = 0, old_hash = zeroblob(\(HashBytes.count))"
    /// SQL for whether the original of a repaired sample was erased.
    static let isFromNowhere = "old_series = 0"

    /// SQL for whether an applied repair created or replaced the row `row`. It looks up the row, because the map of repairs may be long.
    static let isRepaired = """
        (EXISTS(SELECT 1 FROM repaired AS r CROSS JOIN migration AS m ON m.id = r.migration AND m.state = 'applied'
                WHERE (r.series, r.start, r.hash) = (row.series, row.start, row.hash))
            OR EXISTS(SELECT 1 FROM repaired AS r INDEXED BY repaired_by_old
                CROSS JOIN migration AS m ON m.id = r.migration AND m.state = 'applied'
                WHERE (r.old_series, r.old_start, r.old_hash) = (row.series, row.start, row.hash)))
        """

    /// SQL for whether the repair `?1` replaced or made the sample that the columns `of_series`, `of_start`, and `of_hash` name.
    static let isTouched = """
        (EXISTS(SELECT 1 FROM repaired AS r WHERE (r.old_series, r.old_start, r.old_hash) = (of_series, of_start, of_hash)
                AND r.migration = ?1)
            OR EXISTS(SELECT 1 FROM repaired AS r WHERE (r.series, r.start, r.hash) = (of_series, of_start, of_hash)
                AND r.migration = ?1))
        """

    /// SQL for the samples that repairs made from those in the table `form`.
    static let nextForms = """
        SELECT r.series, r.start, r.hash FROM form CROSS JOIN repaired AS r INDEXED BY repaired_by_old
            ON (r.old_series, r.old_start, r.old_hash) = (form.series, form.start, form.hash) AND NOT r.merged
        """

    /// SQL for the identities of a series in a range of nominal starts.
    static let aliases =
        "SELECT nominal, hash FROM reading_alias WHERE series = ? AND nominal >= ? AND nominal <= ? ORDER BY nominal, hash"

    // MARK: Repairs

    /// Returns repairs in the order of a clause.
    func migrations(_ clause: String, _ bindings: [Value] = []) throws(StoreError) -> [Migration] {
        let statement = try connection.statement(
            """
            SELECT id, ingest, repair, conditions, source, applied, state, undone, undone_by, matched, repaired, merged, already_right,
                ambiguous, impossible FROM migration \(clause)
            """)
        defer { statement.reset() }
        try statement.bind(bindings)
        var migrations: [Migration] = []
        while try statement.step() {
            migrations.append(
                Migration(
                    id: statement.integer(0), ingest: statement.integer(1), repair: statement.text(2),
                    conditions: statement.text(3), source: statement.optionalText(4), applied: statement.integer(5),
                    state: statement.text(6), undone: statement.optionalInteger(7), undoneBy: statement.optionalInteger(8),
                    matched: Int(statement.integer(9)), repaired: Int(statement.integer(10)), merged: Int(statement.integer(11)),
                    alreadyRight: Int(statement.integer(12)), ambiguous: Int(statement.integer(13)),
                    impossible: Int(statement.integer(14))))
        }
        return migrations
    }

    func nextNumber() throws(StoreError) -> Int64 { (try connection.integer("SELECT max(id) FROM migration") ?? 0) + 1 }

    /// Returns the canonical text of a repair.
    func text(of id: Int64) throws(StoreError) -> String? {
        try connection.text("SELECT repair FROM migration WHERE id = ?", .integer(id))
    }

    /// Whether a repair with this text was made before.
    func isKnown(_ text: String) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM migration WHERE repair = ?", .text(text)) != nil
    }

    /// Whether an entry of the ledger is a repair that is applied.
    func isApplied(by ingest: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM migration WHERE ingest = ? AND state = 'applied'", .integer(ingest)) != nil
    }

    /// Adds a repair that is not undone.
    func add(_ migration: Migration) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO migration(id, ingest, repair, conditions, source, applied, state, matched, repaired, merged, already_right,
                ambiguous, impossible) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(migration.id), .integer(migration.ingest), .text(migration.repair), .text(migration.conditions),
            .optional(migration.source), .integer(migration.applied), .text(migration.state), .integer(Int64(migration.matched)),
            .integer(Int64(migration.repaired)), .integer(Int64(migration.merged)), .integer(Int64(migration.alreadyRight)),
            .integer(Int64(migration.ambiguous)), .integer(Int64(migration.impossible)))
    }

    func setUndone(_ id: Int64, by ingest: Int64, at time: Instant) throws(StoreError) {
        try connection.run(
            "UPDATE migration SET state = 'undone', undone = ?, undone_by = ? WHERE id = ?", .integer(time.microseconds),
            .integer(ingest), .integer(id))
    }

    // MARK: Replaced samples

    /// Whether no sample was ever repaired.
    func isEmpty() throws(StoreError) -> Bool { try connection.integer("SELECT 1 FROM repaired LIMIT 1") == nil }

    /// Returns the sample that this one was made from, and the repair.
    func origin(of place: SampleKey) throws(StoreError) -> (place: SampleKey, migration: Int64)? {
        let statement = try connection.statement(
            """
            SELECT old_series, old_start, old_hash, migration FROM repaired WHERE series = ? AND start = ? AND hash = ? AND NOT merged
                AND NOT \(Self.isFromNowhere)
            """)
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        guard try statement.step() else { return nil }
        return try (
            SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)),
            statement.integer(3)
        )
    }

    /// Whether the sample was made from one of a person whose data was erased.
    func isFromNowhere(_ place: SampleKey) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM repaired WHERE series = ? AND start = ? AND hash = ? AND \(Self.isFromNowhere)",
            .integer(place.series), .integer(place.start), .blob(place.hash)) != nil
    }

    /// Returns the sample that an applied repair replaced this one with.
    func successor(of place: SampleKey) throws(StoreError) -> SampleKey? {
        try connection.sampleKeys(
            """
            SELECT r.series, r.start, r.hash FROM repaired AS r CROSS JOIN migration ON migration.id = r.migration
            WHERE r.old_series = ? AND r.old_start = ? AND r.old_hash = ? AND migration.state = 'applied' LIMIT 1
            """, [.integer(place.series), .integer(place.start), .blob(place.hash)]
        ).first
    }

    /// Returns the samples that repairs replaced this one with, whether the new one already existed, and whether the repair is applied.
    func successors(of place: SampleKey) throws(StoreError) -> [(new: SampleKey, isMerged: Bool, isActive: Bool)] {
        let statement = try connection.statement(
            """
            SELECT series, start, hash, merged, coalesce((SELECT state = 'applied' FROM migration WHERE id = migration), 0)
            FROM repaired INDEXED BY repaired_by_old WHERE old_series = ? AND old_start = ? AND old_hash = ?
            """)
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        var successors: [(new: SampleKey, isMerged: Bool, isActive: Bool)] = []
        while try statement.step() {
            let new = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
            successors.append((new, statement.integer(3) != 0, statement.integer(4) != 0))
        }
        return successors
    }

    /// Records the origin of each new sample of the table `replacement`, and the identity under which its reading may arrive again.
    func addReplacements(by migration: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO repaired(series, start, hash, migration, old_series, old_start, old_hash, merged)
            SELECT series, start, hash, ?, old_series, old_start, old_hash, arrival = 2 FROM replacement
            """, .integer(migration))
        try connection.run(
            """
            INSERT OR IGNORE INTO reading_alias(series, nominal, hash, migration)
            SELECT series, nominal, alias, ? FROM replacement WHERE alias IS NOT NULL
            """, .integer(migration))
    }

    /// Removes the samples of the table `pruned`. Only repairs that were undone still have them.
    func removePruned() throws(StoreError) {
        let marked = "(SELECT series, start, hash FROM pruned)"
        try connection.run("DELETE FROM repaired WHERE (series, start, hash) IN \(marked)")
        try connection.run(
            "DELETE FROM repaired INDEXED BY repaired_by_old WHERE (old_series, old_start, old_hash) IN \(marked) AND merged")
        try connection.run(
            """
            UPDATE repaired INDEXED BY repaired_by_old SET \(Self.nowhere)
            WHERE (old_series, old_start, old_hash) IN \(marked)
            """)
    }

    // MARK: Identities of repaired readings

    /// Whether a repair made a sample of the reading that arrives with this identity.
    func hasAlias(_ place: SampleKey) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM reading_alias WHERE series = ? AND nominal = ? AND hash = ?", .integer(place.series),
            .integer(place.start), .blob(place.hash)) != nil
    }

    func hasAliases(series: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM reading_alias WHERE series = ? LIMIT 1", .integer(series)) != nil
    }

    func removeAliases(of migration: Int64) throws(StoreError) {
        try connection.run("DELETE FROM reading_alias WHERE migration = ?", .integer(migration))
    }
}

extension Connection {
    var repairs: RepairTable { RepairTable(connection: self) }
}
