import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The intervals of one heart-rate frame have one start. Heart rate variability depends on the order in which they arrived.
@Suite struct FrameOrderTests {
    private let beats: SampleType

    init() throws { beats = try #require(SampleType("heartbeatInterval")) }

    /// Frames as a strap sends them: a rate and some intervals, equal ones among them.
    private func frames(_ count: Int, seed: UInt64) throws -> [[GatedSample]] {
        var random = SeededGenerator(seed: seed)
        let (rate, interval) = (try SampleMaker(), try SampleMaker(beats))
        return try (0..<count).map { second in
            var seen: [String: UInt32] = [:]
            let intervals = try (0..<Int.random(in: 1...4, using: &random)).map { _ in
                let text = "\(800 + 8 * Int.random(in: 0..<6, using: &random))"
                defer { seen[text, default: 0] += 1 }
                return try interval(text, at: Double(second), ordinal: seen[text] ?? 0, group: UInt64(second + 1))
            }
            return [try rate("72", at: Double(second), group: UInt64(second + 1))] + intervals
        }
    }

    private func sent(_ frames: [[GatedSample]]) -> [Double] { frames.flatMap { $0.dropFirst().map(\.sample.value) } }

    private func queried(_ test: TestStore, descending: Bool = false) throws -> [Double] {
        var query = SampleQuery(types: [beats])
        query.descending = descending
        return try test.samples(query).map(\.sample.value)
    }

    private func reported(_ test: TestStore, after anchor: Int64 = 0) throws -> [Double] {
        var reported: [Double] = []
        try test.store.changes.read(after: anchor, types: [beats]) {
            if case .added(let stored) = $0 { reported.append(stored.sample.value) }
        }
        return reported
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func inQueryAndFeed(seed: UInt64) throws {
        let frames = try frames(200, seed: seed)
        try TestStore.with { test in
            let ingest = try test.store.beginIngest(TestStore.description())
            for index in stride(from: 0, to: 200, by: 5) { _ = try ingest.store(Array(frames[index..<index + 5].joined())) }
            _ = try ingest.finish(at: 0)
            #expect(try queried(test) == sent(frames))
            #expect(try queried(test, descending: true) == sent(frames).reversed())
            #expect(try reported(test) == sent(frames))
        }
    }

    @Test func afterDeletionAndRestoration() throws {
        let frames = try frames(50, seed: 7)
        try TestStore.with { test in
            let (_, account) = try test.keep(Array(frames.joined()))
            let uuids = frames.joined().map(\.sample.identity)
            try test.store.samples.delete(uuids, description: TestStore.description(.delete))
            try test.store.samples.restore(uuids.sorted(), description: TestStore.description(.restore))
            #expect(try queried(test) == sent(frames))
            let undone = try test.store.ledger.undo(account.id, forget: false, description: TestStore.description(.undo)).ingest
            #expect(try queried(test).isEmpty)
            try test.store.ledger.undo(undone, forget: false, description: TestStore.description(.undo))
            #expect(try queried(test) == sent(frames))
        }
    }

    @Test func keepsOrderAfterRepairAndUndo() throws {
        let frames = try frames(RepairReader.chunk / 2, seed: 9)
        try TestStore.with { test in
            try test.keep(Array(frames.joined()))
            let anchor = try test.store.lastChange()
            let (_, repairID) = try test.migrate(TestStore.request(.shift(1_000_000)))
            #expect(try queried(test) == sent(frames))
            #expect(try reported(test, after: anchor) == sent(frames))
            try test.undo(try #require(repairID))
            #expect(try queried(test) == sent(frames))
        }
    }

    @Test func outOfTheQuarantine() throws {
        let (maker, rule) = (try SampleMaker(beats), GateRule.clockUnknown)
        let intervals = try ["832", "808", "840", "816", "800", "824"].map { try maker($0, at: 1, rule: rule) }
        try TestStore.with { test in
            try test.keep(intervals)
            let quarantined = try test.store.quarantine.all().map(\.id)
            try test.store.quarantine.accept(quarantined.reversed(), description: TestStore.description(.accept))
            #expect(try queried(test) == intervals.map(\.sample.value))
        }
    }
}
