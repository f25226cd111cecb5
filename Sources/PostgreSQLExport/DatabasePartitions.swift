import HealthModel
import Pipeline

/// The partitions of the table of samples: by the hash of the person, and inside each of them by the year of the start (UTC).
///
/// - `sample_3`: the people of one hash.
/// - `sample_3_2026`: their readings of a year.
/// - `sample_3_other`: their readings of all other times.
///
/// Without partitions by person, the years divide the table itself (`sample_2026`, `sample_other`). This is the form for a server that has
/// the people of one hash (Decision 46).
struct DatabasePartitions {
    let schema: String
    /// The number of partitions by person, or 0 for none.
    let people: Int
    /// The years that get a partition, or `nil` for none.
    let years: ClosedRange<Int>?

    /// The clause after the columns of the table of samples.
    var clause: String {
        people > 0 ? " PARTITION BY HASH (subject)" : years != nil ? Self.byTime : ""
    }

    private static let byTime = " PARTITION BY RANGE (start_time)"

    /// The statements that create the partitions.
    var creation: String {
        let people = (0..<people).map { number in
            let clause = years == nil ? "" : Self.byTime
            return """
                CREATE TABLE \(schema).sample_\(number) PARTITION OF \(schema).sample
                    FOR VALUES WITH (MODULUS \(self.people), REMAINDER \(number))\(clause);
                """
        }
        guard let years else { return people.joined(separator: "\n") }
        let parents = self.people == 0 ? ["sample"] : (0..<self.people).map { "sample_\($0)" }
        let parts = parents.flatMap { parent in
            years.map { Self.creation(of: "\(schema).\(parent)_\($0)", in: "\(schema).\(parent)", for: $0) }
                + ["CREATE TABLE \(schema).\(parent)_other PARTITION OF \(schema).\(parent) DEFAULT;"]
        }
        return (people + parts).joined(separator: "\n")
    }

    private static func creation(of name: String, in parent: String, for year: Int) -> String {
        "CREATE TABLE \(name) PARTITION OF \(parent) FOR VALUES FROM ('\(start(of: year))') TO ('\(start(of: year + 1))');"
    }

    private static func start(of year: Int) -> String { "\(year)-01-01 00:00:00+00" }

    // MARK: An existing table

    /// A table that is partitioned by time.
    private struct Parent {
        /// The name with the schema, as SQL.
        let name: String
        /// The name of a new partition without the year, as SQL. Contains `%`.
        let form: String
        /// The partition for other times as SQL, or `nil`.
        let other: String?
        /// The names of the columns, as SQL.
        let columns: String
    }

    /// Adds the years that are missing, in the open transaction. Rows of these years are moved out of the partitions for other times.
    func complete(_ connection: PostgreSQLConnection) throws(DeliveryError) -> [Finding] {
        guard let years else { return [] }
        let parents = try parents(connection)
        guard !parents.isEmpty else {
            return [
                Finding(.warning, "years", "the table of samples was created without partitions by year, so it stays as it is")
            ]
        }
        var (added, moved) = (Set<Int>(), 0)
        for parent in parents {
            let missing = try missing(years, in: parent, connection)
            added.formUnion(missing)
            moved += try add(missing, to: parent, connection)
        }
        let text = "a partition for each year from \(years.lowerBound) to \(years.upperBound)"
        guard !added.isEmpty else { return [Finding(.good, "years", text)] }
        return [Finding(.good, "years", "\(text), \(added.count) of them new. \(moved) readings were moved into them")]
    }

