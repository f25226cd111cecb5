import HealthModel

/// The ledger entries of a person who is erased. Entries that concern only this person are removed. Entries that also
/// concern others are kept without anything that could reveal the person.
struct ErasedLedger {
    let connection: Connection
    let subject: String
    /// The texts that identify the person.
    let words: [String]

    /// The columns that refer to ledger entries, with the column of the affected series.
    private static let traces: [(table: String, column: String, series: String)] = [
        ("change", "ingest", "series"), ("change", "cause", "series"), ("quarantine", "ingest", "series"),
        ("(SELECT j.ingest, series FROM judgement AS j JOIN quarantine ON quarantine.id = held)", "ingest", "series"),
        ("deleted", "ingest", "series"), ("decided", "ingest", "series"), ("decision", "ingest", "of_series"),
        ("decision", "merge", "of_series"), ("link", "ingest", "series"),
    ]

    /// The difference between the number of samples in the ledger and in the store. It is 0 in a consistent store.
    func balance() throws(StoreError) -> Int64 {
        try connection.integer(
            """
            SELECT coalesce((SELECT sum(stored) FROM ingest), 0) + coalesce((SELECT value FROM setting WHERE name = 'accepted'), 0)
                - coalesce((SELECT value FROM setting WHERE name = 'forgotten'), 0)
                - (SELECT count(*) FROM sample) - (SELECT count(*) FROM deleted WHERE NOT forgotten)
            """) ?? 0
    }

    /// Collects the entries that concern the person.
    func note() throws(StoreError) {
        try connection.execute(
            "DROP TABLE IF EXISTS temp.touched_ingest; CREATE TEMP TABLE touched_ingest(id INTEGER PRIMARY KEY)")
        for (table, column, series) in Self.traces {
            try connection.run(
                """
                INSERT OR IGNORE INTO touched_ingest SELECT \(column) FROM \(table)
                WHERE \(series) IN (SELECT id FROM gone_series) AND \(column) IS NOT NULL
                """)
        }
        try connection.run(
            "INSERT OR IGNORE INTO touched_ingest SELECT ingest FROM characteristic WHERE subject = ? AND ingest IS NOT NULL",
            .text(subject))
        try connection.run(
            """
            INSERT OR IGNORE INTO touched_ingest SELECT ingest FROM migration WHERE id IN (SELECT id FROM touched_migration)
            UNION SELECT undone_by FROM migration WHERE id IN (SELECT id FROM touched_migration) AND undone_by IS NOT NULL
            """)
        try connection.run(
            """
            INSERT OR IGNORE INTO touched_ingest SELECT change.ingest FROM gone CROSS JOIN change ON change.series = gone.series
                AND gone.start BETWEEN low AND high
            """)
        // Another import of the same file may have added no rows, but it concerns the person too. So do entries that
        // name the person.
        try connection.run(
            """
            INSERT OR IGNORE INTO touched_ingest SELECT ingest.id FROM ingest JOIN ingest AS other ON other.name = ingest.name
                AND other.kind = ingest.kind WHERE other.id IN (SELECT id FROM touched_ingest) AND ingest.kind = 'import'
            """)
        for word in words {
            try connection.run(
                "INSERT OR IGNORE INTO touched_ingest SELECT id FROM ingest WHERE instr(lower(name), lower(?1)) > 0 OR instr(notes, ?1) > 0",
                .text(word))
        }
    }

    /// Removes the entries to which no row refers any more. Call this after the person's rows are removed.
    func finish(balance: Int64) throws(StoreError) {
        let traces =
            Self.traces.map { "SELECT \($0.column) FROM \($0.table) WHERE \($0.column) IS NOT NULL" } + [
                "SELECT ingest FROM characteristic WHERE ingest IS NOT NULL", "SELECT ingest FROM migration",
                "SELECT undone_by FROM migration WHERE undone_by IS NOT NULL",
            ]
        try connection.execute("DROP TABLE IF EXISTS temp.gone_ingest; CREATE TEMP TABLE gone_ingest(id INTEGER PRIMARY KEY)")
        try connection.run(
            """
            INSERT INTO gone_ingest SELECT id FROM touched_ingest WHERE id NOT IN (\(traces.joined(separator: " UNION ")))
            """)
        // Keep an entry that another entry undid, because it explains what that entry did.
        while true {
            try connection.run(
                """
                DELETE FROM gone_ingest WHERE id IN
                    (SELECT undoes FROM ingest WHERE undoes IS NOT NULL AND id NOT IN (SELECT id FROM gone_ingest))
                """)
            if connection.changes == 0 { break }
        }
        for table in ["refused", "skipped"] {
            try connection.run("DELETE FROM \(table) WHERE ingest IN (SELECT id FROM gone_ingest)")
        }
        try connection.run("DELETE FROM ingest WHERE id IN (SELECT id FROM gone_ingest)")
        try blank()
        // Count removed samples as forgotten, like pruned ones.
        let surplus = try self.balance() - balance
        try connection.run(
            "INSERT INTO setting VALUES('forgotten', ?) ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
            .integer(surplus))
    }

    /// Removes personal details from entries that also concern others.
    private func blank() throws(StoreError) {
        let shared = "(SELECT id FROM touched_ingest)"
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
