import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A permanent removal is reported to clients that could read the data, and to no others.
@Suite struct LostChangesTests {
    private static func at(_ seconds: Int64) -> Instant { Instant(microseconds: RestrictionTests.origin + seconds * 1_000_000) }

    private func client(
        _ name: String, _ test: TestStore, _ id: String, _ reading: Grant.Reading, objects: [SampleIdentity] = [],
        mayWrite: Bool = false
    ) throws -> (client: Client, reader: SampleStore) {
        let client = try test.store.clients.add(named: name, purpose: "a test", at: RestrictionTests.now)
        let grant = Grant(person: TestStore.person, type: try #require(ObjectType(id)), reading: reading, mayWrite: mayWrite)
        try test.store.clients.set(grant, objects: objects, of: client, at: RestrictionTests.now)
        return (client, try RestrictionTests.restricted(test, to: client))
    }

    /// A client must start again exactly when a reader of a store with only its readable data would have to.
    @Test func pruningAffectsOnlyPermittedReaders() throws {
        try TestStore.with { test in
            let writer = try client("writer", test, "heartRate", .none, mayWrite: true)
            let own = try SampleMaker(source: writer.client.source)
            let (first, second) = (try RestrictionTests.condition("asthma", at: 0), try RestrictionTests.condition("gout", at: 1))
            try test.keep([try SampleMaker()("60", at: 10), first])
            let early = try test.store.changes.latestAnchor()
            try test.keepExactly([try own("61", at: 20)], client: writer.client)
            let middle = try test.store.changes.latestAnchor()
            try test.keep([try SampleMaker()("62", at: 30), try SampleMaker()("63", at: 500), second])
            let late = try test.store.changes.latestAnchor()
            let all = try client("all", test, "heartRate", .all)
            let since = try client("since", test, "heartRate", .from(Self.at(25)))
            let recent = try client("recent", test, "heartRate", .from(Self.at(200)))
            let other = try client("other", test, "stepCount", .all)
            let record = try client("record", test, "conditionRecord", .objects(future: false), objects: [first.sample.identity])
            let readers = [all, since, recent, other, record, writer].map(\.reader)
            for reader in readers {
                #expect(try reader.changes.knows(early) && reader.changes.knows(middle) && reader.changes.knows(late))
            }
            _ = try test.store.prune([.heartRate: Self.at(100)], description: TestStore.description(.prune))
            // Data up to `late` was removed, and the client's own up to `middle`.
            #expect(try readers.map { try $0.changes.knows(early) } == [false, false, true, true, true, false])
            #expect(try readers.map { try $0.changes.knows(middle) } == [false, false, true, true, true, true])
            // The entry of the change log names also a sample that one reader may not read, so this reader does not see it.
            #expect(try readers.map { try $0.changes.knows(late) } == [true, false, true, true, true, true])
            #expect(try !test.store.changes.knows(early) && !test.store.changes.knows(middle) && test.store.changes.knows(late))
            let type = try RestrictionTests.type("conditionRecord")
            _ = try test.store.prune([type: Self.at(2 * 3600)], description: TestStore.description(.prune))
            // A reader of single objects sees no entry either.
            #expect(
                try !record.reader.changes.knows(late) && record.reader.changes.knows(.beginning)
                    && record.reader.changes.knows(test.store.changes.latestAnchor()) && !test.store.changes.knows(middle))
            try test.store.clients.remove(writer.client)
            #expect(
                try test.store.connection.integer("SELECT count(*) FROM lost WHERE viewer = ?", .text(writer.client.source)) == 0)
        }
    }

    /// A grant of future records begins after the existing ones. It is not affected if one of those was deleted and permanently removed.
    @Test func grantOfFutureRecordsIgnoresEarlierPruning() throws {
        try TestStore.with { test in
            let (old, new) = (try RestrictionTests.condition("asthma", at: 0), try RestrictionTests.condition("gout", at: 3))
            try test.keep([old])
            let future = try client("future", test, "conditionRecord", .objects(future: true))
            let early = try test.store.changes.latestAnchor()
            try test.delete(old)
            let type = try RestrictionTests.type("conditionRecord")
            _ = try test.store.prune([type: Self.at(2 * 3600)], description: TestStore.description(.prune))
            #expect(try future.reader.changes.knows(early) && !test.store.changes.knows(early))
            let middle = try test.store.changes.latestAnchor()
            try test.keep([new])
            try test.delete(new)
            _ = try test.store.prune([type: Self.at(4 * 3600)], description: TestStore.description(.prune))
            #expect(try !future.reader.changes.knows(middle))
        }
    }

    @Test func personLearnsOnlyOfOwnPruning() throws {
        try TestStore.with { test in
            let hers = try SampleMaker(person: RestrictionTests.other)
            try test.keep([try SampleMaker()("60", at: 10)])
            let early = try test.store.changes.latestAnchor()
            try test.keep([try hers("61", at: 20)])
            _ = try test.store.prune([.heartRate: Self.at(100)], description: TestStore.description(.prune))
            for (person, knows) in [(TestStore.person, true), (RestrictionTests.other, false)] {
                let reader = try test.another(.read)
                try reader.restrict(toPerson: person)
                #expect(try reader.changes.knows(early) == knows)
            }
        }
    }
}
