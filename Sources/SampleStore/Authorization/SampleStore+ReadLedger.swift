import Glibc
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
    /// Enters what clients were given, added to what they were given on that day before: these entries, and those of each file of the ``ReadJournal``
    /// that no running program writes to. Of a client that was forgotten in the meantime nothing is kept, nor of a person who was erased, of whom
    /// there is no grant.
    public func enterReads(_ entries: [ReadJournal.Entry] = []) throws {
        let files = ReadJournal.ids(path).filter { ReadJournal.isLeft(path, $0) }
        guard !(files.isEmpty && entries.isEmpty) else { return }
        try connection.transaction {
            for entry in entries { try add(entry) }
            for file in files where try !isEntered(file) {
                for entry in ReadJournal.read(ReadJournal.path(path, file)) { try add(entry) }
                try connection.run("INSERT INTO setting VALUES(?, 1)", .text(Self.entered + file))
            }
        }
        for file in files { unlink(ReadJournal.path(path, file)) }
        try connection.transaction {
            for file in files { try connection.run("DELETE FROM setting WHERE name = ?", .text(Self.entered + file)) }
        }
    }

    private static let entered = "reads."

    private func isEntered(_ file: String) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM main.setting WHERE name = ?", .text(Self.entered + file)) != nil
    }

    private func add(_ entry: ReadJournal.Entry) throws(StoreError) {
        guard entry.read.count > 0 else { return }
        try connection.run(
            """
            INSERT INTO read_by(client, subject, type, day, count) SELECT ?1, ?2, ?3, ?4, ?5
            WHERE EXISTS(SELECT 1 FROM granted WHERE client = ?1 AND subject = ?2) ON CONFLICT DO UPDATE SET count = count + excluded.count
            """, .integer(entry.client), .text(entry.read.subject), .text(entry.read.type), .text(entry.read.day),
            .integer(Int64(entry.read.count)))
    }

    /// What a client was given, by day, what was not entered yet included.
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
        var added: [ReadEntry: Int] = [:]
        for file in ReadJournal.ids(path) where try !isEntered(file) {
            for entry in ReadJournal.read(ReadJournal.path(path, file)) where entry.client == client.id {
                var kind = entry.read
                kind.count = 0
                added[kind, default: 0] += entry.read.count
            }
        }
        guard !added.isEmpty else { return entries }
        for index in entries.indices {
            var kind = entries[index]
            kind.count = 0
            entries[index].count += added.removeValue(forKey: kind) ?? 0
        }
        entries += added.map { ReadEntry(subject: $0.subject, type: $0.type, day: $0.day, count: $1) }
        return entries.sorted { ($0.day, $0.subject, $0.type) < ($1.day, $1.subject, $1.type) }
    }
}
