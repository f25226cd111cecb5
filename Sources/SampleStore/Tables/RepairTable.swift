import HealthModel

/// The repairs, the samples that they replaced, and the identities under which repaired readings may arrive again. It has all SQL on
/// ``Schema/repairID``, ``Schema/repaired``, and ``Schema/readingAlias``.
struct RepairTable {
    let connection: Connection

    // MARK: Parts of larger statements

    /// SQL that sets the original's place of a repaired sample whose original was erased. No series has this number.
    static let nowhere = "old_series = 0, old_start = 0, old_hash = zeroblob(\(HashBytes.count))"
    /// SQL for whether the original of a repaired sample was erased.
    static let isFromNowhere = "old_series = 0"

    /// SQL for whether an applied repair created or replaced the row `row` or another report of its measurement.
    static let isRepaired = """
        (EXISTS(SELECT 1 FROM repaired) AND (\(isApplied("row.series", "row.start", "row.hash"))
            OR \(DuplicateTable.hasDuplicate(isApplied, of: "row.series", "row.start", "row.hash"))
            OR \(DuplicateTable.hasOriginal({ series, start, hash in
                "(\(isApplied(series, start, hash)) OR \(DuplicateTable.hasDuplicate(isApplied, of: series, start, hash)))"
            }, of: "row.series", "row.start", "row.hash"))))
        """

    /// SQL for whether an applied repair created or replaced a sample. It looks up the sample, because the map of repairs may be long.
    private static func isApplied(_ series: String, _ start: String, _ hash: String) -> String {
        let isThere = "CROSS JOIN migration AS m ON m.id = r.migration AND m.state = 'applied' WHERE"
        return """
            (EXISTS(SELECT 1 FROM repaired AS r \(isThere) (r.series, r.start, r.hash) = (\(series), \(start), \(hash)))
                OR EXISTS(SELECT 1 FROM repaired AS r INDEXED BY repaired_by_old \(isThere)
                    (r.old_series, r.old_start, r.old_hash) = (\(series), \(start), \(hash))))
            """
    }

    /// SQL for whether the repair `?1` replaced or made the sample that the columns `of_series`, `of_start`, and `of_hash` name.
    static let isTouched = """
        (EXISTS(SELECT 1 FROM repaired AS r WHERE (r.old_series, r.old_start, r.old_hash) = (of_series, of_start, of_hash)
                AND r.migration = ?1)
            OR EXISTS(SELECT 1 FROM repaired AS r WHERE (r.series, r.start, r.hash) = (of_series, of_start, of_hash)
                AND r.migration = ?1))
        """

    /// SQL of the table `original`: the series of the samples that repairs replaced. It makes one search in the index for each.
    static let originals = """
        original(series) AS (
            SELECT min(old_series) FROM repaired
            UNION ALL SELECT (SELECT min(old_series) FROM repaired WHERE old_series > original.series) FROM original
                WHERE original.series IS NOT NULL)
        """

    /// SQL for the samples that repairs made from those in the table `form`.
    static let nextForms = """
        SELECT r.series, r.start, r.hash FROM form CROSS JOIN repaired AS r INDEXED BY repaired_by_old
            ON (r.old_series, r.old_start, r.old_hash) = (form.series, form.start, form.hash) AND NOT r.merged
        """

    /// The readings of a series that are stored as another sample since a repair.
    func knownAliases() throws(StoreError) -> KnownReadings {
        try KnownReadings(
            """
            SELECT nominal, hash, form_start, form_hash FROM reading_alias
            WHERE series = ? AND nominal >= ? AND nominal <= ? ORDER BY nominal, hash
            """, .form, connection)
    }

    // MARK: Repairs

