import HealthModel
import SampleStore

/// A query for the samples that were added or deleted since an anchor, like HealthKit's `HKAnchoredObjectQueryDescriptor`.
///
/// ```swift
/// var query = AnchoredObjectQueryDescriptor(predicate: .types([.heartRate]), anchor: kept)
/// for try await result in query.results(for: store) {
///     use(result.addedSamples, result.deletedObjects)
///     keep(result.newAnchor)    // last, so that after a crash the result is returned again
/// }
/// ```
///
/// Each change is returned once, in the order of the commits. A sample that was added and deleted between two results is returned
/// as deleted. The cost depends on the number of new changes, not on the size of the store.
public struct AnchoredObjectQueryDescriptor: Sendable {
    /// The condition on the samples. Deleted samples are matched by their last state.
    public var predicate: SamplePredicate
    /// The anchor to start after, or `nil` for the beginning.
    public var anchor: QueryAnchor?
    /// The maximum number of changes in one result.
    public var limit: Int?

    /// The changes of one batch.
    public struct Result: Sendable {
        /// The added samples in order.
        public var addedSamples: [StoredSample]
        /// The deleted samples in order, each with its last state and the UUID of its replacement after a repair.
        public var deletedObjects: [StoredDeletion]
        /// The samples that retention removed since the anchor, for types of the predicate. They are not among the deleted objects.
        /// Remove each sample for which `Pruning.removes(_:)` returns `true`, including added ones.
        public var prunings: [Pruning]
        /// The anchor after these changes.
        public var newAnchor: QueryAnchor
        /// Whether more changes are available now.
        public var hasMore: Bool

        init(_ batch: ChangeBatch) {
            (addedSamples, deletedObjects) = ([], [])
            (prunings, newAnchor, hasMore) = (batch.prunings, batch.anchor, batch.hasMore)
            for change in batch.changes {
                switch change {
                case .added(let sample): addedSamples.append(sample)
                case .deleted(let deletion): deletedObjects.append(deletion)
                }
            }
        }
    }

    /// Creates a query for the changes after an anchor.
    public init(predicate: SamplePredicate, anchor: QueryAnchor? = nil, limit: Int? = nil) {
        (self.predicate, self.anchor, self.limit) = (predicate, anchor, limit)
    }

    /// The changes so far, up to the limit.
    ///
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``, `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> Result {
        let (anchor, predicate, limit) = (anchor ?? .beginning, predicate, limit ?? .max)
        let batch = try await store.readers.read { store in
            var batch = try ChangeBatch(after: anchor, matching: predicate, limit: limit, in: store)
            // Only the limit may leave changes for the next query.
            while batch.hasMore, batch.changes.count < limit {
                let next = try ChangeBatch(
                    after: batch.anchor, matching: predicate, limit: limit - batch.changes.count, in: store)
                batch.changes += next.changes
                batch.prunings += next.prunings
                (batch.anchor, batch.hasMore) = (next.anchor, next.hasMore)
            }
            return batch
        }
        return Result(batch)
    }

    /// The changes so far, in results of at most the limit (1,000 by default), and then new changes as they are committed. The
    /// first result is returned even if it is empty.
    ///
    /// The store is read when the next result is requested, so a slow consumer gets more changes per result, up to the limit. The
    /// sequence ends when the task is cancelled.
    ///
    /// - Throws: From the sequence, ``HealthStoreError/unknownAnchor(_:)``, which also happens if the store is restored from a
    ///   backup in the meantime, and `StoreError`.
    public func results(for store: HealthStore) -> Results {
        Results(store: store, query: self)
    }

    /// The sequence of results.
    public struct Results: AsyncSequence, Sendable {
        public typealias Element = Result
        let store: HealthStore
        let query: AnchoredObjectQueryDescriptor

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, query: query) }

        /// The iterator, which follows the store.
        public struct Iterator: AsyncIteratorProtocol {
            private let store: HealthStore
            private let predicate: SamplePredicate
            private let limit: Int
            private var anchor: QueryAnchor
            private var isFirst = true

            init(store: HealthStore, query: AnchoredObjectQueryDescriptor) {
                (self.store, predicate, limit) = (store, query.predicate, Swift.max(1, query.limit ?? 1000))
                anchor = query.anchor ?? .beginning
            }

            public mutating func next() async throws -> Result? {
                let (predicate, limit, isFirst) = (predicate, limit, isFirst)
                let batch = try await store.follow(&anchor) { store, anchor in
                    let batch = try ChangeBatch(after: anchor, matching: predicate, limit: limit, in: store)
                    anchor = batch.anchor
                    return batch.changes.isEmpty && batch.prunings.isEmpty && !isFirst ? nil : batch
                }
                self.isFirst = false
                return batch.map { Result($0) }
            }
        }
    }
}
