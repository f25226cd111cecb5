import HealthModel

/// Operations on many rows, with statements over a batch.
extension SampleTable {
    /// Adds the rows of a batch in the order of their starts. Rows of one frame keep their order.
    ///
    /// - Parameters:
    ///   - text: The text that contains the rows' numerals.
    ///   - ingest: The ingest that brings them.
    func add(_ groups: [SeriesRows], text: [UInt8], through batch: BatchTable, by ingest: Int64) throws {
        var rows: [SampleRow] = []
        let changes = ChangeLog(connection: connection, cause: ingest)
        var number = try lastNumber()
        var skewed = false
        for group in groups.sorted(by: { $0.series < $1.series }) where !group.rows.isEmpty {
            // Rows with the same start are numbered in the order of arrival, because the intervals of one frame have the same start.
            group.rows.sortIfNeeded { ($0.start, $0.index) < ($1.start, $1.index) }
            var maximumDuration = SeriesTable.DurationMaximum()
            for index in group.rows.indices {
                number += 1
                group.rows[index].seq = number
                maximumDuration.add(group.rows[index].start, group.rows[index].duration)
                if group.rows[index].nominal != group.rows[index].start { skewed = true }
            }
            try connection.series.lengthen(group.series, to: maximumDuration)
            try changes.add(
                series: group.series, group.rows.lazy.map { ChangeLog.Place(start: $0.start, seq: $0.seq) }, ingest: ingest)
            rows.append(contentsOf: group.rows)
        }
        guard !rows.isEmpty else { return }
        try batch.with(rows: rows, text: text) {
            try connection.run("INSERT INTO sample(\(Self.columns), seq) SELECT \(Self.columns), seq FROM batch")
            if skewed { try addPlacesOfBatch(mayBeThere: false) }
        }
        for group in groups {
            guard let first = group.rows.first, let last = group.rows.last else { continue }
            try connection.grants.addObjects(of: group.series, first.start...last.start, from: first.seq)
        }
        try setLast(number: number)
    }

    /// Adds the nominal starts of the batch's rows to the table `key` if they differ from the starts.
    ///
    /// - Parameter mayBeThere: Whether existing entries are ignored, for example those of a withdrawn witness.
    func addPlacesOfBatch(mayBeThere: Bool) throws(StoreError) {
        try connection.run(
            """
            INSERT \(mayBeThere ? "OR IGNORE" : "") INTO place(series, nominal, hash, start)
            SELECT series, nominal, hash, start FROM batch WHERE nominal <> start
            """)
    }

    /// Turns the samples that the table `replacement` replaces into tombstones with the UUIDs of their successors. The caller updates the
    /// numbers and the change log.
    func tombstoneReplaced(by ingest: Int64) throws(StoreError) {
        let columns = Self.columns.split(separator: ", ").map { "sample.\($0)" }.joined(separator: ", ")
        try connection.run(
            """
            INSERT OR REPLACE INTO deleted(\(Self.columns), seq, deleted_seq, ingest, replaced_by, forgotten)
            SELECT \(columns), sample.seq, old_seq, ?, uuid, 0
            FROM replacement AS r CROSS JOIN sample
                ON sample.series = old_series AND sample.start = old_start AND sample.hash = old_hash
            WHERE leaves
            """, .integer(ingest))
        try connection.run(
            """
            DELETE FROM sample WHERE (series, start, hash) IN (SELECT old_series, old_start, old_hash FROM replacement WHERE leaves)
            """)
    }

    /// Adds the samples that the table `replacement` brings: new rows and restored tombstones. The caller updates the numbers and the
    /// change log.
    func addReplacements() throws(StoreError) {
        try connection.run(
            "INSERT INTO sample(\(Self.columns), seq) SELECT \(Self.columns), seq FROM replacement WHERE arrival = 0")
        let columns = Self.columns.split(separator: ", ").map { "d.\($0)" }.joined(separator: ", ")
        try connection.run(
            """
            INSERT INTO sample(\(Self.columns), seq)
            SELECT \(columns), r.seq
            FROM replacement AS r CROSS JOIN deleted AS d ON d.series = r.series AND d.start = r.start AND d.hash = r.hash
            WHERE r.arrival = 1 AND NOT d.forgotten
            """)
        try connection.run(
            """
            DELETE FROM deleted WHERE (series, start, hash) IN (SELECT series, start, hash FROM replacement WHERE arrival = 1)
            """)
        let added = try connection.statement(
            "SELECT series, min(start), max(start), min(seq) FROM replacement WHERE arrival IN (0, 1) GROUP BY series")
        defer { added.reset() }
        while try added.step() {
            try connection.grants.addObjects(of: added.integer(0), added.integer(1)...added.integer(2), from: added.integer(3))
        }
    }

