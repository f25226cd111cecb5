import HealthModel
import SampleStore
import Testing

@testable import HealthStore

/// That something happened, and of which types.
@Suite(.timeLimit(.minutes(15))) struct ObserverTests {
    private let test: TestHealth
    private var store: HealthStore { test.store }

    init() throws { test = try TestHealth() }

    @Test func reportsTypesOfAddedAndDeleted() async throws {
        try await store.save(TestHealth.steps(1, 40))
        var steps = try await ObserverQueryDescriptor(types: [.stepCount]).results(for: store).makeAsyncIterator()
        var all = try await ObserverQueryDescriptor().results(for: store).makeAsyncIterator()
        let writer = try test.another("other")
        // Both commits fall before anybody asks: they are one update.
        let saved = try await writer.save([try TestHealth.pulse(60, 3), TestHealth.steps(2, 30)])
        try await writer.save(.quantity(.bodyMass, try Amount(80, "kg"), from: TestHealth.time(1)))
        #expect(try await all.next()?.types == [.stepCount, .heartRate, .bodyMass])
        #expect(try await steps.next()?.types == [.stepCount])
        // Deletions are reported as well. A commit without a change is not.
        try await writer.save(TestHealth.steps(2, 30))
        try await writer.delete([saved[0].uuid])
        #expect(try await all.next()?.types == [.heartRate])
        try await writer.delete([saved[1].uuid])
        let last = try await steps.next()
        #expect(last?.types == [.stepCount])
        #expect(try await store.currentAnchor() == last?.anchor)
    }

    @Test func fromAnAnchorOn() async throws {
        let before = try await store.currentAnchor()
        #expect(before == .beginning)
        try await store.save(TestHealth.steps(1, 40))
        var updates = try await ObserverQueryDescriptor(anchor: before).results(for: store).makeAsyncIterator()
        #expect(try await updates.next()?.types == [.stepCount])
    }

    /// Each observer receives each commit, however many there are, and none of them polls.
    @Test func manyObserversShareOneWatch() async throws {
        let store = store
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                let updates = try await ObserverQueryDescriptor(types: [.stepCount]).results(for: store)
                group.addTask {
                    var count = 0
                    for try await update in updates {
                        count += 1
                        if update.types == [.stepCount] { break }
                    }
                    return count
                }
            }
            while await store.commits.waitingCount < 50 { await Task.yield() }
            try await store.save(try TestHealth.pulse(60, 3))
            try await store.save(TestHealth.steps(2, 30))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 1, count: 50))
    }

    @Test func cancellingEndsObserver() async throws {
        let store = store
        let updates = try await ObserverQueryDescriptor().results(for: store)
        let waiting = Task {
            for try await _ in updates { Issue.record("nothing happened") }
        }
        while await store.commits.waitingCount < 1 { await Task.yield() }
        waiting.cancel()
        try await waiting.value
    }
}
