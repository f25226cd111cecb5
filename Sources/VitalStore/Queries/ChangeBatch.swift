import HealthModel
import SampleStore

/// Changes that were read together.
struct ChangeBatch: Sendable {
    var changes: [SampleChange] = []
    /// What retention removed.
    var prunings: [Pruning] = []
    /// Of a reader who has seen them.
    var anchor: QueryAnchor
    /// Whether there may be more at once.
    var hasMore = false

    /// Octets of bodies in one batch: routes, recordings and documents are in memory with it.
    private static let mostWeight = 2 << 20
    private struct Enough: Error {}

    /// Reads what is behind an anchor.
    ///
    /// - Parameter limit: at most so many changes.
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``
    init(after start: QueryAnchor, matching predicate: SamplePredicate, limit: Int, in store: SampleStore) throws {
        guard !predicate.asksForOthers else {
            throw HealthStoreError.unsuitable(
                "what belongs to a workout or a correlation is no condition on changes: it may come later")
        }
        try store.check(start)
        anchor = start
        // What is committed from here on is read the next time: it may be of types that are not known yet.
        let last = QueryAnchor(try store.lastAnchor())
        let types = Set(try store.series(matching: SampleQuery(predicate)).map(\.type))
        var weight = 0
        do {
            func prune(_ pruning: Pruning, _ behind: Anchor) throws {
                guard QueryAnchor(behind) <= last else { throw Enough() }
                prunings.append(pruning)
                anchor = QueryAnchor(behind)
            }
            try store.changes(after: start.anchor, types: types, pruned: prune) { change, behind in
                try Task.checkCancellation()
                let anchor = QueryAnchor(behind)
                hasMore = changes.count >= limit || weight > Self.mostWeight
                guard !hasMore, anchor <= last else { throw Enough() }
                self.anchor = anchor
                guard predicate.matches(change.sample) else { return }
                changes.append(change)
                weight += change.sample.body?.octets.count ?? 0
            }
            // Of what is of no interest the next reading need not hear.
            anchor = max(anchor, last)
        } catch is Enough {}
    }
}
