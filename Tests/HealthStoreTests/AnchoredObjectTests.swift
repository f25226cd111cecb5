import FoundationEssentials
import Glibc
import HealthModel
import PipelineTesting
import SampleStore
import Testing

@testable import HealthStore

/// Additions and deletions, once each and in order. And anchors that a store does not know.
@Suite(.timeLimit(.minutes(15))) struct AnchoredObjectTests {
    private let test: TestHealth
    private var store: HealthStore { test.store }
    private let all = AnchoredObjectQueryDescriptor(predicate: .types([.stepCount]))

    init() throws { test = try TestHealth() }

    private func after(_ anchor: QueryAnchor?, limit: Int? = nil) -> AnchoredObjectQueryDescriptor {
        AnchoredObjectQueryDescriptor(predicate: .types([.stepCount]), anchor: anchor, limit: limit)
    }

    @Test func additionsAndDeletionsInTheirOrder() async throws {
        let saved = try await store.save([TestHealth.steps(1, 40), TestHealth.steps(2, 30), TestHealth.steps(3, 20)])
        let first = try await all.result(for: store)
        #expect(first.addedSamples.map(\.sample.value) == [1, 2, 3])
        #expect(first.deletedObjects.isEmpty && !first.hasMore)
        try await store.save([TestHealth.steps(4, 10), try TestHealth.pulse(60, 9)])
        try await store.delete([saved[1].uuid])
        let second = try await after(first.newAnchor).result(for: store)
        #expect(second.addedSamples.map(\.sample.value) == [4])
        #expect(second.deletedObjects.map(\.uuid) == [saved[1].uuid])
        #expect(first.newAnchor < second.newAnchor)
        #expect(try await after(second.newAnchor).result(for: store).addedSamples.isEmpty)
        // A reader that begins now receives deleted samples as deleted.
        let late = try await all.result(for: store)
        #expect(late.addedSamples.map(\.sample.value) == [1, 3, 4])
        #expect(late.deletedObjects.map(\.uuid) == [saved[1].uuid])
    }

    @Test func batchesOfALimit() async throws {
        try await store.save((1...2500).map { TestHealth.steps($0, Int64(5 * (2501 - $0))) })
        var anchor: QueryAnchor?
        var (values, sizes): ([Double], [Int]) = ([], [])
        repeat {
            let result = try await after(anchor, limit: 700).result(for: store)
            values += result.addedSamples.map(\.sample.value)
            sizes.append(result.addedSamples.count)
            anchor = result.newAnchor
            if !result.hasMore { break }
        } while true
        #expect(sizes == [700, 700, 700, 400])
        #expect(values == (1...2500).map(Double.init))
        #expect(try await all.result(for: store).addedSamples.count == 2500)
        #expect(try await after(nil, limit: 2500).result(for: store).hasMore == false)
    }

    /// Uninteresting changes are not read again and again.
    @Test func anchorAdvancesWithoutResults() async throws {
        let before = try await all.result(for: store).newAnchor
        try await store.save(try TestHealth.pulse(60, 9))
        let later = try await after(before).result(for: store)
        #expect(later.addedSamples.isEmpty)
        #expect(later.newAnchor > before)
        #expect(try await store.currentAnchor() == later.newAnchor)
    }

    @Test func anchorsLastAsTexts() async throws {
        try await store.save(TestHealth.steps(1, 40))
        let anchor = try await store.currentAnchor()
        let data = try JSONEncoder().encode([anchor, .beginning])
        #expect(try JSONDecoder().decode([QueryAnchor].self, from: data) == [anchor, .beginning])
        #expect(QueryAnchor(anchor.description) == anchor)
        #expect(QueryAnchor("90231") == nil)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([QueryAnchor].self, from: Data("[\"x\"]".utf8)) }
        #expect(QueryAnchor.beginning < anchor)
    }

    /// Another store's anchor, one of changes that a restored copy never had, and one that is ahead.
    @Test func refusesForeignAnchors() async throws {
        try await store.save(TestHealth.steps(1, 40))
        let other = try TestHealth()
        try await other.store.save(TestHealth.steps(1, 40))
        let copy = test.folder.file("copy.db")
        try SampleStore(path: test.path, access: .read).backup(to: copy)
        try await store.save(TestHealth.steps(2, 30))
        let later = try await store.currentAnchor()
        let number = try #require(later.description.split(separator: "-").last.flatMap { Int64($0) })
        let future = try #require(QueryAnchor(later.description.split(separator: "-")[0] + "-\(number + 5)"))
        let restored = try HealthStore(path: copy)
        for (anchor, store) in [(try await other.store.currentAnchor(), store), (future, store), (later, restored)] {
            let error = await thrown(HealthStoreError.self) { _ = try await after(anchor).result(for: store) }
            guard case .unknownAnchor(let reason)? = error else {
                Issue.record("\(anchor): \(String(describing: error))")
                continue
            }
            #expect(reason.contains("another store") || reason.contains("no longer has"))
            #expect(error?.description.contains("--after") == false)
            let live = await thrown(HealthStoreError.self) {
                for try await _ in after(anchor).results(for: store) { return }
            }
            #expect(live == error)
            let observer = await thrown(HealthStoreError.self) {
                _ = try await ObserverQueryDescriptor(anchor: anchor).results(for: store)
            }
            #expect(observer == error)
        }
        // What both have in common both know.
        #expect(try await after(.beginning).result(for: restored).addedSamples.count == 1)
    }

    @Test func followerReceivesEachCommit() async throws {
        var iterator = after(nil, limit: 2).results(for: store).makeAsyncIterator()
        // The first result arrives even if it is empty.
        #expect(try await iterator.next()?.addedSamples.isEmpty == true)
        let writer = try test.another("other")
        let saved = try await writer.save([TestHealth.steps(1, 40), TestHealth.steps(2, 30), TestHealth.steps(3, 20)])
        let first = try await iterator.next()
        #expect(first?.addedSamples.map(\.sample.value) == [1, 2])
        #expect(first?.hasMore == true)
        #expect(try await iterator.next()?.addedSamples.map(\.sample.value) == [3])
        // Requested before it exists.
        let waiting = Task { [iterator] in
            var iterator = iterator
            return try await iterator.next()?.deletedObjects.map(\.uuid)
        }
        try await writer.save(try TestHealth.pulse(60, 3))
        try await writer.delete([saved[0].uuid])
        #expect(try await waiting.value == [saved[0].uuid])
    }

    @Test func cancellingEndsWaitingFollower() async throws {
        let store = store
        let waiting = Task {
            var count = 0
            for try await _ in AnchoredObjectQueryDescriptor(predicate: .everything).results(for: store) { count += 1 }
            return count
        }
        // The first result is returned at once. The next one waits.
        while await store.commits.waitingCount < 1 { await Task.yield() }
        waiting.cancel()
        #expect(try await waiting.value == 1)
        #expect(await store.commits.waitingCount == 0)
    }

    /// A store that was put back from a backup is another one, also for who follows it.
    @Test func throwsAfterRestore() async throws {
        try await store.save(TestHealth.steps(1, 40))
        let copy = test.folder.file("copy.db")
        try SampleStore(path: test.path, access: .read).backup(to: copy)
        try await store.save(TestHealth.steps(2, 30))
        var iterator = all.results(for: try test.another()).makeAsyncIterator()
        #expect(try await iterator.next()?.addedSamples.count == 2)
        for suffix in ["", "-wal", "-shm"] { unlink(test.path + suffix) }
        #expect(rename(copy, test.path) == 0)
        await #expect(throws: HealthStoreError.self) { _ = try await iterator.next() }
    }
}
