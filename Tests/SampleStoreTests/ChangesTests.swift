import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct ChangesTests {
    private static func changes(_ store: SampleStore, after anchor: Int64 = 0, types: Set<SampleType>? = nil) throws
        -> [SampleChange]
    {
        var changes: [SampleChange] = []
        try store.changes.read(after: anchor, types: types) { changes.append($0) }
        return changes
    }

    @Test func additionsAndDeletionsInOneOrder() throws {
        try TestStore.with { test in
            let one = try SampleMaker()("72", at: 0)
            let other = try SampleMaker(.bodyMass).local(2)("80", at: 1)
            try test.keep([one, other])
            let anchor = try test.store.lastChange()
            #expect(anchor == 2)
            try test.delete(other)
            try test.keep([try SampleMaker()("73", at: 5)])
            try test.restore(other)
            let changes = try Self.changes(test.store, after: anchor)
            #expect(changes.map(\.seq) == [4, 5])
            try test.delete(one)
            guard case .deleted(let deletion)? = try Self.changes(test.store, after: 5).first else {
                Issue.record("no deletion")
                return
            }
            #expect((deletion.uuid, deletion.type, deletion.seq, deletion.ingest) == (one.sample.identity, .heartRate, 6, 5))
            #expect(TestStore.line(deletion.sample) == TestStore.line(one.sample), "whole, for whoever handed the sample on")
            #expect(try Self.changes(test.store, types: [.bodyMass]).map(\.seq) == [5])
            #expect(try Self.changes(test.store, types: []).isEmpty)
            #expect(try Self.changes(test.store, after: 6).isEmpty)
            #expect(try Self.changes(test.store, after: .max).isEmpty)
        }
    }

    /// Commits of a second's readings have no separate entries, and a reader does not notice.
    @Test func smallCommitsAreJoined() throws {
        try TestStore.with { test in
            let makers = [try SampleMaker(), try SampleMaker(source: "b")]
            let ingest = try test.store.beginIngest(TestStore.description())
            for second in 0..<300 { _ = try ingest.store([try makers[second % 2]("72", at: Double(second))]) }
            _ = try ingest.finish(at: 0)
            #expect(try #require(try test.store.connection.integer("SELECT count(*) FROM change")) == 2)
            for anchor in [0, 1, 2, 149, 298, 299, 300] as [Int64] {
                #expect(try Self.changes(test.store, after: anchor).map(\.seq) == Array(anchor + 1..<301))
            }
            #expect(try test.store.samples.cursor(matching: SampleQuery(limit: 1)).next()?.ingest == ingest.id)
        }
    }

    /// A reader that reads at any moment sees every change exactly once and ends with the content of the store.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func everyChangeExactlyOnce(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try TestStore.with { test in
            let makers = [
                try SampleMaker(), try SampleMaker(source: "b").local(2), try SampleMaker(.bodyMass),
                try SampleMaker(.stepCount).local(-5),
            ]
            var readers: [(anchor: Int64, live: Set<SampleIdentity>, seen: Set<Int64>)] = Array(repeating: (0, [], []), count: 3)
            var deleted: Set<SampleIdentity> = []
            var live: Set<SampleIdentity> = []
            for step in 0..<100 {
                switch Int.random(in: 0..<5, using: &random) {
                case 0 where !live.isEmpty:
                    let chosen = live.sorted().shuffled(using: &random).prefix(Int.random(in: 1...8, using: &random))
                    try test.store.samples.delete(Array(chosen), description: TestStore.description(.delete))
                    deleted.formUnion(chosen)
                    live.subtract(chosen)
                case 1 where !deleted.isEmpty:
                    let chosen = deleted.sorted().shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
                    try test.store.samples.restore(Array(chosen), description: TestStore.description(.restore))
                    deleted.subtract(chosen)
                    live.formUnion(chosen)
                default:
                    let ingest = try test.store.beginIngest(TestStore.description())
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        let batch = try (0..<Int.random(in: 1...60, using: &random)).map { _ in
                            try makers[Int.random(in: 0..<4, using: &random)](
                                "\(Int.random(in: 1...3, using: &random))", at: Double(Int.random(in: 0..<4000, using: &random)))
                        }
                        for (gated, outcome) in zip(batch, try ingest.store(batch)) where outcome == .stored {
                            live.insert(gated.sample.identity)
                        }
                    }
                    _ = try ingest.finish(at: 0)
                }
                for index in readers.indices where Int.random(in: 0..<7, using: &random) == 0 || step == 99 {
                    var previous = readers[index].anchor
                    try test.store.changes.read(after: readers[index].anchor, types: nil) { change in
                        #expect(change.seq > previous)
                        previous = change.seq
                        switch change {
                        case .added(let stored):
                            #expect(readers[index].live.insert(stored.uuid).inserted || readers[index].anchor > 0)
                        case .deleted(let deletion): readers[index].live.remove(deletion.uuid)
                        }
                    }
                    readers[index].anchor = previous
                    #expect(readers[index].live == live, "seed \(seed), step \(step)")
                    #expect(try Self.changes(test.store, after: try test.store.lastChange()).isEmpty)
                }
            }
        }
    }

    @Test func typesFilter() throws {
        try TestStore.with { test in
            let makers = [try SampleMaker(), try SampleMaker(.bodyMass), try SampleMaker(.stepCount)]
            for round in 0..<20 { try test.keep(try makers.map { try $0("1", at: Double(round)) }) }
            let all = try Self.changes(test.store)
            for types in [[SampleType.heartRate], [.bodyMass, .stepCount], [.bloodGlucose]] as [Set<SampleType>] {
                let expected = all.filter {
                    if case .added(let stored) = $0 { types.contains(stored.sample.origin.type) } else { false }
                }
                #expect(try Self.changes(test.store, types: types).map(\.seq) == expected.map(\.seq))
            }
        }
    }

    /// An error of the reader itself is returned unchanged, and the store stays usable.
    @Test func rethrowsErrorOfReader() throws {
        struct Stop: Error {}
        try TestStore.with { test in
            try test.keep(try (0..<10).map { try SampleMaker()("72", at: Double($0)) })
            #expect(throws: Stop.self) { try test.store.changes.read(after: 0, types: nil) { _ in throw Stop() } }
            try test.keep([try SampleMaker()("72", at: 99)])
        }
    }

    @Test func replacementsNameTheirSuccessor() throws {
        try TestStore.with { test in
            let versions = try (1...2).map { try SampleMaker()("\($0)", at: 0, record: RecordIdentifier(id: "r", version: $0)) }
            try test.keep([versions[0]])
            try test.keep([versions[1]])
            let changes = try Self.changes(test.store, after: 1)
            #expect(changes.count == 2)
            guard case .deleted(let deletion)? = changes.first else {
                Issue.record("the deletion comes first")
                return
            }
            #expect(deletion.replacedBy == versions[1].sample.identity.description)
        }
    }
}
