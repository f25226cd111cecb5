import HealthModel
import Pipeline

/// Erases a person from the database for the operator: the reports of all hubs, and everything that says that there were any. Later readings
/// of the person are refused, because a hub may still have them. Only a hash of the person's UUID stays for this.
package struct PersonErasure {
    private let schema: String

    /// An erasure from the tables of a schema.
    package init(schema: String) { self.schema = schema }

    /// The tables with a row for each report or deletion of a person.
    private var tables: [String] {
        ReportTable.tables(of: Set(SampleKind.allCases)).map(\.name) + ["superseded", "deletion", "record"]
    }

    /// Returns the number of rows of a person, and the stores of the hubs that have sent them.
    package func contents(
        of person: String, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) -> (rows: Int, stores: [String]) {
        let counts = tables.map { "(SELECT count(*) FROM \(schema).\($0) WHERE subject = $1)" }.joined(separator: " + ")
        let rows = try connection.run("SELECT \(counts)", [person]).first?.first?.flatMap { Int($0) } ?? 0
        let stores = try connection.run(
            """
            SELECT h.store FROM \(schema).participant p JOIN \(schema).hub h ON h.id = p.hub WHERE p.subject = $1 ORDER BY h.store
            """, [person])
        return (rows, stores.compactMap { $0[0] })
    }

    /// Erases a person, in the open transaction.
    package func run(of person: String, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        try connection.run("SET LOCAL statement_timeout = 0; \(WriterLocks(schema: schema).wholeStatement)")
        try connection.run(
            "INSERT INTO \(schema).erased(person) VALUES(\(Self.hash("$1", in: schema))) ON CONFLICT DO NOTHING", [person])
        for table in tables + ["participant", "source_order", "study_participant"] + DayRows.tables {
            try connection.run("DELETE FROM \(schema).\(table) WHERE subject = $1", [person])
        }
        try StudyCopy(schema: schema).remove(person, connection)
    }

    /// Lets a person be stored again, in the open transaction.
    ///
    /// - Returns: Whether the person was erased.
    package func undo(of person: String, _ connection: PostgreSQLConnection) throws(DeliveryError) -> Bool {
        try !connection.run(
            "DELETE FROM \(schema).erased WHERE person = \(Self.hash("$1", in: schema)) RETURNING 1", [person]
        ).isEmpty
    }

    /// Whether a person was erased.
    package func isErased(_ person: String, _ connection: PostgreSQLConnection) throws(DeliveryError) -> Bool {
        try !Self.erased(of: [person], in: schema, connection).isEmpty
    }

    /// Returns those of some people that were erased.
    static func erased(
        of people: Set<String>, in schema: String, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) -> Set<String> {
        let rows = try connection.run(
            """
            SELECT p FROM unnest($1::text[]) AS p WHERE \(hash("p", in: schema)) IN (SELECT person FROM \(schema).erased)
            """, [NewRows.literal(people.sorted())])
        return Set(rows.compactMap { $0[0] })
    }

    private static func hash(_ person: String, in schema: String) -> String {
        "sha256(convert_to((SELECT id::text FROM \(schema).self) || ' ' || lower(\(person)::text), 'UTF8'))"
    }
}
