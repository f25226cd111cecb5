/// The rights of analysts and of auditors, as statements that grant or revoke them. ``DatabaseReaders`` describes who sees what.
///
/// The policy on the table of samples names the role that has the rights. So the database knows who has had them.
enum ReaderRights: String, CaseIterable {
    case analyst, auditor

    /// The tables with readings. Their rows are restricted by policies.
    static let tables = ["sample"] + ObjectTable.all.map(\.name)

    /// The name of the policy.
    var policy: String {
        switch self {
        case .analyst: "study"
        case .auditor: "audit"
        }
    }

    /// The columns of the table of samples that an auditor reads.
    private static let audited = [
        "start_time", "uuid", "end_time", "type", "zone_offset", "subject", "source_id", "source_name", "source_version",
        "device_key", "device_name", "device_manufacturer", "device_model", "time_origin", "received", "hubs", "represents",
    ]

    /// The tables with the policy.
    private var restricted: [String] {
        switch self {
        case .analyst: Self.tables
        case .auditor: ["sample"]
        }
    }

    /// The restricted tables with the conditions for their rows.
    private func conditions(in schema: String) -> [(table: String, condition: String)] {
        guard self == .analyst else { return (restricted + ["hub", "study_participant"]).map { ($0, "true") } }
        let access = StudyRows(schema: schema).access
        return restricted.map { ($0, access.condition) } + [
            // It names machines.
            ("hub", "id = ANY((SELECT \(schema).readable_hubs())::integer[])"),
            ("day", access.dayCondition),
            // Only the consents by which a reading is visible.
            ("study_participant", "withdrawn IS NULL AND study = ANY((SELECT \(schema).readable_studies())::text[])"),
        ]
    }

    /// The privileges, as in GRANT and REVOKE.
    private func privileges(in schema: String) -> [String] {
        func list(_ names: [String]) -> String { names.map { "\(schema).\($0)" }.joined(separator: ", ") }
        switch self {
        case .analyst:
            let views = DatabaseViews(schema: schema).all.map(\.name)
            return [
                "USAGE ON SCHEMA \(schema)",
                "EXECUTE ON FUNCTION \(list(StudyRows.names.map { $0 + "()" }))",
                "SELECT ON \(list(Self.tables + ["hub", "type", "day", "study_participant"] + views))",
            ]
        case .auditor:
            let whole = [
                "hub", "type", "progress", "deletion", "participant", "version", "study", "study_hub", "study_participant",
                "study_reader",
                "device", "coverage",
            ]
            return [
                "USAGE ON SCHEMA \(schema)", "SELECT ON \(list(whole))",
                "SELECT (\(Self.audited.joined(separator: ", "))) ON \(schema).sample",
                "SELECT (held, hub, by, subject, place) ON \(schema).superseded",
            ]
        }
    }

    /// The statements that grant the rights to a role, in place of any other.
    func grants(to role: String, in schema: String) -> [String] {
        privileges(in: schema).map { "GRANT \($0) TO \(Self.quoted(role))" }
            + conditions(in: schema).map { table, condition in
                """
                DROP POLICY IF EXISTS \(policy) ON \(schema).\(table);
                CREATE POLICY \(policy) ON \(schema).\(table) FOR SELECT TO \(Self.quoted(role)) USING (\(condition))
                """
            }
    }

    /// The statements that revoke the rights of a role.
    func revocation(of role: String, in schema: String) -> [String] {
        privileges(in: schema).map { "REVOKE \($0) FROM \(Self.quoted(role))" }
            + conditions(in: schema).map { "DROP POLICY IF EXISTS \(policy) ON \(schema).\($0.table)" }
    }

    private static func quoted(_ role: String) -> String { "\"" + role.replacing("\"", with: "\"\"") + "\"" }
}
