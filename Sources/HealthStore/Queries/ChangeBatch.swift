import HealthModel
import SampleStore

/// A batch of changes that were read together.
struct ChangeBatch: Sendable {
    var changes: [SampleChange] = []
    /// The retention runs.
    var prunings: [Pruning] = []
    /// The anchor after these changes.
    var anchor: QueryAnchor
    /// Whether more changes may be available now.
    var hasMore = false

    /// The maximum size of the bodies in one batch, in bytes. Routes, recordings and documents are held in memory.
    private static let maximumWeight = 2 << 20
    private struct Enough: Error {}

    /// Reads the changes after an anchor.
    ///
    /// - Parameter limit: The maximum number of changes.
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``
    init(after start: QueryAnchor, matching predicate: SamplePredicate, limit: Int, in store: SampleStore) throws {
        guard !predicate.asksForOthers else {
            throw HealthStoreError.unsuitable(
                "a condition on changes cannot use workouts or correlations, because they may arrive later")
        }
        try store.check(start)
        anchor = start
        // Later commits are left for the next read because they may have types that are not known yet.
        let last = QueryAnchor(try store.changes.lastAnchor())
        let types = Set(try store.samples.series(matching: SampleQuery(predicate)).map(\.type))
        var weight = 0
        do {
            func prune(_ pruning: Pruning, _ position: Anchor) throws {
                guard QueryAnchor(position) <= last else { throw Enough() }
                prunings.append(pruning)
                anchor = QueryAnchor(position)
            }
            try store.changes.read(after: start.anchor, types: types, pruned: prune) { change, position in
                try Task.checkCancellation()
                let anchor = QueryAnchor(position)
                hasMore = changes.count >= limit || weight > Self.maximumWeight
                guard !hasMore, anchor <= last else { throw Enough() }
                self.anchor = anchor
                guard predicate.matches(change.sample) else { return }
                changes.append(change)
                weight += change.sample.body?.bytes.count ?? 0
            }
            // The next read can skip changes that did not match.
            anchor = max(anchor, last)
        } catch is Enough {}
    }
}
