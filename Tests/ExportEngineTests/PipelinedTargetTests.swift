import ExportEngine
import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// Two batches of a target under way at the same time.
@Suite struct PipelinedTargetTests {
    private let test: ExportedStore

    init() throws { test = try ExportedStore() }

    @Test func theNextBatchIsSentBeforeTheAcknowledgement() throws {
        let line = PipelinedTarget()
        try test.add(try (0..<50).map { try test.sample(60 + $0 % 3, at: $0) })
        let run = try test.run(line)
        try test.finish(run)
        #expect(line.maximumSent == 2)
        #expect(try line.target.samples == test.contents())
        #expect(run.target.delivered == 50)
        #expect(line.target.deliveries == 8)
        // New changes after it was idle.
        try test.add(try (50..<60).map { try test.sample(60, at: $0) })
        try test.finish(run)
        #expect(try line.target.samples == test.contents())
        #expect(try test.store.targets.all().map(\.delivered) == [60])
    }

    /// The second of two batches can arrive first, a refused one is halved while the next is on the line, and a batch without an acknowledgement
    /// can arrive later. Each change is applied after all earlier ones.
    @Test(arguments: [0, 1, 2, 3, 4, 5] as [UInt64]) func changesKeepTheirOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func isLucky(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }
        let line = PipelinedTarget()
        line.target.isOrdered = true
        line.target.refuses = { $0 == 99 }
        line.target.mood = { isLucky(4) ? [.deleted, .deaf, .busy, .small].randomElement(using: &random) : nil }
        line.swaps = { isLucky(3) }
        line.returns = { isLucky(2) }
        for start in stride(from: 0, to: 200, by: 20) {
            try test.add(try (start..<(start + 20)).map { try test.sample(isLucky(15) ? 99 : 60, at: $0) })
            let some = try test.contents().keys.sorted().shuffled(using: &random).prefix(3)
            _ = try test.store.samples.delete(Array(some), description: test.description(.delete))
        }
        let run = try test.run(line)
        try test.finish(run)
        #expect(try line.target.samples == test.contents().filter { $0.value != 99 })
        var (highest, isInOrder) = (Int64(0), true)
        var missing: Set<Int64> = []
        try test.store.changes.read(after: .beginning, types: nil) { change, _ in
            if case .added(let stored) = change, stored.sample.value == 99 { return }
            missing.insert(change.seq)
        }
        for number in line.target.applied {
            guard missing.remove(number) != nil else { continue }
            isInOrder = isInOrder && number > highest
            highest = number
        }
        #expect(isInOrder)
        #expect(missing.isEmpty)
    }
}