    /// The next tombstones of samples that an ingest brought, sorted by place. Forgotten ones are not among them.
    func tombstones(ingestedBy ingest: Int64, after last: SampleKey?, limit: Int) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT series, start, hash FROM deleted WHERE (series, start, hash) > (?1, ?2, ?3) AND \(Self.isTombstone(ingestedBy: "?4"))
            ORDER BY series, start, hash LIMIT ?5
            """,
            [
                .integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? []), .integer(ingest),
                .integer(Int64(limit)),
            ])
    }

    /// Marks tombstones as forgotten, so that the same samples can be stored again, and returns their number.
    func forget(_ keys: [SampleKey]) throws(StoreError) -> Int {
        var count = 0
        for key in keys {
            try connection.run(
                """
                DELETE FROM place WHERE (series, nominal, hash) IN (SELECT series, start + c.skew, hash FROM deleted
                    CROSS JOIN context AS c ON c.id = context WHERE (series, start, hash) = (?, ?, ?) AND c.skew <> 0)
                """, key.values)
            try connection.records.remove(key)
            try connection.decisions.remove(key)
            try connection.derived.remove(key)
            try connection.run(
                "UPDATE deleted SET forgotten = 1 WHERE (series, start, hash) = (?, ?, ?) AND NOT forgotten", key.values)
            count += connection.changes
        }
        return count
    }

    /// Returns the first start and the last end of a series' live samples in the table `pruned`, or `nil` if it contains none.
    func prunedBounds(of series: Int64) throws(StoreError) -> (low: Int64, high: Int64)? {
        try connection.first(
            """
            SELECT min(p.start), max(p.start + coalesce(s.duration, 0)) FROM pruned AS p CROSS JOIN sample AS s
            ON (s.series, s.start, s.hash) = (p.series, p.start, p.hash) WHERE p.series = ? AND p.live HAVING count(*) > 0
            """, [.integer(series)]
        ) { ($0.integer(0), $0.integer(1)) }
    }

    /// Removes those duplicates from the table `pruned` that are or were samples, which stay.
    func keepPrunedDuplicates() throws(StoreError) {
        try connection.run(
            """
            DELETE FROM pruned AS p WHERE live > 1 AND (EXISTS(SELECT 1 FROM sample AS s WHERE (s.series, s.start, s.hash) = (p.series, p.start, p.hash))
                OR EXISTS(SELECT 1 FROM deleted AS s WHERE (s.series, s.start, s.hash) = (p.series, p.start, p.hash)))
            """)
    }

    /// Permanently removes the rows named in the table `pruned`, live samples and tombstones. The caller updates the numbers and the change
    /// log.
    func removePruned() throws(StoreError) {
        try connection.run(
            "DELETE FROM place WHERE (series, nominal, hash) IN (SELECT series, nominal, hash FROM pruned WHERE nominal <> start)"
        )
        for (table, live) in [("sample", 1), ("deleted", 0)] {
            try connection.run(
                "DELETE FROM \(table) WHERE (series, start, hash) IN (SELECT series, start, hash FROM pruned WHERE live = \(live))"
            )
        }
    }

    /// Removes the `key` entries of duplicates that are not samples.
    func forgetPlaces(ofDuplicates keys: [SampleKey]) throws(StoreError) {
        for key in keys where try !contains(key) {
            try connection.run(
                """
                DELETE FROM place WHERE (series, nominal, hash) IN (SELECT series, start + c.skew, hash FROM witness_row
                    CROSS JOIN context AS c ON c.id = context WHERE (series, start, hash) = (?, ?, ?) AND c.skew <> 0)
                """, .integer(key.series), .integer(key.start), .blob(key.hash))
        }
    }
}
