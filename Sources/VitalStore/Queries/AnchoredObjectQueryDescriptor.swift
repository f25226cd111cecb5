import HealthModel
import SampleStore

/// Asks for what came and what went since an anchor, as HealthKit's `HKAnchoredObjectQueryDescriptor`.
///
/// ```swift
/// var query = AnchoredObjectQueryDescriptor(predicate: .types([.heartRate]), anchor: kept)
/// for try await result in query.results(for: store) {
///     use(result.addedSamples, result.deletedObjects)
///     keep(result.newAnchor)                // as the last step: what was told before an end comes again
/// }
/// ```
///
/// Each change is told once, in the order in which they were made; what came and went again between two results is told as gone. Its cost grows with
/// what is new, not with what there is.
public struct AnchoredObjectQueryDescriptor: Sendable {
    /// What the samples meet; deleted ones as they were.
    public var predicate: SamplePredicate
    /// How far the reader has come; from the beginning, where there is none.
    public var anchor: QueryAnchor?
    /// Changes in one result at most.
    public var limit: Int?

    /// What came and went at once.
    public struct Result: Sendable {
        /// What came, in order.
        public var addedSamples: [StoredSample]
        /// What went, in order; each as it was, with what a repair put in its place.
        public var deletedObjects: [StoredDeletion]
        /// What retention removed for good since, of the predicate's types: what ended before such a date is gone, and not among the deleted.
        public var prunings: [Pruning]
        /// Of a reader who has seen them.
        public var newAnchor: QueryAnchor
        /// Whether there is more at once.
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

    /// Asks for the changes behind an anchor.
    public init(predicate: SamplePredicate, anchor: QueryAnchor? = nil, limit: Int? = nil) {
        (self.predicate, self.anchor, self.limit) = (predicate, anchor, limit)
    }

    /// What there is now, up to the limit.
    ///
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``, `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> Result {
        let (anchor, predicate, limit) = (anchor ?? .beginning, predicate, limit ?? .max)
        let batch = try await store.readers.read { store in
            var batch = try ChangeBatch(after: anchor, matching: predicate, limit: limit, in: store)
            // Only a limit leaves something for the next time.
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

    /// What there is now, in results of the limit, or of 1,000 changes, and from then on what comes, as it comes. The first result is given also where
    /// there is nothing.
    ///
    /// The store is read when the reader asks for the next result: one that is slow gets more in one, up to the limit. Where the task is cancelled the
    /// sequence ends.
    ///
    /// - Throws: from the sequence, ``HealthStoreError/unknownAnchor(_:)`` also where the store is put back from a backup meanwhile, and `StoreError`.
    public func results(for store: HealthStore) -> Results {
        Results(store: store, query: self)
    }

    /// Results, as they come.
    public struct Results: AsyncSequence, Sendable {
        public typealias Element = Result
        let store: HealthStore
        let query: AnchoredObjectQueryDescriptor

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, query: query) }

        /// Follows the store.
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
