import HealthModel

/// The repairs that concern a person who is erased. A repair may have moved a measurement from one person to another.
///
/// A measurement belongs to its latest owner. Erasing that person also removes its earlier forms. Samples that now
/// belong to others are kept without their history.
struct ErasedRepairs {
    let connection: Connection
    /// The texts that identify the person.
    let words: [String]

    private static let isNew =
        "(r.series IN (SELECT id FROM gone_series) OR (r.series, r.start, r.hash) IN (SELECT series, start, hash FROM gone))"
    private static let isOld = """
        (r.old_series IN (SELECT id FROM gone_series)
            OR (r.old_series, r.old_start, r.old_hash) IN (SELECT series, start, hash FROM gone))
        """

    /// Marks the affected rows of others: the originals of the person's samples, undone repairs of them, and repaired forms that are no
    /// samples.
    func markOfOthers() throws(StoreError) {
        for _ in 0..<RepairTable.maximumChainLength {
            var count = 0
            try connection.run(
                """
                INSERT OR IGNORE INTO gone SELECT d.series, d.start, d.hash FROM repaired AS r
                    CROSS JOIN migration AS m ON m.id = r.migration AND m.state = 'applied'
                    CROSS JOIN deleted AS d ON (d.series, d.start, d.hash) = (r.old_series, r.old_start, r.old_hash)
                WHERE \(Self.isNew) AND d.replaced_by IS NOT NULL AND d.series NOT IN (SELECT id FROM gone_series)
                """)
            count += connection.changes
            try connection.run(
                """
                INSERT OR IGNORE INTO gone SELECT d.series, d.start, d.hash FROM repaired AS r
                    CROSS JOIN migration AS m ON m.id = r.migration AND m.state <> 'applied'
                    CROSS JOIN deleted AS d ON (d.series, d.start, d.hash) = (r.series, r.start, r.hash)
                WHERE \(Self.isOld) AND NOT r.merged AND d.series NOT IN (SELECT id FROM gone_series)
                """)
            count += connection.changes
            // A repaired form that is represented by another report of its measurement.
            try connection.run(
                """
                INSERT OR IGNORE INTO gone SELECT d.series, d.start, d.hash FROM repaired AS r
                    CROSS JOIN migration AS m ON m.id = r.migration AND m.state = 'applied'
                    CROSS JOIN deleted AS d ON (d.series, d.start, d.hash) = (r.series, r.start, r.hash)
                WHERE \(Self.isOld) AND NOT r.merged AND d.replaced_by IS NOT NULL AND d.series NOT IN (SELECT id FROM gone_series)
                    AND NOT EXISTS(SELECT 1 FROM repaired AS next CROSS JOIN migration AS n ON n.id = next.migration AND n.state = 'applied'
                        WHERE (next.old_series, next.old_start, next.old_hash) = (d.series, d.start, d.hash))
                """)
            count += connection.changes
            if count == 0 { return }
        }
    }

    /// Whether the row at a place will be erased.
    func isDeleted(_ key: SampleKey) throws(StoreError) -> Bool {
        try connection.integer(
            """
            SELECT 1 FROM gone_series WHERE id = ?1
            UNION ALL SELECT 1 FROM gone WHERE series = ?1 AND start = ?2 AND hash = ?3
            """, .integer(key.series), .integer(key.start), .blob(key.hash)) != nil
    }

    /// Collects the repairs that concern or name the person.
    func note() throws(StoreError) {
        try connection.execute(
            "DROP TABLE IF EXISTS temp.touched_migration; CREATE TEMP TABLE touched_migration(id INTEGER PRIMARY KEY)")
        try connection.run(
            "INSERT OR IGNORE INTO touched_migration SELECT r.migration FROM repaired AS r WHERE \(Self.isNew) OR \(Self.isOld)")
        for word in words {
            try connection.run(
                "INSERT OR IGNORE INTO touched_migration SELECT id FROM migration WHERE instr(conditions, ?1) > 0 OR instr(repair, ?1) > 0",
                .text(word))
        }
    }

