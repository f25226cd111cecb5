import HealthModel
import SampleStore
import Testing

@testable import HealthStore

/// Samples at once and some at a time.
@Suite struct SampleQueryTests {
    private let test: TestHealth
    private var store: HealthStore { test.store }

    init() throws { test = try TestHealth() }

    private func saveSteps(_ count: Int) async throws {
        try await store.save((1...count).map { TestHealth.steps($0, Int64(5 * (count - $0) + 5)) })
    }

    private let steps = SamplePredicate.types([.stepCount])

    @Test func orderAndLimit() async throws {
        try await saveSteps(5)
        try await store.save(try TestHealth.pulse(60, 3))
        func values(_ query: SampleQueryDescriptor) async throws -> [Double] {
            try await query.result(for: store).map(\.sample.value)
        }
        #expect(try await values(SampleQueryDescriptor(predicate: steps)) == [1, 2, 3, 4, 5])
        #expect(try await values(SampleQueryDescriptor(predicate: steps, newestFirst: true, limit: 2)) == [5, 4])
        #expect(try await values(SampleQueryDescriptor(predicate: .everything, newestFirst: true, limit: 1)) == [60])
        #expect(try await values(SampleQueryDescriptor(predicate: .and([steps, try SamplePredicate("value > 3")]))) == [4, 5])
    }

    @Test func sortedByMoreThanStart() async throws {
        try await store.save([TestHealth.steps(2, 40), TestHealth.steps(9, 30), TestHealth.steps(2, 20), TestHealth.steps(5, 10)])
        let query = SampleQueryDescriptor(
            predicate: steps, sortDescriptors: [SampleOrder(.value), SampleOrder(.start, descending: true)], limit: 3)
        let found = try await query.result(for: store)
        #expect(found.map(\.sample.value) == [2, 2, 5])
        #expect(found.map(\.sample.start) == [20, 40, 10].map { TestHealth.time($0) })
        var streamed: [SampleIdentity] = []
        for try await sample in query.results(for: store) { streamed.append(sample.uuid) }
        #expect(streamed == found.map(\.uuid))
    }

    /// All samples, sorted by a value: the iteration ends after the last one, although its last part is not full.
    @Test func sortedWithoutALimitItEnds() async throws {
        try await saveSteps(300)
        let query = SampleQueryDescriptor(predicate: steps, sortDescriptors: [SampleOrder(.value, descending: true)])
        var values: [Double] = []
        for try await sample in query.results(for: store) {
            values.append(sample.sample.value)
            if values.count > 300 { break }
        }
        #expect(values == (1...300).reversed().map(Double.init))
    }

    /// Which samples a workout has only the store knows.
    @Test func samplesOfAWorkout() async throws {
        let run = try await store.save(.workout("running", from: TestHealth.time(60), to: TestHealth.time(30)))
        try await store.save([TestHealth.steps(1, 90), TestHealth.steps(2, 45), TestHealth.steps(3, 20)])
        let during = SampleQueryDescriptor(predicate: .predicateForObjects(fromWorkout: run.uuid))
        #expect(try await during.result(for: store).map(\.sample.value) == [2])
        await #expect(throws: HealthStoreError.self) {
            try await AnchoredObjectQueryDescriptor(predicate: during.predicate).result(for: store)
        }
    }

    /// The iteration sees the store as it was at the start. The rest is still read, whatever is deleted in the meantime.
    @Test func aStreamIsOfOneState() async throws {
        try await saveSteps(1000)
        var iterator = SampleQueryDescriptor(predicate: steps).results(for: store).makeAsyncIterator()
        var values = [try await iterator.next()?.sample.value]
        #expect(try await store.deleteObjects(matching: .everything) == 1000)
        while let next = try await iterator.next() { values.append(next.sample.value) }
        #expect(values == (1...1000).map(Double.init))
        #expect(try await test.values(.stepCount) == [])
        #expect(try await iterator.next() == nil)
    }

    /// A walk that is left in the middle gives its view of the store back: the log can be emptied.
    @Test func abandonedQueryReleasesSnapshot() async throws {
        try await saveSteps(1000)
        for _ in 0..<8 {
            for try await sample in SampleQueryDescriptor(predicate: steps).results(for: store) where sample.sample.value > 3 {
                break
            }
        }
        // Each iteration ends in its own task. A reader that is reused has ended it.
        while store.readers.idleCount < 1 { await Task.yield() }
        #expect(store.readers.idleCount <= 4)
    }

    @Test func cancelledQueryThrows() async throws {
        try await saveSteps(1000)
        let query = SampleQueryDescriptor(predicate: steps)
        let store = store
        let task = Task {
            var count = 0
            for try await _ in query.results(for: store) {
                count += 1
                if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return count
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let whole = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await query.result(for: store)
        }
        await #expect(throws: CancellationError.self) { try await whole.value }
    }

    /// Nothing is read ahead except the current batch: each batch is requested.
    @Test func readsOnlyOneBatchAhead() async throws {
        try await saveSteps(2000)
        var iterator = SampleQueryDescriptor(predicate: steps).results(for: store).makeAsyncIterator()
        _ = try await iterator.next()
        // A batch is at most 256: of 2,000 most are not read yet, and the walk's reader is busy with nothing.
        #expect(iterator.countAtHand == 255)
        for _ in 0..<255 { _ = try await iterator.next() }
        #expect(iterator.countAtHand == 0)
        _ = try await iterator.next()
        #expect(iterator.countAtHand == 255)
    }

    @Test func sourcesByTheirLatestSample() async throws {
        try await saveSteps(3)
        let other = try HealthStore(
            path: test.path, access: .write(as: SourceRevision(id: "app.walker", name: "Walker", version: "2")),
            now: { TestHealth.now })
        try await other.save(TestHealth.steps(9, 2))
        try await test.another("band").save(try TestHealth.pulse(60, 2))
        func sources(_ predicate: SamplePredicate) async throws -> [String] {
            try await SourceQueryDescriptor(predicate: predicate).result(for: store).map { "\($0.id) \($0.version ?? "-")" }
        }
        #expect(try await sources(.everything) == ["app.walker 2", "band -"])
        #expect(try await sources(.and([steps, try SamplePredicate("value < 3")])) == ["app.walker 1"])
        #expect(try await sources(.types([.bodyMass])) == [])
    }

    /// As many readers as possible during a write.
    @Test func readersDuringWrites() async throws {
        try await saveSteps(100)
        let store = store
        let sums = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var counts: [Int] = []
                    for _ in 0..<20 {
                        counts.append(
                            try await SampleQueryDescriptor(predicate: .types([.stepCount])).result(for: store).count)
                    }
                    return counts
                }
            }
            group.addTask {
                // Two samples in each change. A reader never sees only one of them.
                for minute in 1...20 {
                    try await store.save([
                        TestHealth.steps(1, Int64(600 + minute * 2)), TestHealth.steps(1, Int64(601 + minute * 2)),
                    ])
                }
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(sums.count == 160)
        #expect(sums.allSatisfy { $0 >= 100 && $0 <= 140 && $0 % 2 == 0 })
        #expect(try await test.values(.stepCount).count == 140)
    }
}
