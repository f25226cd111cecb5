import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct ReadJournalTests {
    private static func client(_ test: TestStore) throws -> Client {
        let client = try test.store.clients.add(named: "x", purpose: "y", at: TestStore.received)
        try test.store.clients.set(
            Grant(person: TestStore.person, type: ObjectType(.heartRate), reading: .all, mayWrite: false), of: client,
            at: TestStore.received)
        return client
    }

    private static func entry(_ client: Client, _ count: Int) -> ReadJournal.Entry {
        ReadJournal.Entry(
            client: client.id, read: ReadEntry(person: TestStore.person, type: "heartRate", day: "2026-11-20", count: count))
    }

    @Test func ledgerIncludesUnwrittenReads() throws {
        try TestStore.with { test in
            let client = try Self.client(test)
            let journal = ReadJournal(store: try test.store.path)
            #expect(journal.append([Self.entry(client, 3)]))
            #expect(try test.store.clients.readLedger(of: client).map(\.count) == [3])
            // A file that a running program writes to is not entered.
            try test.store.clients.enterReads([Self.entry(client, 2)])
            #expect(try test.store.clients.readLedger(of: client).map(\.count) == [5])
            journal.end()
            for _ in 0..<2 { try test.store.clients.enterReads() }
            #expect(try test.store.clients.readLedger(of: client).map(\.count) == [5])
            #expect(try !ReadJournal.isThere(test.store.path))
            #expect(try test.store.connection.integer("SELECT count(*) FROM setting WHERE name LIKE 'reads%'") == 0)
        }
    }

    /// A program that was killed in the middle of a line leaves the lines before it.
    @Test func aPartOfALineCountsForNothing() throws {
        try TestStore.with { test in
            let client = try Self.client(test)
            let journal = ReadJournal(store: try test.store.path)
            #expect(journal.append([Self.entry(client, 3), Self.entry(client, 4)]))
            journal.end()
            let store = try test.store.path
            let path = ReadJournal.path(store, try #require(ReadJournal.ids(store).first))
            let whole = try Data(contentsOf: URL(filePath: path))
            for count in 0...whole.count {
                try Data(whole.prefix(count)).write(to: URL(filePath: path))
                let counts = try test.store.clients.readLedger(of: client).map(\.count)
                #expect([[], [3], [7]].contains(counts))
            }
            try test.store.clients.enterReads()
            #expect(try test.store.clients.readLedger(of: client).map(\.count) == [7])
        }
    }
}
