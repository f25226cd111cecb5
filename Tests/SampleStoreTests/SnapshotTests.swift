import HealthModel
import PipelineTesting
import Testing

@testable import SampleStore

/// A change inside a read would be durable only with the read's end, if that succeeds: it is refused.
@Suite struct SnapshotTests {
    private static func walking(_ test: TestStore, _ body: () throws -> Void) throws {
        let cursor = try test.store.samples.cursor(matching: SampleQuery())
        defer { cursor.close() }
        #expect(try cursor.next() != nil)
        try body()
    }

    @Test("no reading is kept, deleted or repaired while a cursor is open") func cursor() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            try test.keep([try maker("60", at: 0), try maker("70", at: 1)])
            let before = try test.lines()
            let ingest = try test.store.beginIngest(TestStore.description())
            try Self.walking(test) {
                #expect(throws: StoreError.self) { try ingest.store([try maker("80", at: 2)]) }
                #expect(throws: StoreError.self) { try test.delete(try maker("60", at: 0)) }
                #expect(throws: StoreError.self) { try test.migrate(TestStore.request(.shift(1_000_000), .heartRate)) }
                #expect(throws: StoreError.self) { try test.store.beginIngest(TestStore.description()) }
            }
            #expect(try test.lines() == before)
            // Afterwards as before: another connection sees it.
            #expect(try ingest.store([try maker("80", at: 2)]) == [.stored])
            _ = try ingest.finish(at: TestStore.received.microseconds)
            #expect(try test.another(.read).summary().samples == 3)
        }
    }

    @Test("nothing is written by one statement either") func oneStatement() throws {
        try TestStore.with { test in
            try test.keep([try SampleMaker()("60", at: 0)])
            let clock = UnsetClock(boot: "a", began: 0, mark: try test.store.clock.mark())
            try Self.walking(test) { #expect(throws: StoreError.self) { try test.store.clock.save(clock) } }
            #expect(try test.store.clock.unset() == nil)
            try test.store.clock.save(clock)
            #expect(try test.store.clock.unset() == clock)
        }
    }

    @Test("nor where changes are read") func changes() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            try test.keep([try maker("60", at: 0)])
            let ingest = try test.store.beginIngest(TestStore.description())
            var refused = 0
            try test.store.changes.read(after: 0, types: nil) { _ in
                #expect(throws: StoreError.self) { try ingest.store([try maker("70", at: 1)]) }
                refused += 1
            }
            #expect(refused == 1)
            #expect(try test.lines().count == 1)
            _ = try ingest.finish(at: TestStore.received.microseconds)
        }
    }

    @Test("of two cursors the second stays on its state when the first ends") func twoCursors() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            try test.keep(try (0..<10).map { try maker("60", at: Double($0)) })
            let first = try test.store.samples.cursor(matching: SampleQuery())
            let second = try test.store.samples.cursor(matching: SampleQuery())
            first.close()
            let other = try test.another()
            _ = try other.beginIngest(TestStore.description()).store([try maker("60", at: 20)])
            // Read with the second one's state.
            #expect(try test.store.summary().samples == 10)
            second.close()
            #expect(try test.store.summary().samples == 11)
        }
    }

    @Test("a read inside a change is part of it") func readInsideAChange() throws {
        try TestStore.with { test in
            try test.keep([try SampleMaker()("60", at: 0)])
            try test.store.rehearse {
                try test.keep([try SampleMaker()("70", at: 1)])
                #expect(try test.lines().count == 2)
                try test.keep([try SampleMaker()("80", at: 2)])
            }
            #expect(try test.lines().count == 1)
        }
    }
}
