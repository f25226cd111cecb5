import HealthModel

/// The duplicates of samples, which the tables call witnesses.
struct WitnessRows {
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

    /// Returns SQL that selects the duplicates of a sample. It bypasses a client's views, which have no index, so only
    /// rows whose duplicate the client may read can be shown. The sample's series is `?1`, its start `?2`, its hash
    /// `?3`.
    static func ofFirst(_ columns: String, _ condition: String, order: String) -> String {
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

    /// Returns SQL that selects the places of the duplicates of all samples in a table.
    static func ofFirsts(in table: String) -> String {
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

    /// Whether a sample has duplicates or links.
    static func isLeanedOn(_ place: SampleKey, _ connection: Connection) throws(StoreError) -> Bool {
        let here: [Value] = [.integer(place.series), .integer(place.start), .blob(place.hash)]
        let statement = try connection.statement(ofFirst("ingest", isActive, order: "ingest"))
        defer { statement.reset() }
        try statement.bind(here)
        if try statement.step() { return true }
        return try connection.integer(
            """
            SELECT 1 FROM link WHERE series = ?1 AND start = ?2 AND hash = ?3
            UNION ALL SELECT 1 FROM link WHERE of_series = ?1 AND of_start = ?2 AND of_hash = ?3
            """, here[0], here[1], here[2]) != nil
    }

    /// The UUID of the current or former row at a place, or `nil` if there is none.
    func uuid(of place: SampleKey) throws(StoreError) -> SampleIdentity? {
        for table in ["sample", "deleted", "witness"] {
            let skew = try connection.integer(
                "SELECT skew FROM \(table) JOIN context ON context.id = context WHERE series = ? AND start = ? AND hash = ?",
                .integer(place.series), .integer(place.start), .blob(place.hash))
            guard let skew else { continue }
            return place.identity(skew: skew)
        }
        return nil
    }
}
