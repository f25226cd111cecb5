import HealthModel
import SampleStore

/// Tells that something of a kind came or went, as HealthKit's `HKObserverQuery`: not what, and not how much.
///
/// ```swift
/// let observer = ObserverQueryDescriptor(types: [.bodyMass, .heartRate])
/// for try await update in observer.results(for: store) { … }
/// ```
///
/// It is woken by the commit itself, of whatever process, and asks nothing again and again. What is to be told while no program runs is
/// ``BackgroundDelivery``'s.
public struct ObserverQueryDescriptor: Sendable {
    /// Which types; all of them without.
    public var types: Set<SampleType>?
    /// How far the observer has come; from the moment when it begins, where there is none.
    public var anchor: QueryAnchor?

    /// What happened.
    public struct Update: Hashable, Sendable {
        /// The types of what came or went.
        public var types: Set<SampleType>
        /// Of an observer who knows that: ``AnchoredObjectQueryDescriptor`` tells what it was from the anchor before.
        public var anchor: QueryAnchor
    }

    /// Observes types.
    public init(types: Set<SampleType>? = nil, anchor: QueryAnchor? = nil) { (self.types, self.anchor) = (types, anchor) }

    /// Updates, from now on. Commits that fall while the reader is busy are told in one. Where the task is cancelled the sequence ends.
    ///
    /// It listens once this returns: what is committed behind it is told, also before the first update is asked for.
    ///
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``, `StoreError`; the sequence does the same.
    public func results(for store: HealthStore) async throws -> Updates {
        let start: QueryAnchor
        if let anchor { start = anchor } else { start = try await store.currentAnchor() }
        try await store.readers.read { store in try store.check(start) }
        return Updates(store: store, types: types, start: start)
    }

    /// Updates, as they come.
    public struct Updates: AsyncSequence, Sendable {
        public typealias Element = Update
        let store: HealthStore
        let types: Set<SampleType>?
        let start: QueryAnchor

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, types: types, anchor: start) }

        /// Follows the store.
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
    /// Which types came or went behind an anchor.
    ///
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``
    func update(after start: QueryAnchor, of types: Set<SampleType>?) throws -> ObserverQueryDescriptor.Update {
        try check(start)
        let changed = try changedTypes(after: start.anchor)
        return ObserverQueryDescriptor.Update(
            types: types.map(changed.types.intersection) ?? changed.types, anchor: QueryAnchor(changed.anchor))
    }
}
