import Pipeline

/// The roles that read a database of several hubs, and the studies whose rows an analyst sees.
///
/// A study is a group of people with their consents, or all people of some hubs (``StudyRows``).
///
/// An analyst reads the readings of these studies. An auditor reads which hub sent what and when, of all hubs, but no values.
/// The role of the collector owns the tables, and sees everything.
package struct DatabaseReaders: Sendable {
    /// The role whose members are analysts, or `nil` for none.
    package var analyst: String?
    /// The role whose members are auditors, or `nil` for none.
    package var auditor: String?

    /// Roles, which must exist.
    package init(analyst: String? = nil, auditor: String? = nil) { (self.analyst, self.auditor) = (analyst, auditor) }

    private static let tables = ReaderRights.tables + ["hub", "day", "study_participant"]

    /// Grants the named roles their rights, and revokes those of roles that are not named any more. The tables must exist.
    package func create(_ settings: PostgreSQLSettings) throws(DeliveryError) -> [Finding] {
        let connection = try PostgreSQLConnection(settings)
        let schema = settings.schema
        var statements: [String] = []
        var findings: [Finding] = []
        for (role, rights) in try granted(connection, schema) where role != named(rights) {
            statements += rights.revocation(of: role, in: schema)
            findings.append(Finding(.good, "readers", "'\(role)' is no longer the \(rights.rawValue): its rights were revoked"))
        }
        let roles = [analyst, auditor].compactMap { $0 }
        if !roles.isEmpty {
            guard try DatabaseSchema.knowsReadersRights(connection) else {
                throw DeliveryError(.unfit, "the roles of readers need PostgreSQL 15 or newer")
            }
            for role in roles { try check(role, connection, schema) }
            statements.append(StudyRows(schema: schema).functions)
            statements += Self.tables.map { "ALTER TABLE \(schema).\($0) ENABLE ROW LEVEL SECURITY" }
            for rights in ReaderRights.allCases {
                if let role = named(rights) { statements += rights.grants(to: role, in: schema) }
            }
            findings.append(Finding(.good, "readers", roles.joined(separator: ", ")))
        }
        guard !statements.isEmpty else { return [] }
        try connection.run("BEGIN; \(WriterLocks(schema: schema).wholeStatement)")
        do throws(DeliveryError) {
            for statement in statements { try connection.run(statement) }
            try connection.run("COMMIT")
        } catch {
            _ = try? connection.run("ROLLBACK")
            throw error
        }
        return findings
    }

    private func named(_ rights: ReaderRights) -> String? {
        switch rights {
        case .analyst: analyst
        case .auditor: auditor
        }
    }

    /// Returns the roles that have been granted rights, as the policies name them.
    private func granted(
        _ connection: PostgreSQLConnection, _ schema: String
    ) throws(DeliveryError) -> [(role: String, rights: ReaderRights)] {
        let rows = try connection.run(
            """
            SELECT rolname, polname FROM pg_policy JOIN pg_roles ON pg_roles.oid = ANY(polroles)
            WHERE polrelid = $1::regclass ORDER BY polname, rolname
            """, ["\(schema).sample"])
        return rows.compactMap { row in
            guard let role = row[0], let rights = ReaderRights.allCases.first(where: { $0.policy == row[1] }) else { return nil }
            return (role, rights)
        }
    }

    /// Throws if a role does not exist, or if policies would not restrict it.
    private func check(_ role: String, _ connection: PostgreSQLConnection, _ schema: String) throws(DeliveryError) {
        guard analyst != auditor else {
            throw DeliveryError(.unfit, "the role '\(role)' cannot be both the analyst and the auditor")
        }
        let rows = try connection.run(
            """
            SELECT rolsuper, rolbypassrls, pg_has_role(r.oid, c.relowner, 'MEMBER') FROM pg_roles r, pg_class c
            WHERE r.rolname = $1 AND c.oid = $2::regclass
            """, [role, "\(schema).sample"])
        guard let row = rows.first else {
            throw DeliveryError(.unfit, "the role '\(role)' does not exist: create it with 'createuser --no-login \(role)'")
        }
        guard !role.hasPrefix("pg_") else { throw DeliveryError(.unfit, "the role '\(role)' is one of PostgreSQL's own") }
        let reasons = ["is a superuser", "has BYPASSRLS", "owns the tables, or is a member of their owner"]
        for (cell, reason) in zip(row, reasons) where cell == "t" {
            throw DeliveryError(.unfit, "the role '\(role)' \(reason), so it would read everything: use another role")
        }
    }
}
