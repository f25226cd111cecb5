import HealthModel
import SampleStore

/// A query for daily activity rings, like HealthKit's `HKActivitySummaryQueryDescriptor`.
///
/// A day's summary from a source is returned unchanged. For other days the rings are derived from samples, without goals, and
/// `isDerived` is true.
public struct ActivitySummaryQueryDescriptor: Sendable {
    /// An instant of the first day in the store's zone, or `nil` for the first day with data.
    public var from: Instant?
    /// The exclusive end. A day that began before it is included.
    public var to: Instant?
    /// The person's UUID, or `nil` for the store's own person.
    public var person: String?

    /// Creates a query for the rings of days.
    public init(from: Instant? = nil, to: Instant? = nil, person: String? = nil) {
        (self.from, self.to, self.person) = (from, to, person)
    }

    private func query(_ store: HealthStore) -> ActivityQuery {
        ActivityQuery(zone: store.zone, from: from, to: to, person: person ?? store.person)
    }

    /// The days in chronological order.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [ActivityDay] {
        let query = query(store)
        return try await store.readers.read { store in try store.rings(query) }
    }

    /// The days as they are now, and again after each change to one of them. The sequence ends when the task is cancelled.
    public func results(for store: HealthStore) -> Summaries { Summaries(store: store, query: query(store)) }

    /// The sequence of results. Each contains all days.
    public struct Summaries: AsyncSequence, Sendable {
        public typealias Element = [ActivityDay]
        let store: HealthStore
        let query: ActivityQuery

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, query: query) }

        /// The iterator, which follows the store.
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
                    // The state is read before the days, so that a commit in between is processed next time.
                    let (state, isOther) = try store.activity.state(of: query, after: known?.state)
                    if !isOther, let days = known?.days {
                        // These commits do not concern the query and need not be read again.
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
        try activity.days(query) { reported in
            try Task.checkCancellation()
            days += reported.map(\.day)
            return true
        }
        return days
    }
}
