import HealthModel

/// How many objects of a type a client was given on a day, or stretches of statistics, or days of rings; no values.
public struct ReadEntry: Hashable, Sendable {
    /// Whose.
    public var subject: String
    /// The type's id.
    public var type: String
    /// `2026-11-20`.
    public var day: String
    /// How many.
    public var count: Int

    /// Puts it together.
    public init(subject: String, type: String, day: String, count: Int) {
        (self.subject, self.type, self.day, self.count) = (subject, type, day, count)
    }
}

extension SampleStore {
    /// Notes what a client was given, added to what it was given on that day before. Of a client that was forgotten meanwhile nothing is kept, nor of a
    /// person who was erased, of whom there is no grant.
    public func note(_ entries: [ReadEntry], readBy client: Client) throws {
        try connection.transaction {
            guard try self.client(named: client.name)?.id == client.id else { return }
            for entry in entries where entry.count > 0 {
                try connection.run(
                    """
                    INSERT INTO read_by(client, subject, type, day, count) SELECT ?1, ?2, ?3, ?4, ?5
                    WHERE EXISTS(SELECT 1 FROM granted WHERE client = ?1 AND subject = ?2) ON CONFLICT DO UPDATE SET count = count + excluded.count
                    """, .integer(client.id), .text(entry.subject), .text(entry.type), .text(entry.day),
                    .integer(Int64(entry.count)))
            }
        }
    }

    /// What a client was given, by day.
    public func readLedger(of client: Client) throws(StoreError) -> [ReadEntry] {
        let statement = try connection.statement(
            "SELECT subject, type, day, count FROM read_by WHERE client = ? ORDER BY day, subject, type")
        defer { statement.reset() }
        try statement.bind([.integer(client.id)])
        var entries: [ReadEntry] = []
        while try statement.step() {
            entries.append(
                ReadEntry(
                    subject: statement.text(0), type: statement.text(1), day: statement.text(2), count: Int(statement.integer(3)))
            )
        }
        return entries
    }
}
