import HealthModel

/// The tables `witness_row` (duplicates of samples), `decision` (the facts that duplicates share), and `link` (samples of two devices that
/// agree), and the view `duplicate`.
struct DuplicateTable {
    let connection: Connection

    /// The maximum distance of a duplicate's start from that of its original, in microseconds, for which the duplicate
    /// is found without an extra index. It is the clock tolerance for arrival times. Most duplicates whose times have
    /// seconds are within it.
    static let near: Int64 = 5_000_000
    /// The SQL condition for the duplicates that are farther away. The schema contains this condition in an index. A
    /// new distance needs a new schema step, because statements that name the index could not be prepared without it.
    static let isFar = "start - of_start NOT BETWEEN -\(near) AND \(near)"

    /// Forces SQLite to use the index of far duplicates. Without statistics it prefers the first column of the primary
    /// key.
    static let byFar = "INDEXED BY witness_far"

    /// The SQL condition that neither the import of a duplicate nor the merge that found it is undone.
    static let isActive = "NOT \(LedgerTable.isUndone("decision.ingest", or: "decision.merge"))"

    // MARK: One duplicate

    /// Whether a duplicate is stored under this key, whether or not it counts.
    func contains(_ key: SampleKey) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM witness_row WHERE \(SampleTable.isHere)", key.values)
    }

    /// Whether a duplicate with this UUID is stored, whether or not it counts.
    func contains(_ uuid: SampleIdentity) throws(StoreError) -> Bool {
        let low = Int64(uuid.milliseconds) * 1000
        return try connection.exists(
            "SELECT 1 FROM series JOIN witness AS w ON w.series = series.id AND w.start BETWEEN ? AND ? AND w.hash = ? LIMIT 1",
            [.integer(low), .integer(low + 999), .blob(uuid.storedHash)])
    }

    /// A duplicate, with its original.
    struct Duplicate {
        var key: SampleKey
        var first: SampleKey
        var rule: String
        /// The import that brought it.
        var ingest: Int64
        /// The merge that found it, or `nil` if its import did.
        var merge: Int64?

        /// Whether it is a lower version of a record, and not a report of the same measurement.
        var isVersion: Bool { rule == DuplicateRule.version.rawValue }
    }

    private static let columns = "series, start, hash, of_series, of_start, of_hash, rule, ingest, merge"
    private static let decided = "main.witness_row CROSS JOIN main.decision ON decision.id = decision"

    private static func read(_ row: Statement) throws(StoreError) -> Duplicate {
        Duplicate(
            key: try SampleKey(row, at: 0), first: try SampleKey(row, at: 3), rule: row.text(6), ingest: row.integer(7),
            merge: row.optionalInteger(8))
    }

    /// Returns a duplicate, whether or not it counts.
    func duplicate(at key: SampleKey) throws(StoreError) -> Duplicate? {
        try connection.first(
            "SELECT \(Self.columns) FROM \(Self.decided) WHERE \(SampleTable.isHere)", key.values, Self.read)
    }

    /// Returns a duplicate whose merge is not undone, and that this connection may read.
    func countingDuplicate(at key: SampleKey) throws(StoreError) -> Duplicate? {
        try connection.first(
            "SELECT \(Self.columns) FROM witness WHERE \(SampleTable.isHere) AND NOT parted", key.values, Self.read)
    }

    /// A query for the columns of the sample that a duplicate becomes.
    static let sample = "SELECT \(SampleTable.columns) FROM witness_row WHERE \(SampleTable.isHere)"

    // MARK: The duplicates of a sample

    /// SQL that selects the duplicates of a sample. It bypasses a client's views, which have no index, so only
    /// rows whose duplicate the client may read can be shown. The sample's series is `?1`, its start `?2`, its hash
    /// `?3`.
    private static func ofFirst(_ condition: String, order: String) -> String {
        """
        \([("", "start BETWEEN ?2 - \(near) AND ?2 + \(near)"), (byFar, isFar)].map {
            """
            SELECT \(columns) FROM series AS own CROSS JOIN series AS path ON path.type = own.type AND path.subject = own.subject
                CROSS JOIN main.witness_row \($0) ON series = path.id AND \($1) CROSS JOIN main.decision ON decision.id = witness_row.decision
            WHERE own.id = ?1 AND of_series = ?1 AND of_start = ?2 AND of_hash = ?3 AND \(condition)
            """
        }.joined(separator: " UNION ALL ")) ORDER BY \(order)
        """
    }

    /// Returns the duplicates of a sample, whether or not they count.
    func duplicates(of first: SampleKey) throws(StoreError) -> [Duplicate] {
        try connection.list(Self.ofFirst("TRUE", order: "series, start"), first.values, Self.read)
    }

    /// Returns the duplicates of a sample that count.
    func countingDuplicates(of first: SampleKey) throws(StoreError) -> [Duplicate] {
        try connection.list(Self.ofFirst(Self.isActive, order: "ingest, series"), first.values, Self.read)
    }

    /// Whether a sample has a duplicate from a series that counts.
    func hasDuplicate(_ first: SampleKey, in series: Int64) throws(StoreError) -> Bool {
        try connection.exists(
            Self.ofFirst("\(Self.isActive) AND witness_row.series = ?4", order: "ingest"), first.values + [.integer(series)])
    }

    /// Whether a sample has duplicates or links.
    func hasDependents(_ key: SampleKey) throws(StoreError) -> Bool {
        if try connection.exists(Self.ofFirst(Self.isActive, order: "ingest"), key.values) { return true }
        return try connection.exists(
            """
            SELECT 1 FROM link WHERE series = ?1 AND start = ?2 AND hash = ?3
            UNION ALL SELECT 1 FROM link WHERE of_series = ?1 AND of_start = ?2 AND of_hash = ?3
            """, key.values)
    }

    // MARK: Many duplicates

    /// Whether a series has duplicates.
    func contains(series: Int64) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM witness_row WHERE series = ? LIMIT 1", [.integer(series)])
    }

    /// Whether samples of a series have, or had, duplicates.
    func contains(duplicatesOfSeries series: Int64) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM decision WHERE of_series = ? LIMIT 1", [.integer(series)])
    }

    /// Whether no duplicate was ever found.
    var isEmpty: Bool {
        get throws(StoreError) { try !connection.exists("SELECT 1 FROM decision LIMIT 1") }
    }

    /// The duplicates of a series. Their nominal starts are their starts.
    func known() throws(StoreError) -> KnownReadings {
        try KnownReadings(
            """
            SELECT start, hash, decision.ingest FROM witness_row CROSS JOIN decision ON decision.id = decision
            WHERE series = ? AND start >= ? AND start <= ? ORDER BY start, hash
            """, .ingestID, connection)
    }

    /// Returns the nominal times at which a series may have several readings in more than one unit.
    func sharedInstants() throws(StoreError) -> [(series: Int64, instant: Int64)] {
        try connection.list(
            """
            SELECT series, start FROM sample GROUP BY series, start HAVING min(context) <> max(context)
            UNION SELECT s.series, s.start FROM witness_row AS w CROSS JOIN sample AS s ON s.series = w.series AND s.start = w.start
                WHERE s.context <> w.context
            UNION SELECT series, nominal FROM place GROUP BY series, nominal HAVING count(*) > 1
            UNION SELECT p.series, p.nominal FROM place AS p CROSS JOIN sample AS s ON s.series = p.series AND s.start = p.nominal
            UNION SELECT p.series, p.nominal FROM place AS p CROSS JOIN witness_row AS w ON w.series = p.series AND w.start = p.nominal
            """
        ) { ($0.integer(0), $0.integer(1)) }
    }

    /// Returns the next duplicates that an import brought, sorted by key.
    func keys(ingestedBy ingest: Int64, after last: SampleKey?, limit: Int) throws(StoreError) -> [SampleKey] {
        guard try connection.exists("SELECT 1 FROM decision WHERE ingest = ?", [.integer(ingest)]) else { return [] }
        return try keys("ingest = ?1", ingest, after: last, limit: limit)
    }

    /// Returns the next duplicates that a merge found, sorted by key.
    func keys(foundBy merge: Int64, after last: SampleKey?, limit: Int) throws(StoreError) -> [SampleKey] {
        guard try connection.exists("SELECT 1 FROM decision WHERE merge = ?", [.integer(merge)]) else { return [] }
        return try keys("merge = ?1", merge, after: last, limit: limit)
    }

    private func keys(
        _ condition: String, _ entry: Int64, after last: SampleKey?, limit: Int
    ) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT series, start, hash FROM witness_row CROSS JOIN decision ON decision.id = decision
            WHERE \(condition) AND (series, start, hash) > (?2, ?3, ?4) ORDER BY series, start, hash LIMIT \(limit)
            """,
            [.integer(entry), .integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? [])])
    }

    /// Returns the duplicates that an import brought, by start.
    func duplicates(ingestedBy ingest: Int64, limit: Int) throws(StoreError) -> [Duplicate] {
        try connection.list(
            "SELECT \(Self.columns) FROM witness WHERE ingest = ? ORDER BY start LIMIT ?",
            [.integer(ingest), .integer(Int64(limit))],
            Self.read)
    }

    /// Returns the originals of the duplicates with this UUID that count and are not samples themselves.
    func originals(ofDuplicates uuid: SampleIdentity) throws(StoreError) -> [SampleKey] {
        let low = Int64(uuid.milliseconds) * 1000
        return try connection.sampleKeys(
            """
            SELECT of_series, of_start, of_hash FROM series CROSS JOIN witness ON witness.series = series.id
                AND (witness.start BETWEEN ?1 AND ?2 OR witness.start IN
                    (SELECT start FROM place WHERE place.series = series.id AND nominal BETWEEN ?1 AND ?2 AND place.hash = ?3))
                AND witness.hash = ?3 AND NOT stands_in AND NOT withdrawn AND NOT parted
            """, [.integer(low), .integer(low + 999), .blob(uuid.storedHash)])
    }

    // MARK: Links

    /// A sample that agrees with another one.
    struct Link {
        var other: SampleKey
        var rule: String
        var ingest: Int64
    }

    /// Returns the samples of other devices that agree with one.
    func links(of key: SampleKey) throws(StoreError) -> [Link] {
        try connection.list(
            """
            SELECT of_series, of_start, of_hash, rule, ingest FROM link WHERE series = ?1 AND start = ?2 AND hash = ?3
            UNION SELECT series, start, hash, rule, ingest FROM link WHERE of_series = ?1 AND of_start = ?2 AND of_hash = ?3
            """, key.values
        ) { row throws(StoreError) in Link(other: try SampleKey(row, at: 0), rule: row.text(3), ingest: row.integer(4)) }
    }

    /// Returns the starts of the first and last sample that agrees with one of a series in a time range, by the direction of the link.
    func linked(with series: Int64, from low: Int64, through high: Int64) throws(StoreError) -> [(first: Int64, last: Int64)] {
        var found: [(first: Int64, last: Int64)] = []
        for (own, other) in [("", "of_"), ("of_", "")] {
            let ends = try connection.first(
                "SELECT min(\(other)start), max(\(other)start) FROM link WHERE \(own)series = ? AND \(own)start BETWEEN ? AND ?",
                [.integer(series), .integer(low), .integer(high)]
            ) { $0.isNull(0) ? [] : [(first: $0.integer(0), last: $0.integer(1))] }
            found += ends ?? []
        }
        return found
    }

    /// Leaves out the samples that agree with a sample of a better series.
    func unlinked(_ series: Int64, from better: [Int64]) throws(StoreError) -> SampleFilter {
        guard !better.isEmpty,
            try connection.exists(
                "SELECT 1 WHERE EXISTS(SELECT 1 FROM link WHERE series = ?1) OR EXISTS(SELECT 1 FROM link WHERE of_series = ?1)",
                [.integer(series)])
        else { return .all }
        let list = better.map(String.init).joined(separator: ", ")
        return .duplicates(
            """
            NOT EXISTS(SELECT 1 FROM link JOIN sample AS other
                ON other.series = of_series AND other.start = of_start AND other.hash = of_hash
                WHERE link.series = sample.series AND link.start = sample.start AND link.hash = sample.hash AND of_series IN (\(list)))
            AND NOT EXISTS(SELECT 1 FROM link JOIN sample AS other
                ON other.series = link.series AND other.start = link.start AND other.hash = link.hash
                WHERE of_series = sample.series AND of_start = sample.start AND of_hash = sample.hash AND link.series IN (\(list)))
            """)
    }

    /// SQL that selects the places of the duplicates of all samples in a table.
    static func selectDuplicates(in table: String) -> String {
        [("", "w.start BETWEEN p.start - \(near) AND p.start + \(near)"), (byFar, isFar)].map {
            """
            SELECT w.series, w.start, w.hash FROM \(table) AS p CROSS JOIN series AS own ON own.id = p.series
                CROSS JOIN series AS path ON path.type = own.type AND path.subject = own.subject
                CROSS JOIN witness_row AS w \($0) ON w.series = path.id AND \($1.replacing("start - of_start", with: "w.start - w.of_start"))
                    AND w.of_start = p.start AND w.of_hash = p.hash
                CROSS JOIN decision AS d ON d.id = w.decision AND d.of_series = p.series
            """
        }.joined(separator: " UNION ALL ")
    }

    // MARK: Conditions

    /// Makes SQL of the columns of a sample's series, start, and hash.
    typealias Condition = (_ series: String, _ start: String, _ hash: String) -> String

    /// SQL for whether a duplicate of a sample fulfils a condition.
    static func hasDuplicate(_ condition: Condition, of series: String, _ start: String, _ hash: String) -> String {
        let samples = "(SELECT \(series) AS series, \(start) AS start, \(hash) AS hash)"
        return """
            EXISTS(SELECT 1 FROM (\(selectDuplicates(in: samples))) AS w WHERE \(condition("w.series", "w.start", "w.hash")))
            """
    }

    /// SQL for whether the original of a duplicate fulfils a condition.
    static func hasOriginal(_ condition: Condition, of series: String, _ start: String, _ hash: String) -> String {
        """
        EXISTS(SELECT 1 FROM witness_row AS other CROSS JOIN decision AS found ON found.id = other.decision
            WHERE (other.series, other.start, other.hash) = (\(series), \(start), \(hash))
                AND \(condition("found.of_series", "other.of_start", "other.of_hash")))
        """
    }
}
