import HealthModel
import Pipeline

/// Our tables in a database, as numbered steps that are only ever added to.
///
/// - `hub`: the stores that feed the database.
/// - `sample`: a row for each sample that any of them has; `hubs` are those that have it. Its key begins with the time, so that it can be partitioned.
/// - `deletion`: what a hub had and has no more, with what took its place.
/// - `progress`: how far each target has come; for people, nothing depends on it.
/// - a table for each other kind of sample, such as `workout` (``ObjectTable``), whose key is the UUID.
/// - a view for each type, such as `heart_rate` or `sleep_analysis`, and for the points of series, such as `workout_route_point`.
struct DatabaseSchema {
    let name: String

    var version: Int { steps.count }

    private var steps: [String] {
        [
            """
            CREATE TABLE \(name).hub(id serial PRIMARY KEY, store text NOT NULL UNIQUE);
            CREATE TABLE \(name).sample(
                start_time timestamptz NOT NULL, uuid uuid NOT NULL, end_time timestamptz NOT NULL, type text NOT NULL,
                value double precision NOT NULL, unit text NOT NULL, numeral text NOT NULL, numeral_unit text NOT NULL,
                zone_offset integer, subject text NOT NULL, source_id text NOT NULL, source_name text NOT NULL, source_version text,
                device_key text, device_name text, device_manufacturer text, device_model text, time_origin text NOT NULL,
                received timestamptz NOT NULL, group_id text, metadata jsonb NOT NULL, hubs integer[] NOT NULL,
                PRIMARY KEY(start_time, uuid));
            CREATE INDEX sample_uuid ON \(name).sample(uuid);
            CREATE TABLE \(name).deletion(
                uuid uuid NOT NULL, hub integer NOT NULL REFERENCES \(name).hub, type text NOT NULL, replaced_by uuid,
                told timestamptz NOT NULL DEFAULT now(), PRIMARY KEY(uuid, hub));
            CREATE TABLE \(name).progress(
                hub integer NOT NULL REFERENCES \(name).hub, target text NOT NULL, anchor text NOT NULL,
                told timestamptz NOT NULL DEFAULT now(), PRIMARY KEY(hub, target));
            """,
            ObjectTable.all.map { $0.creation(in: name) }.joined(separator: "\n"),
        ]
    }

    /// The version that is there; 0 where there is none.
    func found(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Int {
        guard try connection.run("SELECT to_regclass($1)", ["\(name).version"])[0][0] != nil else { return 0 }
        return try connection.run("SELECT coalesce(max(number), 0) FROM \(name).version").first?.first?.flatMap { Int($0) } ?? 0
    }

    func create(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Int {
        try connection.run(
            """
            BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(\(DatabaseSchema.lock));
            """)
        // Whoever owns the schema need not own the database.
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
            for view in views { try connection.run(view) }
            try connection.run("COMMIT")
            return found
        } catch {
            _ = try? connection.run("ROLLBACK")
            throw error
        }
    }

    /// "VGAT": whoever writes to our tables holds it, so that two hubs never wait for one another's rows.
    static let lock = 0x5647_4154

    /// Made anew each time: a newer version has more types.
    private var views: [String] {
        SampleType.all.compactMap { view(of: $0) } + ObjectTable.all.compactMap { $0.pointView(in: name) }
    }

    /// `nil` for a type that is the only one of its table.
    private func view(of type: SampleType) -> String? {
        let own: String
        let table: String
        switch type.kind {
        case .quantity: (own, table) = ("value, unit", "sample")
        case .category: (own, table) = ("value, value_name", "category")
        case .correlation, .scoredAssessment, .clinicalRecord:
            guard let known = ObjectTable.byKind[type.kind] else { return nil }
            (own, table) = (known.columns.map(\.name).joined(separator: ", "), known.name)
        default: return nil
        }
        return """
            CREATE OR REPLACE VIEW \(name).\(Self.snake(type.id)) AS
            SELECT start_time, end_time, \(own), subject, source_name, device_name, uuid FROM \(name).\(table) WHERE type = '\(type.id)'
            """
    }

    /// `heart_rate` for `heartRate`, `vo2_max` for `vo2Max`.
    static func snake(_ id: String) -> String {
        var name = ""
        for character in id {
            if character.isUppercase, !name.isEmpty { name += "_" }
            name += character.lowercased()
        }
        return name
    }
}
