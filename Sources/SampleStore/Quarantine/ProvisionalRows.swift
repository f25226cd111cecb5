import HealthModel
import Pipeline

extension SampleStore {
    /// If a profile has more quarantined rows than this, the older ones are left to a person.
    private static let mostProvisional: Int64 = 256

    /// Returns the texts of quarantined rows that may be incomplete, from files that a profile read, latest first.
    public func provisionalRows(of profile: String) throws(StoreError) -> [(number: Int64, text: String)] {
        let statement = try connection.statement(
            """
            SELECT quarantine.id, frame FROM quarantine JOIN ingest ON ingest.id = quarantine.ingest
            WHERE quarantine.state = 'held' AND rule = ?1 AND profile = ?2 AND frame <> '' ORDER BY quarantine.id DESC LIMIT ?3
            """)
        defer { statement.reset() }
        try statement.bind([.text(GateRule.provisional.name), .text(profile), .integer(Self.mostProvisional)])
        var rows: [(number: Int64, text: String)] = []
        while try statement.step() { rows.append((statement.integer(0), statement.text(1))) }
        return rows
    }
}

extension Ingest {
    /// Releases quarantined rows that arrived again as complete rows, which are readings of their own. Used inside the transaction that
    /// stores them.
    public func release(_ provisional: [Int64]) throws(StoreError) {
        for number in provisional
        where try connection.integer("SELECT 1 FROM quarantine WHERE id = ? AND state = 'held'", .integer(number)) != nil {
            try Judgements(connection: connection).judge([number], "released", by: id)
        }
    }
}
