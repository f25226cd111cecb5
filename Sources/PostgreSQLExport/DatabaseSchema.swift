import HealthModel
import Pipeline

/// Our tables in a database, as numbered steps. Steps are only ever added.
///
/// - `self`: the database's own identity, in one row.
/// - `hub`: the stores that feed the database.
/// - `sample`: a row for each sample that at least one hub has. `hubs` lists these hubs. The key begins with the person, so that
///   the table can be partitioned by persons. Columns of a fixed length and those of comparisons come first, because PostgreSQL reads a row up
///   to the last column that a query needs.
/// - `deletion`: samples that a hub has deleted, with their replacement.
/// - `participant`: the people of each hub.
/// - `erased`: hashes of the people that were erased here (``PersonErasure``).
/// - `lock`: the locks of writers (``WriterLocks``).
/// - `progress`: the cursor of each target and the machine that feeds it, written with each delivery.
/// - `record`: versions of records with a manufacturer's id (``RecordRows``).
/// - `superseded`: reports that another row represents (``SupersededRows``).
/// - `day`, `day_due`, `day_longest`: the statistics of days (``DayRows``).
/// - `source_order`: the users' orders of sources (``SourceOrderRows``).
/// - `study`, `study_hub`, `study_participant`, `study_reader`: the studies and their readers (``StudyRows``).
/// - `type`: the types of samples.
/// - a table for each other kind of sample, such as `workout` (``ObjectTable``), whose key is the UUID.
/// - views (``DatabaseViews``).
struct DatabaseSchema {
    let name: String
    private let steps: [String]
    private let partitions: DatabasePartitions

    var version: Int { steps.count }

    /// - Parameters:
    ///   - people: the number of partitions of the table of samples by person when it is created, or 0 for a table without.
    ///   - years: the years that get a partition of their own, or `nil` for a table without.
    ///   - later: steps to apply after the tables of the first release.
    init(name: String, people: Int = 0, years: ClosedRange<Int>? = nil, later: [String] = []) {
        self.name = name
        partitions = DatabasePartitions(schema: name, people: people, years: years)
        steps = [Self.firstRelease(in: name, partitions)] + later
    }

    private static func firstRelease(in name: String, _ partitions: DatabasePartitions) -> String {
        """
        CREATE TABLE \(name).self(id uuid NOT NULL, is_only boolean PRIMARY KEY DEFAULT true CHECK(is_only));
        INSERT INTO \(name).self(id) VALUES(md5(random()::text || clock_timestamp()::text || pg_backend_pid()::text)::uuid);
        CREATE TABLE \(name).hub(
            id serial PRIMARY KEY, store text NOT NULL UNIQUE, name text, requests bigint NOT NULL DEFAULT 0);
        CREATE TABLE \(name).sample(
            start_time timestamptz NOT NULL, uuid uuid NOT NULL, end_time timestamptz NOT NULL, value double precision NOT NULL,
            \(ObjectRows.hashes), type text COLLATE "C" NOT NULL, \(ObjectRows.person), hubs integer[] NOT NULL,
            unit text NOT NULL, numeral text NOT NULL, numeral_unit text NOT NULL, zone_offset integer, \(ObjectRows.origin),
            \(ObjectRows.identity), represents integer[],
            PRIMARY KEY(subject, start_time, uuid, variant))\(partitions.clause);
        \(partitions.creation)
        CREATE INDEX sample_uuid ON \(name).sample(uuid);
        CREATE INDEX sample_type ON \(name).sample(type, subject);
        CREATE INDEX sample_time ON \(name).sample USING brin(start_time) WITH (autosummarize = on);
        CREATE TABLE \(name).deletion(
            uuid uuid NOT NULL, hub integer NOT NULL REFERENCES \(name).hub, type text NOT NULL, replaced_by uuid,
            told timestamptz NOT NULL DEFAULT now(), subject text COLLATE "C" NOT NULL, PRIMARY KEY(uuid, hub));
        CREATE INDEX deletion_subject ON \(name).deletion(subject);
        CREATE TABLE \(name).participant(
            hub integer NOT NULL REFERENCES \(name).hub, subject text COLLATE "C" NOT NULL, PRIMARY KEY(hub, subject));
        CREATE INDEX participant_subject ON \(name).participant(subject);
        CREATE TABLE \(name).erased(person bytea PRIMARY KEY, made timestamptz NOT NULL DEFAULT now());
        \(WriterLocks.creation(in: name))
        CREATE TABLE \(name).progress(
            hub integer NOT NULL REFERENCES \(name).hub, target text NOT NULL, anchor text NOT NULL,
            told timestamptz NOT NULL DEFAULT now(), count bigint NOT NULL DEFAULT 0, holder text, holder_name text,
            PRIMARY KEY(hub, target));
        \(RecordRows.creation(in: name))
        \(SupersededRows.creation(in: name))
        \(DayRows.creation(in: name))
        \(SourceOrderRows.creation(in: name))
        \(StudyRows.creation(in: name))
        CREATE TABLE \(name).type(
            name text PRIMARY KEY, kind text NOT NULL, display_name text NOT NULL, unit text, aggregation text, loinc text);
        \(ObjectTable.all.map { $0.creation(in: name) }.joined(separator: "\n"))
        CREATE INDEX correlation_objects ON \(name).correlation USING gin(objects);
        """
    }

