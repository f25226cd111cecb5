import HealthModel

/// What the ledger has of a person who is erased. Entries of what was theirs alone go; entries of what was others' as well stay, and lose what may
/// say something of the person.
struct ErasedLedger {
    let connection: Connection
    let subject: String
    /// By which texts name the person.
    let words: [String]

    /// Every row that an entry of the ledger left, by the entry's number.
    private static let traces: [(table: String, column: String, series: String)] = [
        ("change", "ingest", "series"), ("change", "cause", "series"), ("quarantine", "ingest", "series"),
        ("(SELECT j.ingest, series FROM judgement AS j JOIN quarantine ON quarantine.id = held)", "ingest", "series"),
        ("deleted", "ingest", "series"), ("decided", "ingest", "series"), ("decision", "ingest", "of_series"),
        ("decision", "merge", "of_series"), ("link", "ingest", "series"),
    ]

    /// How many samples more the ledger counts than there are: nothing, in a sound store.
    func balance() throws(StoreError) -> Int64 {
        try connection.integer(
            """
            SELECT coalesce((SELECT sum(stored) FROM ingest), 0) + coalesce((SELECT value FROM setting WHERE name = 'accepted'), 0)
                - coalesce((SELECT value FROM setting WHERE name = 'forgotten'), 0)
                - (SELECT count(*) FROM sample) - (SELECT count(*) FROM deleted WHERE NOT forgotten)
            """) ?? 0
    }

    /// Notes the entries that left something of the person.
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
        // The same file once more left no row, and is the person's as well; so is what names them.
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

    /// Removes the entries of which nothing is left, once the person's rows are gone.
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
        // What another entry undid is needed to tell what that one did.
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
        // What was counted and is gone is counted as forgotten, as what is pruned.
        let surplus = try self.balance() - balance
        try connection.run(
            "INSERT INTO setting VALUES('forgotten', ?) ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
            .integer(surplus))
    }

    /// What entries say that were others' as well.
    private func blank() throws(StoreError) {
        let shared = "(SELECT id FROM touched_ingest)"
        // Reasons may quote what was refused, and nobody can tell whose that was.
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