    private func parents(_ connection: PostgreSQLConnection) throws(DeliveryError) -> [Parent] {
        try connection.run(
            """
            SELECT format('%I.%I', n.nspname, c.relname), format('%I.%I', n.nspname, c.relname || '_%'),
                (SELECT format('%I.%I', dn.nspname, d.relname) FROM pg_class d JOIN pg_namespace dn ON dn.oid = d.relnamespace
                    WHERE d.oid = p.partdefid),
                (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '')
            FROM pg_partition_tree($1) t JOIN pg_partitioned_table p ON p.partrelid = t.relid
                JOIN pg_class c ON c.oid = t.relid JOIN pg_namespace n ON n.oid = c.relnamespace
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
            WHERE p.partstrat = 'r' AND p.partnatts = 1 AND a.attname = 'start_time' ORDER BY c.relname
            """, ["\(schema).sample"]
        ).compactMap { row in
            guard let name = row[0], let form = row[1], let columns = row[3] else { return nil }
            return Parent(name: name, form: form, other: row[2], columns: columns)
        }
    }

    /// Returns the years without a partition.
    private func missing(
        _ years: ClosedRange<Int>, in parent: Parent, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) -> [Int] {
        let rows = try connection.run(
            """
            WITH part AS (
                SELECT i.inhrelid, coalesce((regexp_match(b, 'FROM \\(''([^'']+)''\\)'))[1], '-infinity')::timestamptz AS first,
                    coalesce((regexp_match(b, 'TO \\(''([^'']+)''\\)'))[1], 'infinity')::timestamptz AS last
                FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) b
                WHERE i.inhparent = $1::regclass AND b <> 'DEFAULT'),
            year AS (
                SELECT y, make_timestamptz(y, 1, 1, 0, 0, 0, 'UTC') AS first, make_timestamptz(y + 1, 1, 1, 0, 0, 0, 'UTC') AS last
                FROM generate_series($2::integer, $3::integer) y)
            SELECT y, (SELECT min(inhrelid::regclass::text) FROM part WHERE part.first < year.last AND part.last > year.first) FROM year
            WHERE NOT EXISTS(SELECT 1 FROM part WHERE part.first <= year.first AND part.last >= year.last) ORDER BY y
            """, [parent.name, "\(years.lowerBound)", "\(years.upperBound)"])
        if let other = rows.first(where: { $0[1] != nil }) {
            throw DeliveryError(
                .unfit,
                "the partition \(other[1] ?? "") has a part of the year \(other[0] ?? "") (UTC): set years that it does not touch"
            )
        }
        return rows.compactMap { $0[0].flatMap { Int($0) } }
    }

    /// Adds partitions for some years, and returns the number of the rows that were moved. PostgreSQL does not accept a partition if the one
    /// for other times has rows of it.
    private func add(_ years: [Int], to parent: Parent, _ connection: PostgreSQLConnection) throws(DeliveryError) -> Int {
        guard let first = years.first, let last = years.last else { return 0 }
        if let other = parent.other { try connection.run("ALTER TABLE \(parent.name) DETACH PARTITION \(other)") }
        for year in years {
            let name = parent.form.replacing("%", with: "\(year)")
            try connection.run(Self.creation(of: name, in: parent.name, for: year))
        }
        guard let other = parent.other else { return 0 }
        // The years between the first and the last one that have a partition already have no rows there.
        let moved = try connection.run(
            """
            WITH gone AS (
                DELETE FROM \(other) WHERE start_time >= '\(Self.start(of: first))' AND start_time < '\(Self.start(of: last + 1))'
                    RETURNING \(parent.columns)),
            come AS (INSERT INTO \(parent.name)(\(parent.columns)) SELECT \(parent.columns) FROM gone RETURNING 1)
            SELECT count(*) FROM come
            """)
        try connection.run("ALTER TABLE \(parent.name) ATTACH PARTITION \(other) DEFAULT")
        return moved[0][0].flatMap { Int($0) } ?? 0
    }

    /// Returns a warning if the readings of a year go into the partition for other times, or `nil`.
    func warning(for year: Int, _ connection: PostgreSQLConnection) throws(DeliveryError) -> Finding? {
        guard years != nil else { return nil }
        for parent in try parents(connection) {
            guard try !missing(year...year, in: parent, connection).isEmpty else { continue }
            return Finding(
                .warning, "years", "\(year) has no partition: set 'years' to a range with it, and use '--create' again")
        }
        return nil
    }
}
