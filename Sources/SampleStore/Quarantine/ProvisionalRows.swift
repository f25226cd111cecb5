import HealthModel
import Pipeline

extension SampleStore {
    /// More held rows of one form than these are left to a person.
    private static let mostProvisional: Int64 = 256

    /// The texts of held rows that may be cut, of files that a profile read; the latest first.
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
    /// Releases held rows that arrived whole: what they say now is a reading of its own. Within the transaction that stores it.
    public func release(_ provisional: [Int64]) throws(StoreError) {
        for number in provisional
        where try connection.integer("SELECT 1 FROM quarantine WHERE id = ? AND state = 'held'", .integer(number)) != nil {
            try Judgements(connection: connection).judge([number], "released", by: id)
        }
    }
}
