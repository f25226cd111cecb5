import HealthModel

/// The table `decided`: the decisions of ledger entries that samples are deleted or restored.
struct DecisionTable {
    let connection: Connection

    typealias Kind = MeasurementHistory<SampleKey>.Decision.Kind

    /// Whether there is no decision at all.
    var isEmpty: Bool {
        get throws(StoreError) { try !connection.exists("SELECT 1 FROM decided LIMIT 1") }
    }

    /// Whether there are decisions about samples of a series.
    func contains(series: Int64) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM decided WHERE series = ? LIMIT 1", [.integer(series)])
    }

    /// Returns the decisions about a sample that this version knows, with their ledger entries.
    func decisions(on key: SampleKey) throws(StoreError) -> [(entry: Int64, kind: Kind)] {
        try connection.list("SELECT ingest, what FROM decided WHERE \(SampleTable.isHere)", key.values) {
            (entry: $0.integer(0), kind: Kind(rawValue: $0.integer(1)))
        }.compactMap { decision in decision.kind.map { (decision.entry, $0) } }
    }

    /// Whether an entry decided that a sample is restored.
    func isRestored(_ key: SampleKey) throws(StoreError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM decided WHERE \(SampleTable.isHere) AND what = ? LIMIT 1",
            key.values + [.integer(Kind.restored.rawValue)])
    }

    /// Returns the next samples of a series in a time range that an entry decided about, sorted by key.
    func keys(
        decidedBy entry: Int64, in series: Int64, from low: Int64, through high: Int64, after last: SampleKey?, limit: Int
    ) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT series, start, hash FROM decided WHERE series = ?1 AND (start, hash) > (?2, ?3) AND start <= ?4 AND ingest = ?5
            ORDER BY start, hash LIMIT \(limit)
            """,
            [.integer(series), .integer(last?.start ?? low), .blob(last?.hash ?? []), .integer(high), .integer(entry)])
    }

    /// Returns the next samples that an entry decided about, sorted by key. This reads the decisions of all entries.
    func keys(decidedBy entry: Int64, after last: SampleKey?, limit: Int) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT series, start, hash FROM decided WHERE (series, start, hash) > (?1, ?2, ?3) AND ingest = ?4
            ORDER BY series, start, hash LIMIT \(limit)
            """,
            [.integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? []), .integer(entry)])
    }

    /// Whether a decision was ever applied to another sample than the one that it was about.
    var hasMoved: Bool {
        get throws(StoreError) { try connection.settings.integer("movedDecisions") != nil }
    }

    /// Returns the last 10,000 samples of a person that an entry decided to delete, with the last such entry, newest first.
    func deletions(ofPerson person: String) throws(StoreError) -> [(key: SampleKey, entry: Int64)] {
        try connection.list(
            """
            SELECT series, start, hash, max(ingest) FROM decided WHERE series IN \(SeriesTable.ids(ofPerson: "?1")) AND what = ?2
            GROUP BY series, start, hash ORDER BY max(ingest) DESC, start DESC LIMIT 10000
            """, [.text(person), .integer(Kind.deleted.rawValue)]
        ) { row throws(StoreError) in
            (key: try SampleKey(row, at: 0), entry: row.integer(3))
        }
    }

    func add(_ kind: Kind, on key: SampleKey, by ingest: Int64) throws(StoreError) {
        try connection.run(
            "INSERT OR REPLACE INTO decided(series, start, hash, ingest, what) VALUES(?, ?, ?, ?, ?)",
            key.values + [.integer(ingest), .integer(kind.rawValue)])
    }

    /// Applies the decisions about one sample to another, unless the same entries decided about that one.
    func move(from key: SampleKey, to other: SampleKey) throws(StoreError) {
        try connection.run(
            "UPDATE OR IGNORE decided SET series = ?4, start = ?5, hash = ?6 WHERE (series, start, hash) = (?1, ?2, ?3)",
            key.values + other.values)
        if connection.changes > 0 { try connection.settings.set("movedDecisions", to: .integer(1)) }
    }

    /// Removes the decision of an entry about a sample.
    func remove(_ key: SampleKey, by ingest: Int64) throws(StoreError) {
        try connection.run("DELETE FROM decided WHERE \(SampleTable.isHere) AND ingest = ?", key.values + [.integer(ingest)])
    }

    /// Removes all decisions about a sample.
    func remove(_ key: SampleKey) throws(StoreError) {
        try connection.run("DELETE FROM decided WHERE \(SampleTable.isHere)", key.values)
    }

    /// Removes the decisions about the tombstones of samples that an ingest brought, and about the samples that repairs made from them.
    func removeForms(ofTombstonesIngestedBy ingest: Int64) throws(StoreError) {
        try connection.run(
            """
            WITH RECURSIVE form(series, start, hash) AS (
                \(SampleTable.tombstones) UNION \(RepairTable.nextForms))
            DELETE FROM decided WHERE (series, start, hash) IN (SELECT series, start, hash FROM form)
            """, .integer(ingest))
    }

    /// Removes the decisions about the rows in the table `pruned`.
    func removePruned() throws(StoreError) {
        try connection.run("DELETE FROM decided WHERE (series, start, hash) IN (SELECT series, start, hash FROM pruned)")
    }
}