    /// Removes the links between the person's samples and those of others, in both directions.
    func detach() throws(StoreError) {
        let statement = try Statement(
            connection,
            """
            SELECT series, start, hash, replaced_by FROM deleted AS r
            WHERE replaced_by IS NOT NULL AND NOT \(Self.isNew)
            """)
        var keys: [SampleKey] = []
        while try statement.step() {
            guard let uuid = SampleIdentity(statement.text(3)) else { continue }
            for key in try connection.samples.keys(of: uuid) where try isDeleted(key) {
                try keys.append(SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)))
            }
        }
        let table = connection.samples
        for key in keys { try table.forgetSuccessor(of: key) }
        // A decision about a repaired form is about the reading, which may stay.
        for pair in try pairs(Self.isNew) {
            let root = try connection.repairs.root(of: pair.old)
            if try !isDeleted(root) { try connection.decisions.move(from: pair.new, to: root) }
        }
        // A sample that stays is a version of the record that it was reported as.
        for pair in try pairs("\(Self.isOld) AND NOT \(Self.isNew)") {
            try connection.records.move(from: connection.repairs.root(of: pair.old), to: pair.new)
        }
        try connection.run("DELETE FROM repaired AS r WHERE \(Self.isNew)")
        // A merged sample already existed before the repair and needs no origin.
        try connection.run("DELETE FROM repaired AS r WHERE \(Self.isOld) AND r.merged")
        try connection.run("UPDATE OR REPLACE repaired AS r SET \(RepairTable.nowhere) WHERE \(Self.isOld)")
    }

    /// Returns the samples that repairs made, with those that they replaced.
    private func pairs(_ condition: String) throws(StoreError) -> [(old: SampleKey, new: SampleKey)] {
        try connection.list(
            """
            SELECT old_series, old_start, old_hash, series, start, hash FROM repaired AS r
            WHERE NOT merged AND NOT \(RepairTable.isFromNowhere) AND \(condition)
            """
        ) { row throws(StoreError) in (try SampleKey(row, at: 0), try SampleKey(row, at: 3)) }
    }

    /// Removes the collected repairs that have no samples left, and updates the counts of the others.
    func finish() throws(StoreError) {
        let removed = "(SELECT id FROM touched_migration WHERE id NOT IN (SELECT migration FROM repaired))"
        try connection.run("DELETE FROM reading_alias WHERE migration IN \(removed)")
        try connection.run("DELETE FROM migration WHERE id IN \(removed)")
        let left = "id IN (SELECT id FROM touched_migration)"
        try connection.run(
            """
            UPDATE migration SET repaired = (SELECT count(*) FROM repaired AS r WHERE r.migration = migration.id AND NOT r.merged),
                merged = (SELECT count(*) FROM repaired AS r WHERE r.migration = migration.id AND r.merged),
                joined = (SELECT count(*) FROM witness_row CROSS JOIN decision ON decision.id = decision WHERE merge = migration.ingest)
            WHERE \(left)
            """)
        // Conditions may contain samples or text that a person wrote.
        for word in words + ["\"samples\":"] {
            try connection.run("UPDATE migration SET conditions = '{}' WHERE instr(conditions, ?) > 0 AND \(left)", .text(word))
        }
        try connection.run(
            "UPDATE migration SET matched = repaired + merged + already_right + ambiguous + impossible WHERE \(left)")
        // Keep the ledger entry of an applied repair consistent with the repair.
        let stored = """
            (SELECT count(*) FROM change JOIN (SELECT series, start, seq FROM sample UNION ALL SELECT series, start, seq FROM deleted) AS s
                ON s.series = change.series AND s.start BETWEEN low AND high AND s.seq BETWEEN first_seq AND last_seq
             WHERE change.ingest = ingest.id AND NOT deletion)
            """
        try connection.run(
            """
            UPDATE ingest SET stored = min(\(stored), m.repaired), restored = m.repaired - min(\(stored), m.repaired),
                deleted = m.repaired + m.merged + m.joined
            FROM migration AS m WHERE m.ingest = ingest.id AND m.state = 'applied' AND m.\(left)
            """)
    }
}
