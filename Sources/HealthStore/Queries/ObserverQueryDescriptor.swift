import HealthModel
import SampleStore

/// A query that reports when samples of some types are added or deleted, like HealthKit's `HKObserverQuery`. It does not report the
/// samples.
///
/// ```swift
/// let observer = ObserverQueryDescriptor(types: [.bodyMass, .heartRate])
/// for try await update in observer.results(for: store) { … }
/// ```
///
/// The commit itself wakes the observer, from any process, without polling. Use ``BackgroundDelivery`` for notifications while no
/// program runs.
public struct ObserverQueryDescriptor: Sendable {
    /// The observed types, or `nil` for all types.
    public var types: Set<SampleType>?
    /// The anchor to start after, or `nil` for the current state of the store.
    public var anchor: QueryAnchor?

    /// A report of changes.
    public struct Update: Hashable, Sendable {
        /// The types with added or deleted samples.
        public var types: Set<SampleType>
        /// The anchor after these changes. To read them, use an ``AnchoredObjectQueryDescriptor`` with the previous anchor.
        public var anchor: QueryAnchor
    }

    /// Creates a query for types.
    public init(types: Set<SampleType>? = nil, anchor: QueryAnchor? = nil) { (self.types, self.anchor) = (types, anchor) }

    /// The updates from now on. Commits that happen while the consumer is busy are combined into one update. The sequence ends when
    /// the task is cancelled.
    ///
    /// Every commit after this method returns is reported, even if no update was requested yet.
    ///
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``, `StoreError`. The sequence throws the same errors.
    public func results(for store: HealthStore) async throws -> Updates {
        let start: QueryAnchor
        if let anchor { start = anchor } else { start = try await store.currentAnchor() }
        try await store.readers.read { store in try store.check(start) }
        return Updates(store: store, types: types, start: start)
    }

    /// The sequence of updates.
    public struct Updates: AsyncSequence, Sendable {
        public typealias Element = Update
        let store: HealthStore
        let types: Set<SampleType>?
        let start: QueryAnchor

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, types: types, anchor: start) }

        /// The iterator, which follows the store.
        public struct Iterator: AsyncIteratorProtocol {
            let store: HealthStore
            let types: Set<SampleType>?
            var anchor: QueryAnchor

            public mutating func next() async throws -> Update? {
                let types = types
                return try await store.follow(&anchor) { store, anchor in
                    let update = try store.update(after: anchor, of: types)
                    anchor = update.anchor
                    return update.types.isEmpty ? nil : update
                }
            }
        }
    }
}

extension SampleStore {
    /// The types with changes after an anchor.
    ///
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``
    func update(after start: QueryAnchor, of types: Set<SampleType>?) throws -> ObserverQueryDescriptor.Update {
        try check(start)
        let changed = try changes.changedTypes(after: start.anchor)
        return ObserverQueryDescriptor.Update(
            types: types.map(changed.types.intersection) ?? changed.types, anchor: QueryAnchor(changed.anchor))
    }
}
