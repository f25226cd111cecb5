import HealthModel

/// The table `record`: the versions of records that have an id from their producer.
struct RecordTable {
    let connection: Connection

    /// The table for a search by start. Without the index's name, SQLite reads every record of the series, because its primary key looks
    /// cheaper to the planner. A restricted store has a view instead of the table, and a view has no index.
    private var byPlace: String { connection.isRestricted ? "record" : "record INDEXED BY record_by_start" }

    /// A version of a record.
    struct Version {
        var key: SampleKey
        /// The series in which it counts: that of the key, or the one to which repairs moved the reading.
        var scope: Int64
        var number: Int64
        /// Whether it replaces lower versions of other devices as well.
        var isAcross: Bool
        /// The ledger entry that made it a version, or 0 for one as it was reported first.
        var entry: Int64

        /// Whether repairs moved it from another person or type.
        var isMoved: Bool { scope != key.series }

        /// Whether its source gave it the same number as another version of the record.
        func hasNumber(of other: RecordIdentifier) -> Bool {
            RecordIdentifier(id: other.id, version: number).number == other.number
        }
    }

    private static func version(_ row: Statement) throws(StoreError) -> Version {
        Version(
            key: try SampleKey(row, at: 0), scope: row.integer(0), number: row.integer(3), isAcross: row.integer(4) != 0,
            entry: row.integer(5))
    }

    /// SQL for whether a series has records.
    static func exists(inSeries series: String) -> String { "EXISTS(SELECT 1 FROM record WHERE record.series = \(series))" }

