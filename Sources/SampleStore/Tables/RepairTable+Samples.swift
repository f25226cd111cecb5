import HealthModel

/// Statements that join the repairs with the samples that they replaced or made.
extension RepairTable {
    /// Calls `body` with each pair of samples of a repair.
    func forEachPair(of repairID: Int64, _ body: (RepairedPair) throws -> Void) throws {
        let skews = try connection.statement("SELECT skew FROM context WHERE id = ?")
        defer { skews.reset() }
        let statement = try Statement(
            connection,
            """
            SELECT r.start, r.hash, r.old_start, r.old_hash, r.merged,
                coalesce((SELECT context FROM sample AS s WHERE (s.series, s.start, s.hash) = (r.series, r.start, r.hash)),
                    (SELECT context FROM deleted AS d WHERE (d.series, d.start, d.hash) = (r.series, r.start, r.hash))),
                coalesce((SELECT context FROM deleted AS d WHERE (d.series, d.start, d.hash) = (r.old_series, r.old_start, r.old_hash)),
                    (SELECT context FROM sample AS s WHERE (s.series, s.start, s.hash) = (r.old_series, r.old_start, r.old_hash)))
            FROM repaired AS r WHERE migration = ? ORDER BY series, start, hash
            """)
        try statement.bind([.integer(repairID)])
        func uuid(_ start: Int32, _ context: Int32) throws(StoreError) -> SampleIdentity {
            skews.reset()
            try skews.bind([.integer(statement.integer(context))])
            let skew = try skews.step() ? skews.integer(0) : 0
            let hash = try HashBytes.read(statement.blob(start + 1))
            return SampleIdentity(nominalStart: statement.integer(start) &+ skew, high: hash.high, low: hash.low)
        }
        while try statement.step() {
            try body(RepairedPair(old: try uuid(2, 6), new: try uuid(0, 5), isMerged: statement.integer(4) != 0))
        }
    }

    // MARK: Undoing a repair

    /// SQL for the pairs of the repair `?1` after a pair, whose old sample is a tombstone and whose new sample is live.
    static let undonePairs = """
        SELECT r.series, r.start, r.hash, r.old_series, r.old_start, r.old_hash, r.merged, d.seq, c.skew
        FROM repaired AS r CROSS JOIN deleted AS d
            ON d.series = r.old_series AND d.start = r.old_start AND d.hash = r.old_hash AND NOT d.forgotten
            CROSS JOIN context AS c ON c.id = d.context
        WHERE r.migration = ?1 AND (r.series, r.start, r.hash, r.old_series, r.old_start, r.old_hash) > (?2, ?3, ?4, ?5, ?6, ?7)
            AND (r.merged OR EXISTS(SELECT 1 FROM sample AS s WHERE s.series = r.series AND s.start = r.start AND s.hash = r.hash))
            AND d.replaced_by IS NOT NULL
        ORDER BY r.series, r.start, r.hash, r.old_series, r.old_start, r.old_hash
        """

    /// Returns the pairs of a repair whose new sample another entry than `ingest` deleted, with the UUID of the old one.
    func deletedPairs(of repairID: Int64, except ingest: Int64) throws(StoreError) -> [(
        new: SampleKey, old: SampleKey, uuid: SampleIdentity
    )] {
        let statement = try connection.statement(
            """
            SELECT r.series, r.start, r.hash, r.old_series, r.old_start, r.old_hash, c.skew
            FROM repaired AS r CROSS JOIN deleted AS new ON (new.series, new.start, new.hash) = (r.series, r.start, r.hash)
                CROSS JOIN deleted AS old ON (old.series, old.start, old.hash) = (r.old_series, r.old_start, r.old_hash)
                JOIN context AS c ON c.id = old.context
            WHERE r.migration = ? AND NOT r.merged AND NOT new.forgotten AND NOT old.forgotten AND old.replaced_by IS NOT NULL
                AND new.ingest <> ?
            """)
        defer { statement.reset() }
        try statement.bind([.integer(repairID), .integer(ingest)])
        var pairs: [(new: SampleKey, old: SampleKey, uuid: SampleIdentity)] = []
        while try statement.step() {
            let new = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
            let old = try SampleKey(series: statement.integer(3), start: statement.integer(4), hash: statement.blob(5))
            pairs.append((new, old, old.identity(skew: statement.integer(6))))
        }
        return pairs
    }

    /// Returns the last applied repair that changed samples of a repair again.
    func later(than repairID: Int64) throws(StoreError) -> Int64? {
        try last(
            """
            SELECT max(later.id) FROM repaired AS r
                CROSS JOIN repaired AS again ON (again.old_series, again.old_start, again.old_hash) = (r.series, r.start, r.hash)
                JOIN migration AS later ON later.id = again.migration
            WHERE r.migration = ?1 AND later.id <> ?1 AND later.state = 'applied'
            """, repairID)
    }

    /// Returns another repair that made a sample of a reading that a repair replaced.
    func another(than repairID: Int64) throws(StoreError) -> Int64? {
        try last(
            """
            SELECT max(a.migration) FROM repaired AS r
                CROSS JOIN reading_alias AS a ON (a.series, a.nominal, a.hash) = (r.old_series, r.old_start, r.old_hash)
                CROSS JOIN deleted AS d ON (d.series, d.start, d.hash) = (r.old_series, r.old_start, r.old_hash)
                JOIN context ON context.id = d.context
            WHERE r.migration = ?1 AND a.migration <> ?1 AND context.skew = 0 AND NOT d.forgotten
            """, repairID)
    }

    /// Whether samples that a repair replaced were erased.
    func isErased(_ repairID: Int64) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM repaired WHERE migration = ? AND \(Self.isFromNowhere) LIMIT 1", .integer(repairID)) != nil
    }

    /// Returns the last merge that is not undone and made duplicates of samples of a repair. Those that the repair merged itself do not count.
    func merge(withSamplesOf repairID: Int64) throws(StoreError) -> Int64? {
        try last(
            """
            SELECT max(merge) FROM decision CROSS JOIN witness_row AS w ON w.decision = decision.id
                CROSS JOIN repaired AS r ON (r.series, r.start, r.hash) = (decision.of_series, w.of_start, w.of_hash)
            WHERE merge <> (SELECT ingest FROM migration WHERE id = r.migration) AND r.migration = ? AND \(LedgerTable.state(of: "merge")) <> 'undone'
            """, repairID)
    }

    /// Returns the last applied repair that replaced samples of an entry of the ledger.
    func last(ofSamplesIngestedBy ingest: Int64) throws(StoreError) -> Int64? {
        try last(
            """
            SELECT max(migration.id) FROM change CROSS JOIN deleted ON deleted.series = change.series
                AND deleted.start BETWEEN low AND high AND deleted.seq BETWEEN first_seq AND last_seq
                CROSS JOIN repaired AS r ON (r.old_series, r.old_start, r.old_hash) = (deleted.series, deleted.start, deleted.hash)
                JOIN migration ON migration.id = r.migration
            WHERE change.ingest = ? AND NOT deletion AND migration.state = 'applied' AND NOT forgotten
            """, ingest)
    }

    private func last(_ sql: String, _ id: Int64) throws(StoreError) -> Int64? {
        let last = try connection.integer(sql, .integer(id))
        return last == 0 ? nil : last
    }
}
