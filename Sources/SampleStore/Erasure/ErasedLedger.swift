import HealthModel

/// The ledger entries of a person who is erased. Entries that concern only this person are removed. Entries that also
/// concern others are kept without anything that could reveal the person.
struct ErasedLedger {
    let connection: Connection
    let person: String
    /// The texts that identify the person.
    let words: [String]

    /// The columns that refer to ledger entries, with the column of the affected series.
    private static let traces: [(table: String, column: String, series: String)] = [
        ("change", "ingest", "series"), ("change", "cause", "series"), ("quarantine", "ingest", "series"),
        (QuarantineTable.judges, "ingest", "series"),
        ("deleted", "ingest", "series"), ("decided", "ingest", "series"), ("decision", "ingest", "of_series"),
        ("decision", "merge", "of_series"), ("link", "ingest", "series"), (RecordTable.makers, "entry", "series"),
    ]

    /// The difference between the number of samples in the ledger and in the store. It is 0 in a consistent store.
    func balance() throws(StoreError) -> Int64 {
        let rest = try connection.integer(
            """
            SELECT coalesce(\(SettingTable.value("accepted")), 0) - coalesce(\(SettingTable.value("forgotten")), 0)
                - (SELECT count(*) FROM sample) - (SELECT count(*) FROM deleted WHERE NOT forgotten)
            """)
        return try connection.ledger.storedSum() + (rest ?? 0)
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
            .text(person))
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
        try connection.run("INSERT OR IGNORE INTO touched_ingest \(LedgerTable.imports(ofFilesIn: "touched_ingest"))")
        for word in words { try connection.run("INSERT OR IGNORE INTO touched_ingest \(LedgerTable.naming)", .text(word)) }
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
            try connection.run("DELETE FROM gone_ingest WHERE id IN (\(LedgerTable.undone(byOthersThan: "gone_ingest")))")
            if connection.changes == 0 { break }
        }
        try connection.ledger.removeAll(in: "gone_ingest")
        // Remove personal details from entries that also concern others.
        try connection.ledger.blank("touched_ingest", words: words)
        // Count removed samples as forgotten, like pruned ones.
        try connection.settings.add(self.balance() - balance, to: "forgotten")
    }
}
