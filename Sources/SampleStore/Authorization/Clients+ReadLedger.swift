import Glibc
import HealthModel

/// The number of objects of a type, statistics intervals, or days of rings that a client read on one day. It contains
/// no values.
public struct ReadEntry: Hashable, Sendable {
    /// The person whose data was read.
    public var person: String
    /// The type's id.
    public var type: String
    /// The day, such as `2026-11-20`.
    public var day: String
    /// The number of objects, intervals or days.
    public var count: Int

    /// Creates an entry.
    public init(person: String, type: String, day: String, count: Int) {
        (self.person, self.type, self.day, self.count) = (person, type, day, count)
    }
}

extension SampleStore.Clients {
    /// Adds these entries to the read ledger, together with those of each ``ReadJournal`` file that no running program
    /// writes to. Counts of the same day add up. Entries of a removed client or an erased person are dropped, because
    /// no grant refers to them.
    public func enterReads(_ entries: [ReadJournal.Entry] = []) throws {
        let files = ReadJournal.ids(store.path).filter { ReadJournal.isLeft(store.path, $0) }
        guard !(files.isEmpty && entries.isEmpty) else { return }
        try connection.transaction {
            for entry in entries { try add(entry) }
            for file in files where try !isEntered(file) {
                for entry in ReadJournal.read(ReadJournal.path(store.path, file)) { try add(entry) }
                try connection.settings.set(Self.entered + file, to: .integer(1))
            }
        }
        for file in files { unlink(ReadJournal.path(store.path, file)) }
        try connection.transaction {
            for file in files { try connection.settings.remove(Self.entered + file) }
        }
    }

    private static let entered = "reads."

    private func isEntered(_ file: String) throws(StoreError) -> Bool {
        try connection.settings.integer(Self.entered + file) != nil
    }

    private func add(_ entry: ReadJournal.Entry) throws(StoreError) {
        guard entry.read.count > 0 else { return }
        try connection.run(
            """
            INSERT INTO read_by(client, subject, type, day, count) SELECT ?1, ?2, ?3, ?4, ?5
            WHERE \(GrantTable.hasGrants) ON CONFLICT DO UPDATE SET count = count + excluded.count
            """, .integer(entry.client), .text(entry.read.person), .text(entry.read.type), .text(entry.read.day),
            .integer(Int64(entry.read.count)))
    }

    /// The data that a client read, by day, including journal files that were not entered yet.
    public func readLedger(of client: Client) throws(StoreError) -> [ReadEntry] {
        var entries = try connection.list(
            "SELECT subject, type, day, count FROM read_by WHERE client = ? ORDER BY day, subject, type", [.integer(client.id)]
        ) { ReadEntry(person: $0.text(0), type: $0.text(1), day: $0.text(2), count: Int($0.integer(3))) }
        var added: [ReadEntry: Int] = [:]
        for file in ReadJournal.ids(store.path) where try !isEntered(file) {
            for entry in ReadJournal.read(ReadJournal.path(store.path, file)) where entry.client == client.id {
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
        entries += added.map { ReadEntry(person: $0.person, type: $0.type, day: $0.day, count: $1) }
        return entries.sorted { ($0.day, $0.person, $0.type) < ($1.day, $1.person, $1.type) }
    }
}
