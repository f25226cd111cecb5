import HealthModel
import Pipeline

/// Comparing a hub with the database: first counts and hashes by day and type, then the samples of the days that differ.
///
/// The hash of a row's content is in its column `print`. The hub's people lead to its rows, so other hubs do not matter.
extension PostgreSQLExporter: DigestingExporter {
    /// By hashes, which cover the content of a row.
    package var contentComparison: ContentComparison { .prints }

    /// The hash of the row of a sample.
    package func print(of sample: Sample) -> UInt64? { rows.print(of: sample) }

    /// Passes on the digests of this hub's samples.
    package func digests(_ body: ([SampleDigest]) throws -> Void) throws {
        var last: SampleDigest.Place?
        while true {
            let some = try digests(after: last, limit: Self.maximumDigests)
            if !some.isEmpty { try body(some) }
            guard some.count == Self.maximumDigests else { return }
            last = some.last?.place
        }
    }

    /// Passes on this hub's samples of some days and types.
    package func contents(of places: [SampleDigest.Place], _ body: ([TargetSample]) throws -> Void) throws {
        var last: SampleIdentity?
        while true {
            let some = try contents(of: places, after: last, limit: Self.maximumContents)
            if !some.isEmpty { try body(some) }
            guard some.count == Self.maximumContents else { return }
            last = some.last?.identity
        }
    }

    /// Passes on all samples of this hub, including those that another hub's report represents.
    package func contents(_ body: ([TargetSample]) throws -> Void) throws {
        var places: [SampleDigest.Place] = []
        try digests { places += $0.map(\.place) }
        for start in stride(from: 0, to: places.count, by: Self.maximumPlaces) {
            try contents(of: Array(places[start..<min(start + Self.maximumPlaces, places.count)]), body)
        }
    }

    private static let maximumDigests = 10_000
    private static let maximumContents = 5000
    private static let maximumPlaces = 500

    /// The UTC day. PostgreSQL would look up the name of a zone for each row.
    private static func date(_ time: String) -> String { "(\(time) AT TIME ZONE INTERVAL '0')::date" }

    /// The tables with reports of hubs.
    private var tables: [String] { (["sample"] + ObjectTable.all.map(\.name)).map { "\(schema.name).\($0)" } }

    /// Returns the digests of this hub's samples after a place, in their order.
    package func digests(after last: SampleDigest.Place?, limit: Int) throws(DeliveryError) -> [SampleDigest] {
        let (connection, hub) = try opened()
        let day = "'1970-01-01'::date + \(last?.day ?? 0)"
        let people = "ARRAY(SELECT subject FROM \(schema.name).participant WHERE hub = \(hub))"
        let later = last == nil ? "" : " AND s.start_time >= (\(day))::timestamp AT TIME ZONE 'UTC'"
        let parts =
            tables.map {
                """
                SELECT \(Self.date("s.start_time")) AS day, s.type COLLATE "C" AS type, count(*) AS count, sum(s.print) AS print FROM \($0) s
                WHERE s.subject = ANY(\(people)) AND \(hub) = ANY(s.hubs)\(later) GROUP BY 1, 2
                """
            } + [
                """
                SELECT \(Self.date("(k.content->>'start_time')::timestamptz")), (k.content->>'type') COLLATE "C", count(*), sum((k.content->>'print')::bigint)
                FROM \(schema.name).superseded k WHERE k.hub = \(hub) GROUP BY 1, 2
                """
            ]
        do throws(DeliveryError) {
            // There are few groups. PostgreSQL expects one for each start, and would sort all rows.
            try connection.run("BEGIN READ ONLY; SET LOCAL enable_sort = off; SET LOCAL jit = off")
            // The remainder of a sum has the sign of the sum.
            let rows = try connection.run(
                """
                SELECT day - '1970-01-01'::date, type, sum(count), sum(print) % 18446744073709551616
                FROM (\(parts.joined(separator: " UNION ALL "))) AS parts(day, type, count, print)
                GROUP BY day, type \(last == nil ? "" : "HAVING (day, type) > (\(day), $1)")
                ORDER BY day, type LIMIT \(limit)
                """, last.map { [$0.type] } ?? [])
            try connection.run("COMMIT")
            return rows.compactMap(Self.digest)
        } catch {
            session.recover(from: error)
            throw error
        }
    }

    /// Returns the digest of a day, a type, a number and a sum of hashes.
    private static func digest(_ row: [String?]) -> SampleDigest? {
        guard let day = row[0].flatMap({ Int($0) }), let type = row[1], let count = row[2].flatMap({ Int($0) }), let sum = row[3]
        else { return nil }
        let size = UInt64(sum.trimmingPrefix("-").prefix { $0 != "." }) ?? 0
        return SampleDigest(
            SampleDigest.Place(day: day, type: type), count: count, print: sum.hasPrefix("-") ? 0 &- size : size)
    }

    /// Returns this hub's samples of some days and types after a UUID, in the order of UUIDs. The hash is `nil` if the row is another hub's
    /// too, because a hub does not change it then.
    package func contents(
        of places: [SampleDigest.Place], after last: SampleIdentity?, limit: Int
    ) throws(DeliveryError) -> [TargetSample] {
        let (connection, hub) = try opened()
        let next = last.map { " AND {} > '\($0.description)'" } ?? ""
        let participants = "unnest(ARRAY(SELECT subject FROM \(schema.name).participant WHERE hub = \(hub))) AS who(subject)"
        let parts =
            tables.map {
                """
                (SELECT s.uuid, CASE WHEN cardinality(s.hubs) = 1 THEN s.print END AS print FROM place p CROSS JOIN \(participants) JOIN \($0) s
                    ON s.subject = who.subject AND s.start_time >= p.low AND s.start_time < p.high AND s.type || '' = p.type
                    WHERE s.hubs @> ARRAY[\(hub)]\(next.replacing("{}", with: "s.uuid")) ORDER BY 1 LIMIT \(limit))
                """
            } + [
                """
                (SELECT k.held, NULL FROM place p JOIN \(schema.name).superseded k ON k.content->>'type' = p.type
                    AND (k.content->>'start_time')::timestamptz >= p.low AND (k.content->>'start_time')::timestamptz < p.high
                    WHERE k.hub = \(hub)\(next.replacing("{}", with: "k.held")) ORDER BY 1 LIMIT \(limit))
                """
            ]
        do throws(DeliveryError) {
            return try connection.run(
                """
                WITH place AS MATERIALIZED (SELECT t AS type, ('1970-01-01'::date + d)::timestamp AT TIME ZONE 'UTC' AS low,
                    ('1970-01-01'::date + d + 1)::timestamp AT TIME ZONE 'UTC' AS high FROM unnest($1::integer[], $2::text[]) AS u(d, t))
                \(parts.joined(separator: " UNION ALL ")) ORDER BY 1 LIMIT \(limit)
                """,
                [NewRows.literal(places.map { "\($0.day)" }), NewRows.literal(places.map(\.type))]
            ).compactMap { row in
                guard let identity = row[0].flatMap({ SampleIdentity($0) }) else { return nil }
                return TargetSample(identity, print: row[1].flatMap { Int64($0) }.map { UInt64(bitPattern: $0) })
            }
        } catch {
            session.recover(from: error)
            throw error
        }
    }
}
