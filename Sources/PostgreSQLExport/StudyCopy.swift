import Pipeline

/// A copy of a study's rows in a schema of its own, with the same views. Its readers see nothing of the other rows, not even how many there
/// are, which policies on rows cannot hide from a reader who measures the work of a query.
///
/// The copy has the rows of the moment at which it was made. Rows of a person who withdraws or is erased are removed from it at once.
package struct StudyCopy {
    private let schema: String

    /// Copies from the tables of a schema.
    package init(schema: String) { self.schema = schema }

    private static let tables = ReaderRights.tables + ["day"]

    /// Makes or replaces the copy of a study, in the open transaction.
    ///
    /// - Parameter place: The schema of the copy. It must be new, or the schema of the last copy of this study.
    /// - Returns: The number of rows.
    package func make(of study: String, in place: String, _ connection: PostgreSQLConnection) throws(DeliveryError) -> Int {
        do throws(SettingsFault) {
            try PostgreSQLSettings.check(schema: place)
        } catch {
            throw DeliveryError(.refused, "'\(place)' cannot be a schema: \(error.words)")
        }
        try connection.run("SET LOCAL statement_timeout = 0; SET LOCAL jit = off")
        let known = try connection.run(
            "UPDATE \(schema).study SET place = $2 WHERE name = $1 AND coalesce(place, $2) = $2 RETURNING 1", [study, place])
        guard !known.isEmpty else {
            throw DeliveryError(.refused, "the copy of the study is in another schema: remove it first")
        }
        let made = try connection.run("SELECT obj_description(to_regnamespace($1), 'pg_namespace')", [place]).first?.first ?? nil
        let isThere = try connection.run("SELECT to_regnamespace($1) IS NOT NULL", [place]) == [["t"]]
        guard !isThere || made == Self.comment(study) else {
            throw DeliveryError(.refused, "the schema '\(place)' exists and is not a copy of this study: choose another name")
        }
        try connection.run(
            """
            DROP SCHEMA IF EXISTS \(place) CASCADE; CREATE SCHEMA \(place);
            COMMENT ON SCHEMA \(place) IS \(DatabaseSchema.literal(Self.comment(study)))
            """)
        var count = 0
        let sent = try senders(connection)
        let access = try access(of: study, connection)
        for table in Self.tables {
            try connection.run("CREATE TABLE \(place).\(table)(LIKE \(schema).\(table) INCLUDING DEFAULTS INCLUDING INDEXES)")
            let parameters = StudyRows.Access(people: "$1", hubs: "$2", byHub: "$3", days: "$4")
            let condition = table == "day" ? parameters.dayCondition : parameters.condition
            let copied = try connection.run(
                """
                WITH new AS (INSERT INTO \(place).\(table) SELECT * FROM \(schema).\(table) WHERE \(condition) RETURNING 1)
                SELECT count(*) FROM new
                """, access)
            count += copied.first?.first?.flatMap { Int($0) } ?? 0
        }
        try connection.run(
            """
            CREATE TABLE \(place).type(LIKE \(schema).type INCLUDING INDEXES); INSERT INTO \(place).type SELECT * FROM \(schema).type;
            CREATE TABLE \(place).hub(LIKE \(schema).hub);
            """)
        try connection.run(
            """
            INSERT INTO \(place).hub SELECT h.* FROM \(schema).hub h JOIN \(schema).study_hub s ON s.store = h.store WHERE s.study = $1
            """, [study])
        let views = DatabaseViews(schema: place)
        for view in views.all { try connection.run(view.statement) }
        // A person who was erased in the meantime, by a hub or by the operator, must not be in the copy. No writer can begin until it is complete.
        try connection.run(WriterLocks(schema: schema).wholeStatement)
        let deleted = sent.subtracting(try senders(connection)).map { String($0.drop { $0 != " " }.dropFirst()) }
        for person in Set(deleted) { try remove(person, in: place, connection) }
        let readers = try connection.run(
            "SELECT quote_ident(p.rolname) FROM \(schema).study_reader r JOIN pg_roles p ON p.rolname = r.role WHERE r.study = $1",
            [study])
        for reader in readers.compactMap({ $0[0] }) { try connection.run(Self.grant(place, to: reader)) }
        return count
    }

    /// What makes the readings of a study visible, as in ``StudyRows/Access``.
    private func access(of study: String, _ connection: PostgreSQLConnection) throws(DeliveryError) -> [String?] {
        let queries = StudyRows(schema: schema).queries(for: "ARRAY[$1::text]")
        let columns = [queries.people, queries.hubs, queries.byHub, queries.days].map { "(\($0))" }
        return try connection.run("SELECT \(columns.joined(separator: ", "))", [study])[0]
    }

    /// The hubs that have sent readings of people, each as a number and a person.
    private func senders(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Set<String> {
        Set(try connection.run("SELECT hub || ' ' || subject FROM \(schema).participant").compactMap { $0[0] })
    }

    private static func comment(_ study: String) -> String { "Vitalgate: the readings of the study '\(study)'" }

    private static func grant(_ place: String, to role: String) -> String {
        "GRANT USAGE ON SCHEMA \(place) TO \(role); GRANT SELECT ON ALL TABLES IN SCHEMA \(place) TO \(role)"
    }

    /// The schemas of the copies, of a study or of all.
    private func places(_ study: String?, _ connection: PostgreSQLConnection) throws(DeliveryError) -> [String] {
        let rows = try connection.run(
            """
            SELECT quote_ident(place) FROM \(schema).study WHERE to_regnamespace(quote_ident(place)) IS NOT NULL AND coalesce(name = $1, true)
            """, [study])
        return rows.compactMap { $0[0] }
    }

    /// Removes the copy of a study, in the open transaction.
    package func remove(of study: String, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        for place in try places(study, connection) { try connection.run("DROP SCHEMA \(place) CASCADE") }
        try connection.run("UPDATE \(schema).study SET place = NULL WHERE name = $1", [study])
    }

    /// Takes the rights on the copy of a study from a role, in the open transaction.
    package func revoke(from role: String, of study: String, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        guard let name = try connection.run("SELECT quote_ident(rolname) FROM pg_roles WHERE rolname = $1", [role]).first?[0]
        else {
            return
        }
        for place in try places(study, connection) {
            try connection.run(
                "REVOKE ALL ON ALL TABLES IN SCHEMA \(place) FROM \(name); REVOKE ALL ON SCHEMA \(place) FROM \(name)")
        }
    }

    /// Removes the rows of a person from the copies, of a study or of all.
    package func remove(
        _ person: String, from study: String? = nil, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) {
        for place in try places(study, connection) { try remove(person, in: place, connection) }
    }

    private func remove(_ person: String, in place: String, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        for table in Self.tables { try connection.run("DELETE FROM \(place).\(table) WHERE subject = $1", [person]) }
    }
}
