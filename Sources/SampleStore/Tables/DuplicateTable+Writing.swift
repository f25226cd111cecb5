import HealthModel

/// Changes to the duplicates. Used inside a transaction.
extension DuplicateTable {
    /// Returns the id of a decision. Duplicates of one import share it if they have the same original series, rule, and merge.
    func decision(of ingest: Int64, _ series: Int64, rule: String, merge: Int64?) throws(StoreError) -> Int64 {
        let facts: [Value] = [.integer(ingest), .integer(series), .text(rule), .optional(merge)]
        let known = try connection.first(
            "SELECT id FROM decision WHERE ingest = ? AND of_series = ? AND rule = ? AND merge IS ?", facts
        ) { $0.integer(0) }
        if let known { return known }
        try connection.run("INSERT INTO decision(ingest, of_series, rule, merge) VALUES(?, ?, ?, ?)", facts)
        return connection.lastInsertedRow
    }

    /// Adds the rows of the table `batch`.
    func addBatch() throws(StoreError) {
        try connection.run(
            """
            INSERT INTO witness_row(\(SampleTable.columns), decision, of_start, of_hash)
            SELECT \(SampleTable.columns), decision, of_start, of_hash FROM batch
            """)
    }

    /// Adds a sample or tombstone as a duplicate of another one, instead of what it was a duplicate of before. The sample stays.
    func add(_ sample: SampleKey, of first: SampleKey, decision: Int64) throws(StoreError) {
        for rows in [SampleTable.Rows.live, .tombstones] {
            try connection.run(
                """
                INSERT OR REPLACE INTO witness_row(\(SampleTable.columns), decision, of_start, of_hash)
                SELECT \(SampleTable.columns), ?, ?, ? FROM \(rows.rawValue) WHERE \(SampleTable.isHere)\(rows.isRemembered)
                """, [.integer(decision), .integer(first.start), .blob(first.hash)] + sample.values)
        }
    }

    /// Makes another sample the original of a duplicate.
    func set(first: SampleKey, of key: SampleKey) throws(StoreError) {
        guard let own = try duplicate(at: key) else { return }
        let decision = try decision(of: own.ingest, first.series, rule: own.rule, merge: own.merge)
        try connection.run(
            "UPDATE witness_row SET decision = ?, of_start = ?, of_hash = ? WHERE \(SampleTable.isHere)",
            [.integer(decision), .integer(first.start), .blob(first.hash)] + key.values)
    }

    func remove(_ key: SampleKey) throws(StoreError) {
        try connection.run("DELETE FROM witness_row WHERE \(SampleTable.isHere)", key.values)
    }

    func removeDecisions(of ingest: Int64) throws(StoreError) {
        try connection.run("DELETE FROM decision WHERE ingest = ?", .integer(ingest))
    }

    /// Adds a link between a row that is about to be stored and a sample of another device.
    func link(_ key: SampleKey, with other: SampleKey, rule: String, by ingest: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT OR IGNORE INTO link(series, start, hash, of_series, of_start, of_hash, rule, ingest) VALUES(?, ?, ?, ?, ?, ?, ?, ?)
            """, key.values + other.values + [.text(rule), .integer(ingest)])
    }

    /// Removes the duplicates and links of the rows in the table `pruned`, and the duplicates of a duplicate that is not a sample: it may be
    /// the original of a lower version.
    func removePruned() throws(StoreError) {
        let pruned = "(SELECT series, start, hash FROM pruned)"
        try connection.run(
            "DELETE FROM link WHERE (series, start, hash) IN \(pruned) OR (of_series, of_start, of_hash) IN \(pruned)")
        try connection.run("DELETE FROM witness_row WHERE (series, start, hash) IN \(pruned)")
        var (originals, generation) = ("live < 2", Int64(2))
        while true {
            try connection.run(
                """
                INSERT OR IGNORE INTO pruned SELECT series, start, hash, start, 0, \(generation), 0
                FROM (\(Self.selectDuplicates(in: "(SELECT series, start, hash FROM pruned WHERE \(originals))")))
                """)
            guard connection.changes > 0 else { break }
            originals = "live = \(generation)"
            try connection.run(
                "DELETE FROM witness_row WHERE (series, start, hash) IN (SELECT series, start, hash FROM pruned WHERE \(originals))"
            )
            try connection.samples.keepPrunedDuplicates()
            generation += 1
        }
    }
}