    /// Whether a series has records.
    func contains(series: Int64) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM record WHERE series = ? LIMIT 1", [.integer(series)])
    }

    /// Returns the versions of a record in a series, lowest first.
    func versions(of id: String, in series: Int64) throws(StoreError) -> [Version] {
        try connection.list(
            "SELECT series, start, hash, version, across, entry FROM record WHERE series = ?1 AND id = ?2 ORDER BY version, entry",
            [.integer(series), .text(id)], Self.version)
    }

    /// Returns the versions of a record in all series with the same person, type, and source, lowest first.
    func versions(of id: String, relatedToSeries series: Int64) throws(StoreError) -> [Version] {
        try connection.list(
            """
            SELECT record.series, start, hash, version, across, entry FROM series AS own CROSS JOIN series AS other
                ON other.type = own.type AND other.subject = own.subject AND other.source = own.source
                CROSS JOIN record ON record.series = other.id AND record.id = ?2
            WHERE own.id = ?1 ORDER BY version, entry
            """, [.integer(series), .text(id)], Self.version)
    }

    /// Returns the records in a range of ids whose version is lower than another.
    func keys(ofIDs ids: Range<String>, in series: Int64, below version: Int64) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            "SELECT series, start, hash FROM record WHERE series = ? AND id >= ? AND id < ? AND version < ?",
            [.integer(series), .text(ids.lowerBound), .text(ids.upperBound), .integer(version)])
    }

    /// Returns the records of a row, newest first.
    func records(at key: SampleKey) throws(StoreError) -> [RecordIdentifier] {
        try connection.list(
            "SELECT id, version FROM \(byPlace) WHERE series = ? AND start = ? AND hash = ? ORDER BY version DESC", key.values
        ) { RecordIdentifier(id: $0.text(0), version: $0.integer(1)) }
    }

    /// Returns the records of a sample, newest first, with the entry of the ledger that made each a version (0 for one as it was reported).
    func records(of sample: Sample) throws(StoreError) -> [(record: RecordIdentifier, entry: Int64)] {
        let origin = sample.origin
        return try connection.list(
            """
            SELECT record.id, record.version, record.entry FROM series CROSS JOIN \(byPlace)
            ON record.series = series.id AND record.start = ?5 AND record.hash = ?6
            WHERE series.type = ?1 AND series.subject = ?2 AND series.source = ?3 AND series.device = ?4
            ORDER BY record.version DESC
            """,
            [
                .text(origin.type.id), .text(origin.person), .text(origin.source.id), .text(origin.device?.key ?? ""),
                .integer(sample.start.microseconds), .blob(sample.identity.storedHash),
            ]
        ) { (RecordIdentifier(id: $0.text(0), version: $0.integer(1)), $0.integer(2)) }
    }

    /// Whether a live or deleted version of a record has the same body as a context.
    func hasBody(ofContext context: Int64, _ id: String, in series: Int64) throws(StoreError) -> Bool {
        try connection.exists(
            """
            WITH told(context) AS (
                SELECT context FROM record JOIN sample USING(series, start, hash) WHERE record.series = ?1 AND record.id = ?2
                UNION ALL
                SELECT context FROM record JOIN deleted USING(series, start, hash) WHERE record.series = ?1 AND record.id = ?2)
            SELECT 1 FROM told JOIN context ON context.id = told.context
            WHERE context.body = (SELECT body FROM context WHERE id = ?3) LIMIT 1
            """, [.integer(series), .text(id), .integer(context)])
    }

    /// - Parameters:
    ///   - isAcross: Whether it replaces lower versions of other devices as well.
    ///   - entry: The ledger entry that made it a version, or 0 for one as it was reported first.
    func add(_ record: RecordIdentifier, at key: SampleKey, isAcross: Bool, by entry: Int64 = 0) throws(StoreError) {
        try connection.run(
            "INSERT INTO record(series, start, hash, id, version, across, entry) VALUES(?, ?, ?, ?, ?, ?, ?)",
            key.values + [.text(record.id), .integer(record.version), .integer(isAcross ? 1 : 0), .integer(entry)])
    }

    /// Makes a sample a version of the records of the reading that it was made from, in its own series. It comes before a version with the
    /// same number that was reported there.
    func move(from old: SampleKey, to new: SampleKey) throws(StoreError) {
        let place = "UPDATE OR IGNORE \(byPlace) SET series = ?4, start = ?5, hash = ?6"
        try connection.run("\(place) WHERE (series, start, hash) = (?1, ?2, ?3)", old.values + new.values)
        try connection.run(
            "\(place), entry = ?7 WHERE (series, start, hash) = (?1, ?2, ?3)", old.values + new.values + [.integer(Self.moved)])
    }

    /// Returns the other versions of the records that rows in the table `gone` have.
    func otherVersionsOfErased() throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT DISTINCT other.series, other.start, other.hash FROM gone
                CROSS JOIN record AS own INDEXED BY record_by_start
                    ON (own.series, own.start, own.hash) = (gone.series, gone.start, gone.hash)
                CROSS JOIN record AS other ON other.series = own.series AND other.id = own.id
            WHERE (other.series, other.start, other.hash) NOT IN (SELECT series, start, hash FROM gone)
            """, [])
    }

    /// Removes the versions of the rows in the table `gone`.
    func removeErased() throws(StoreError) {
        try connection.run("DELETE FROM \(byPlace) WHERE (series, start, hash) IN (SELECT series, start, hash FROM gone)")
    }

    /// Marks a version of another person's record. No entry of the ledger has this number, so it is always active.
    private static let moved: Int64 = -1

    /// SQL for the entries of the ledger that made versions, with the series of these.
    static let makers = "(SELECT entry, series FROM record WHERE entry <> 0)"

    /// Returns the places of the versions that an entry of the ledger made.
    func keys(madeBy entry: Int64) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys("SELECT series, start, hash FROM record WHERE entry = ? AND entry <> 0", [.integer(entry)])
    }

    /// Makes an accepted reading the last of its version again.
    func accept(_ key: SampleKey, by entry: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT OR IGNORE INTO record(series, start, hash, id, version, across, entry)
            SELECT series, start, hash, id, version, across, ? FROM \(byPlace) WHERE \(SampleTable.isHere) AND entry <> 0
            """, [.integer(entry)] + key.values)
    }

    /// Removes the version of a record that an entry of the ledger made of a reading.
    func remove(madeBy entry: Int64, _ id: String, at key: SampleKey) throws(StoreError) {
        try connection.run(
            "DELETE FROM \(byPlace) WHERE \(SampleTable.isHere) AND id = ?4 AND entry = ?5",
            key.values + [.text(id), .integer(entry)])
    }

    /// Removes the versions that an entry of the ledger made.
    func remove(madeBy entry: Int64) throws(StoreError) {
        try connection.run("DELETE FROM record WHERE entry = ? AND entry <> 0", .integer(entry))
    }

    /// Removes the records of a row.
    func remove(_ key: SampleKey) throws(StoreError) {
        try connection.run("DELETE FROM \(byPlace) WHERE \(SampleTable.isHere)", key.values)
    }

    /// Returns the lower versions of the records of the rows in the table `pruned`, without those in it.
    func replacedByPruned() throws(StoreError) -> [SampleKey] {
        let lower = """
            FROM pruned CROSS JOIN record AS own INDEXED BY record_by_start
                ON (own.series, own.start, own.hash) = (pruned.series, pruned.start, pruned.hash)
            CROSS JOIN record AS other ON other.id = own.id AND (other.version, other.entry) < (own.version, own.entry)
            """
        return try connection.sampleKeys(
            """
            SELECT * FROM (
                SELECT other.series, other.start, other.hash \(lower) AND other.series = own.series
                UNION SELECT other.series, other.start, other.hash \(lower) AND other.series IN
                    \(SeriesTable.idsWithSameRecords(asSeries: "own.series")) WHERE own.across)
            EXCEPT SELECT series, start, hash FROM pruned
            """, [])
    }

    /// Removes the records of the rows in the table `pruned`.
    func removePruned() throws(StoreError) {
        try connection.run("DELETE FROM \(byPlace) WHERE (series, start, hash) IN (SELECT series, start, hash FROM pruned)")
    }
}