    /// Returns repairs in the order of a clause.
    func storedRepairs(_ clause: String, _ bindings: [Value] = []) throws(StoreError) -> [StoredRepair] {
        try connection.list(
            """
            SELECT id, ingest, repair, conditions, source, applied, state, undone, undone_by, matched, repaired, merged, already_right,
                ambiguous, impossible FROM migration \(clause)
            """, bindings
        ) {
            StoredRepair(
                id: $0.integer(0), ingest: $0.integer(1), repair: $0.text(2),
                conditions: $0.text(3), source: $0.optionalText(4), applied: $0.integer(5),
                state: $0.text(6), undone: $0.optionalInteger(7), undoneBy: $0.optionalInteger(8),
                matched: Int($0.integer(9)), repaired: Int($0.integer(10)), merged: Int($0.integer(11)),
                alreadyRight: Int($0.integer(12)), ambiguous: Int($0.integer(13)),
                impossible: Int($0.integer(14)))
        }
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

    func isApplied(_ id: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM migration WHERE id = ? AND state = 'applied'", .integer(id)) != nil
    }

    /// Adds a repair that is not undone.
    func add(_ repairID: StoredRepair) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO migration(id, ingest, repair, conditions, source, applied, state, matched, repaired, merged, already_right,
                ambiguous, impossible) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(repairID.id), .integer(repairID.ingest), .text(repairID.repair), .text(repairID.conditions),
            .optional(repairID.source), .integer(repairID.applied), .text(repairID.state), .integer(Int64(repairID.matched)),
            .integer(Int64(repairID.repaired)), .integer(Int64(repairID.merged)), .integer(Int64(repairID.alreadyRight)),
            .integer(Int64(repairID.ambiguous)), .integer(Int64(repairID.impossible)))
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
    func origin(of key: SampleKey) throws(StoreError) -> (key: SampleKey, repairID: Int64)? {
        try connection.first(
            """
            SELECT old_series, old_start, old_hash, migration FROM repaired WHERE \(SampleTable.isHere) AND NOT merged
                AND NOT \(Self.isFromNowhere)
            """, key.values
        ) { row throws(StoreError) in (try SampleKey(row, at: 0), row.integer(3)) }
    }

    /// Records how many pairs became one measurement.
    func set(joined: Int, of repairID: Int64) throws(StoreError) {
        guard joined > 0 else { return }
        try connection.run("UPDATE migration SET joined = ? WHERE id = ?", .integer(Int64(joined)), .integer(repairID))
    }

