import Pipeline
import PostgreSQLExport

extension FleetDatabase {
    /// Counts a hub's samples by type and local day.
    ///
    /// - Parameters:
    ///   - zone: A name of the tz database, or an offset such as `+01:00`.
    ///   - last: The place after which the counts begin.
    /// - Returns: At most `limit` counts, in the order of types and days.
    func counts(of store: String, zone: String, after last: DayCount?, limit: Int) throws(DeliveryError) -> [DayCount] {
        let hub = try connection.run("SELECT id FROM \(schema).hub WHERE store = $1", [store])
        guard let id = hub.first?.first?.flatMap({ Int($0) }) else { return [] }
        // PostgreSQL reads an offset that is not an interval with the opposite sign.
        let place = zone.hasPrefix("+") || zone.hasPrefix("-") ? "$3::interval" : "$3"
        // Not the order of a language, so that the parts join without a gap.
        func part(_ alias: String, _ source: String) -> String {
            """
            SELECT \(alias).type COLLATE "C" AS type,
                to_char(\(alias).start_time AT TIME ZONE \(place), 'YYYY-MM-DD') COLLATE "C" AS day, count(*) AS samples
            FROM \(source) AND \(alias).type COLLATE "C" >= $1 GROUP BY 1, 2
            """
        }
        // Each kind of sample has a table, and only these tables and their partitions have this column.
        let tables = try connection.run(
            """
            SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'represents' AND NOT attisdropped
            WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
            """, [schema])
        let parts =
            tables.compactMap { $0[0] }.map { part("s", "\(schema).\($0) s WHERE s.hubs @> ARRAY[\(id)]") }
            // Readings that a row of another hub represents.
            + [
                part(
                    "s",
                    """
                    (SELECT content->>'type' AS type, (content->>'start_time')::timestamptz AS start_time
                        FROM \(schema).superseded WHERE hub = \(id)) s WHERE true
                    """)
            ]
        return try connection.run(
            """
            SELECT type, day, sum(samples) FROM (\(parts.joined(separator: " UNION ALL "))) AS parts
            GROUP BY type, day HAVING (type, day) > ($1, $2) ORDER BY type, day LIMIT \(limit)
            """, [last?.type ?? "", last?.day ?? "", zone]
        ).map { DayCount(type: $0[0] ?? "", day: $0[1] ?? "", count: $0[2].flatMap { Int($0) } ?? 0) }
    }
}
