import Pipeline

/// The roles that read a database of several hubs, and the studies whose rows an analyst sees.
///
/// A study is a group of hubs. It has rows in three tables, which the owner of the tables writes:
///
/// - `study`: the studies by their names.
/// - `study_hub`: the hubs of each, by their stores.
/// - `study_reader`: the roles that may read it. Members of a role may read too.
///
/// An analyst reads the readings of the hubs of these studies. An auditor reads which hub sent what and when, of all hubs, but no values.
/// The role of the collector owns the tables, and sees everything.
public struct DatabaseReaders: Sendable {
    /// The role whose members are analysts, or `nil` for none.
    public var analyst: String?
    /// The role whose members are auditors, or `nil` for none.
    public var auditor: String?

    /// Roles, which must exist.
    public init(analyst: String? = nil, auditor: String? = nil) { (self.analyst, self.auditor) = (analyst, auditor) }

    /// The columns of the table of samples that an auditor reads.
    private static let audited = [
        "start_time", "uuid", "end_time", "type", "zone_offset", "subject", "source_id", "source_name", "source_version",
        "device_key", "device_name", "device_manufacturer", "device_model", "time_origin", "received", "hubs",
    ]

    private static let tables = ["sample"] + ObjectTable.all.map(\.name)

    /// Gives the roles their rights. The tables must exist.
    public func create(_ settings: PostgreSQLSettings) throws(DeliveryError) -> [Finding] {
        let connection = try PostgreSQLConnection(settings)
        guard try DatabaseSchema.knowsReadersRights(connection) else {
            throw DeliveryError(.unfit, "the roles of readers need PostgreSQL 15 or newer")
        }
        for role in [analyst, auditor].compactMap({ $0 }) {
            guard try !connection.run("SELECT 1 FROM pg_roles WHERE rolname = $1", [role]).isEmpty else {
                throw DeliveryError(.unfit, "the role '\(role)' does not exist: create it with 'createuser --no-login \(role)'")
            }
        }
        try connection.run("BEGIN; SELECT pg_advisory_xact_lock(\(DatabaseSchema.lock))")
        do throws(DeliveryError) {
            for statement in statements(in: settings.schema) { try connection.run(statement) }
            try connection.run("COMMIT")
        } catch {
            _ = try? connection.run("ROLLBACK")
            throw error
        }
        return [Finding(.good, "readers", [analyst, auditor].compactMap { $0 }.joined(separator: ", "))]
    }

    private func statements(in schema: String) -> [String] {
        var statements = [Self.studies(in: schema)]
        statements += Self.tables.map { "ALTER TABLE \(schema).\($0) ENABLE ROW LEVEL SECURITY" }
        let views = DatabaseViews(schema: schema).all.map(\.name)
        func list(_ names: [String]) -> String { names.map { "\(schema).\($0)" }.joined(separator: ", ") }
        if let analyst {
            statements.append("GRANT USAGE ON SCHEMA \(schema) TO \"\(analyst)\"")
            statements.append("GRANT EXECUTE ON FUNCTION \(schema).readable_hubs TO \"\(analyst)\"")
            statements.append("GRANT SELECT ON \(list(Self.tables + ["hub", "type"] + views)) TO \"\(analyst)\"")
            for table in Self.tables {
                statements.append(
                    """
                    DROP POLICY IF EXISTS study ON \(schema).\(table);
                    CREATE POLICY study ON \(schema).\(table) FOR SELECT TO "\(analyst)"
                        USING (hubs && (SELECT \(schema).readable_hubs(current_user)))
                    """)
            }
        }
        if let auditor {
            let whole = ["hub", "type", "progress", "deletion", "superseded", "version", "study", "study_hub", "study_reader"]
            statements.append("GRANT USAGE ON SCHEMA \(schema) TO \"\(auditor)\"")
            statements.append("GRANT SELECT ON \(list(whole + ["device", "coverage"])) TO \"\(auditor)\"")
            statements.append(
                "GRANT SELECT (\(Self.audited.joined(separator: ", "))) ON \(schema).sample TO \"\(auditor)\"")
            statements.append(
                """
                DROP POLICY IF EXISTS audit ON \(schema).sample;
                CREATE POLICY audit ON \(schema).sample FOR SELECT TO "\(auditor)" USING (true)
                """)
        }
        return statements
    }

    /// The tables of studies, and the function that returns the numbers of the hubs that a role may read.
    private static func studies(in schema: String) -> String {
        """
        CREATE TABLE IF NOT EXISTS \(schema).study(name text PRIMARY KEY, made timestamptz NOT NULL DEFAULT now());
        CREATE TABLE IF NOT EXISTS \(schema).study_hub(
            study text NOT NULL REFERENCES \(schema).study ON UPDATE CASCADE ON DELETE CASCADE, store text NOT NULL,
            PRIMARY KEY(study, store));
        CREATE TABLE IF NOT EXISTS \(schema).study_reader(
            study text NOT NULL REFERENCES \(schema).study ON UPDATE CASCADE ON DELETE CASCADE, role text NOT NULL,
            PRIMARY KEY(study, role));
        COMMENT ON TABLE \(schema).study IS 'Studies. A study is a group of hubs.';
        COMMENT ON TABLE \(schema).study_hub IS 'The hubs of each study, by the identifiers of their stores as in the table hub.';
        COMMENT ON TABLE \(schema).study_reader IS 'The roles that may read the readings of a study.';
        CREATE OR REPLACE FUNCTION \(schema).readable_hubs(reader name) RETURNS integer[]
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $readers$
                SELECT coalesce(array_agg(DISTINCT h.id), '{}') FROM \(schema).hub h JOIN \(schema).study_hub s ON s.store = h.store
                    JOIN \(schema).study_reader r ON r.study = s.study JOIN pg_roles p ON p.rolname = r.role
                WHERE pg_has_role(reader, p.oid, 'MEMBER')
            $readers$;
        REVOKE ALL ON FUNCTION \(schema).readable_hubs FROM PUBLIC
        """
    }
}
