import HealthModel
import SampleStore

/// Asks for days' rings, as HealthKit's `HKActivitySummaryQueryDescriptor`.
///
/// A day whose summary a source told is told as it told it; of any other the rings come from samples, no goal is known, and
/// `isDerived` is true.
public struct ActivitySummaryQueryDescriptor: Sendable {
    /// An instant of the first day, in the store's zone; the first day of which there is something, where there is none.
    public var from: Instant?
    /// The first instant whose day no longer counts, unless the day began before it.
    public var to: Instant?
    /// Whose, a UUID; the store's own person, where there is none.
    public var person: String?

    /// Asks for the rings of days.
    public init(from: Instant? = nil, to: Instant? = nil, person: String? = nil) {
        (self.from, self.to, self.person) = (from, to, person)
    }

    private func query(_ store: HealthStore) -> ActivityQuery {
        ActivityQuery(zone: store.zone, from: from, to: to, subject: person ?? store.person)
    }

    /// The days, in their order.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [ActivityDay] {
        let query = query(store)
        return try await store.readers.read { store in try store.rings(query) }
    }

    /// The days as they are, and again whenever one of them is otherwise. Where the task is cancelled the sequence ends.
    public func results(for store: HealthStore) -> Summaries { Summaries(store: store, query: query(store)) }

    /// All days, as they change.
    public struct Summaries: AsyncSequence, Sendable {
        public typealias Element = [ActivityDay]
        let store: HealthStore
        let query: ActivityQuery

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, query: query) }

        /// Follows the store.
        public struct Iterator: AsyncIteratorProtocol {
            let store: HealthStore
            let query: ActivityQuery
            private var known: Known?

            private struct Known: Sendable {
                var days: [ActivityDay]
                var state: ActivityState
            }

            init(store: HealthStore, query: ActivityQuery) { (self.store, self.query) = (store, query) }

            public mutating func next() async throws -> [ActivityDay]? {
                let query = query
                return try await store.follow(&known) { store, known in
                    // The state first: what is committed between the two is looked at again.
                    let (state, isOther) = try store.activityState(of: query, after: known?.state)
                    if !isOther, let days = known?.days {
                        // What was of no interest need not be looked at again.
                        known = Known(days: days, state: state)
                        return nil
                    }
                    let days = try store.rings(query)
                    let isSame = days == known?.days
                    known = Known(days: days, state: state)
                    return isSame ? nil : days
                }
            }
        }
    }
}

extension SampleStore {
    fileprivate func rings(_ query: ActivityQuery) throws -> [ActivityDay] {
        var days: [ActivityDay] = []
        try activityDays(query) { told in
            try Task.checkCancellation()
            days += told.map(\.day)
            return true
        }
        return days
    }
}