    /// Whether a repair made the sample, or merged another one into it.
    func contains(_ key: SampleKey) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM repaired WHERE \(SampleTable.isHere)", key.values)
    }

    /// Whether a repair made a sample of a series, or merged another one into it.
    func contains(series: Int64) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM repaired WHERE series = ? LIMIT 1", [.integer(series)])
    }

    /// Whether a repair replaced a sample of a series.
    func contains(originalsOfSeries series: Int64) throws(StoreError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM repaired INDEXED BY repaired_by_old WHERE old_series = ? LIMIT 1", [.integer(series)])
    }

    /// Whether the sample was made from one of a person whose data was erased.
    func isFromNowhere(_ key: SampleKey) throws(StoreError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM repaired WHERE \(SampleTable.isHere) AND \(Self.isFromNowhere)", key.values)
    }

    /// Returns the sample that an applied repair replaced this one with.
    func successor(of key: SampleKey) throws(StoreError) -> SampleKey? {
        try connection.sampleKeys(
            """
            SELECT r.series, r.start, r.hash FROM repaired AS r CROSS JOIN migration ON migration.id = r.migration
            WHERE r.old_series = ? AND r.old_start = ? AND r.old_hash = ? AND migration.state = 'applied' LIMIT 1
            """, key.values
        ).first
    }

    /// Returns the repairs that replaced a sample.
    func successors(of key: SampleKey) throws(StoreError) -> [MeasurementHistory<SampleKey>.Repaired] {
        try connection.list(
            """
            SELECT series, start, hash, merged, migration, coalesce((SELECT state = 'applied' FROM migration WHERE id = migration), 0)
            FROM repaired INDEXED BY repaired_by_old WHERE old_series = ? AND old_start = ? AND old_hash = ?
            """, key.values
        ) { row throws(StoreError) in
            .init(
                old: key, new: try SampleKey(row, at: 0), isMerged: row.integer(3) != 0, repair: row.integer(4),
                isActive: row.integer(5) != 0)
        }
    }

    /// Returns the samples that applied repairs merged into this one.
    func merged(into key: SampleKey) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT old_series, old_start, old_hash FROM repaired CROSS JOIN migration ON migration.id = repaired.migration
            WHERE \(SampleTable.isHere) AND repaired.merged AND migration.state = 'applied' AND NOT \(Self.isFromNowhere)
            """, key.values)
    }

    /// Returns the samples that a repair made.
    func forms(madeBy repairID: Int64) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            "SELECT series, start, hash FROM repaired WHERE migration = ? AND NOT merged", [.integer(repairID)])
    }

    /// Returns samples that a repair moved to another series, with those that it made, some at a time.
    func moves(by repairID: Int64, after last: SampleKey?, limit: Int) throws(StoreError) -> [(old: SampleKey, new: SampleKey)] {
        try connection.list(
            """
            SELECT old_series, old_start, old_hash, series, start, hash FROM repaired
            WHERE migration = ?1 AND NOT merged AND old_series <> series AND NOT \(Self.isFromNowhere)
                AND (series, start, hash) > (?2, ?3, ?4)
            ORDER BY series, start, hash LIMIT ?5
            """,
            [
                .integer(repairID), .integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? []),
                .integer(Int64(limit)),
            ]
        ) { row throws(StoreError) in (try SampleKey(row, at: 0), try SampleKey(row, at: 3)) }
    }

    /// Records that a repair made a sample from another one.
    func add(_ new: SampleKey, from old: SampleKey, by repairID: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO repaired(series, start, hash, migration, old_series, old_start, old_hash, merged)
            VALUES(?, ?, ?, ?, ?, ?, ?, 0)
            """, new.values + [.integer(repairID)] + old.values)
    }

    /// Records the origin of each new sample of the table `replacement`, and the identity under which its reading may arrive again.
    func addReplacements(by repairID: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO repaired(series, start, hash, migration, old_series, old_start, old_hash, merged)
            SELECT series, start, hash, ?, old_series, old_start, old_hash, arrival = 2 FROM replacement
            """, .integer(repairID))
        try connection.run(
            """
            INSERT OR IGNORE INTO reading_alias(series, nominal, hash, migration, form_start, form_hash)
            SELECT series, nominal, alias, ?, start, hash FROM replacement WHERE alias IS NOT NULL
            """, .integer(repairID))
    }

    /// Returns the samples in the table `pruned` that repairs made of others that stay, with those.
    func prunedForms() throws(StoreError) -> [(form: SampleKey, origin: SampleKey)] {
        try connection.list(
            """
            SELECT r.series, r.start, r.hash, r.old_series, r.old_start, r.old_hash FROM pruned AS p
                CROSS JOIN repaired AS r ON (r.series, r.start, r.hash) = (p.series, p.start, p.hash) AND NOT r.merged
            WHERE NOT r.\(Self.isFromNowhere)
                AND NOT EXISTS(SELECT 1 FROM pruned AS o WHERE (o.series, o.start, o.hash) = (r.old_series, r.old_start, r.old_hash))
            """
        ) { row throws(StoreError) in (try SampleKey(row, at: 0), try SampleKey(row, at: 3)) }
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
    func hasAlias(_ key: SampleKey) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM reading_alias WHERE series = ? AND nominal = ? AND hash = ?", key.values)
    }

    /// Returns the sample that a repair made of the reading that arrives with this identity, or `nil`.
    func form(ofAlias key: SampleKey) throws(StoreError) -> SampleKey? {
        try connection.first(
            "SELECT series, form_start, form_hash FROM reading_alias WHERE series = ? AND nominal = ? AND hash = ?", key.values
        ) { row throws(StoreError) in try SampleKey(row, at: 0) }
    }

    func hasAliases(series: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM reading_alias WHERE series = ? LIMIT 1", .integer(series)) != nil
    }

    func removeAliases(of repairID: Int64) throws(StoreError) {
        try connection.run("DELETE FROM reading_alias WHERE migration = ?", .integer(repairID))
    }
}