    /// Returns the version in the database, or 0 if there is none.
    func found(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Int {
        guard try connection.run("SELECT to_regclass($1)", ["\(name).version"])[0][0] != nil else { return 0 }
        return try connection.run("SELECT coalesce(max(number), 0) FROM \(name).version").first?.first?.flatMap { Int($0) } ?? 0
    }

    /// Creates the tables, or updates those of an older version, in one transaction.
    ///
    /// - Returns: the version before, and findings about the partitions.
    func create(_ connection: PostgreSQLConnection) throws(DeliveryError) -> (found: Int, findings: [Finding]) {
        try connection.run(
            """
            BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0
            """)
        try lock(connection)
        // The owner of the schema need not be the owner of the database.
        if try connection.run("SELECT to_regnamespace($1)", [name])[0][0] == nil { try connection.run("CREATE SCHEMA \(name)") }
        try connection.run(
            """
            CREATE TABLE IF NOT EXISTS \(name).version(number integer PRIMARY KEY, made timestamptz NOT NULL DEFAULT now());
            """)
        do throws(DeliveryError) {
            let found = try found(connection)
            for number in found..<max(found, version) {
                try connection.run(steps[number] + ";INSERT INTO \(name).version(number) VALUES(\(number + 1))")
            }
            let findings = try partitions.complete(connection)
            try ContentTrigger(schema: name).create(connection)
            try fillTypes(connection)
            let views = DatabaseViews(schema: name)
            // Created again each time because a newer version has more types.
            for view in views.all { try connection.run(view.statement) }
            try applyReadersRights(connection, views)
            try connection.run(DatabaseComments(schema: name, views: views).statements.joined(separator: ";"))
            try connection.run("COMMIT")
            return (found, findings)
        } catch {
            _ = try? connection.run("ROLLBACK")
            throw error
        }
    }

    /// Waits for all writers, and for others that create the tables.
    private func lock(_ connection: PostgreSQLConnection) throws(DeliveryError) {
        func hasTable() throws(DeliveryError) -> Bool {
            try connection.run("SELECT to_regclass($1)", ["\(name).lock"])[0][0] != nil
        }
        // Any role that may connect can take an advisory lock, so it is used only if there is nothing else.
        if try !hasTable() { try connection.run("SELECT pg_advisory_xact_lock(hashtext($1))", [name]) }
        if try hasTable() { try connection.run(WriterLocks(schema: name).wholeStatement) }
    }

    /// Makes the views read with the rights of the reader, so that a policy on rows is valid for them too. PostgreSQL 14 has no such views.
    private func applyReadersRights(_ connection: PostgreSQLConnection, _ views: DatabaseViews) throws(DeliveryError) {
        guard try Self.knowsReadersRights(connection) else { return }
        try connection.run(
            views.all.map { "ALTER VIEW \(name).\($0.name) SET (security_invoker = true)" }.joined(separator: ";"))
    }

    /// Whether a view can read with the rights of its reader.
    static func knowsReadersRights(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Bool {
        try connection.run("SELECT current_setting('server_version_num')::integer >= 150000") == [["t"]]
    }

    private func fillTypes(_ connection: PostgreSQLConnection) throws(DeliveryError) {
        let rows = SampleType.all.map { type in
            let isQuantity = type.kind == .quantity
            let cells: [String?] = [
                type.id, type.kind.name, type.displayName, isQuantity ? type.canonicalUnit.code : nil,
                isQuantity ? type.aggregation.rawValue : nil, type.loinc,
            ]
            return "(" + cells.map(Self.literal).joined(separator: ", ") + ")"
        }
        try connection.run(
            """
            INSERT INTO \(name).type(name, kind, display_name, unit, aggregation, loinc) VALUES \(rows.joined(separator: ",\n"))
            ON CONFLICT(name) DO UPDATE SET kind = excluded.kind, display_name = excluded.display_name, unit = excluded.unit,
                aggregation = excluded.aggregation, loinc = excluded.loinc
            """)
    }

    /// Returns a text as an SQL literal. `nil` is NULL.
    static func literal(_ text: String?) -> String {
        text.map { "'" + $0.replacing("'", with: "''") + "'" } ?? "NULL"
    }

    /// Our tables with their written columns, by name.
    static let written: [String: Set<String>] = {
        var tables: [String: Set<String>] = ["sample": Set(CopyRows.columns + ["hubs"])]
        for table in ObjectTable.all {
            tables[table.name] = Set(CopyRows.head + table.columns.map(\.name) + CopyRows.tail + ["hubs"])
        }
        return tables
    }()

    /// Returns a reason why no row can be written to this database, or `nil`.
    func rejectionReason(_ connection: PostgreSQLConnection) throws(DeliveryError) -> String? {
        let encoding = try connection.run("SELECT current_setting('server_encoding')")[0][0] ?? ""
        guard encoding == "UTF8" else {
            return "the database has the encoding \(encoding), which cannot represent most names: use UTF8"
        }
        let demanded = try connection.run(
            """
            SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped AND attnotnull
                AND NOT atthasdef AND attidentity = '' ORDER BY relname, attname
            """, [name])
        for row in demanded {
            guard let table = row[0], let column = row[1], let ours = Self.written[table], !ours.contains(column) else {
                continue
            }
            return "the column '\(column)' of \(name).\(table) requires a value and has no default: add a default, or allow NULL"
        }
        return nil
    }

    /// Returns a warning if a year has no partition although years have, or `nil`.
    func warning(for year: Int, _ connection: PostgreSQLConnection) throws(DeliveryError) -> Finding? {
        try partitions.warning(for: year, connection)
    }

    /// Returns a name in snake case: `heart_rate` for `heartRate`, `vo2_max` for `vo2Max`.
    static func snake(_ id: String) -> String {
        var name = ""
        for character in id {
            if character.isUppercase, !name.isEmpty { name += "_" }
            name += character.lowercased()
        }
        return name
    }
}
