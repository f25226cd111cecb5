import HealthModel
import SampleStore

/// Asks what the samples of a type come to in each interval of the calendar, as HealthKit's `HKStatisticsCollectionQueryDescriptor`.
///
/// ```swift
/// let week = StatisticsCollectionQueryDescriptor(
///     type: .stepCount, from: sevenDaysAgo, options: .cumulativeSum, anchor: midnight, interval: .day)
/// for try await result in week.results(for: store) { draw(result.collection) }
/// ```
public struct StatisticsCollectionQueryDescriptor: Sendable {
    /// What is measured.
    public var type: SampleType
    /// The first instant that counts; from the first sample on, where there is none.
    public var from: Instant?
    /// The first instant that no longer counts.
    public var to: Instant?
    /// What the samples meet that count.
    public var predicate: SamplePredicate = .everything
    /// What is reckoned.
    public var options: StatisticsOptions
    /// When some interval begins, before or behind the samples; at midnight, and weeks on Monday, where there is none.
    public var anchor: Instant?
    /// How long intervals are. Days have 23 or 25 hours where clocks change.
    public var interval: CalendarInterval
    /// Whose calendar counts; the store's zone, where there is none.
    public var zone: TimeZoneRules?
    /// Whose samples, by UUID; the store's own person's, where there is none.
    public var person: String?
    /// Sources and devices by id or name, the best first, behind those that the store has for the type and the person.
    public var priority: [String]
    /// Ours: ranges of which it is told how much lies within, in the type's own unit, with the option `inRange`.
    public var ranges: [ValueRange] = []
    /// Ours: whether each sample belongs to the day that its own clock showed, wherever the person was. For days and longer intervals.
    public var usesSampleZones = false

    /// What there is, and what of it is new.
    public struct Result: Sendable {
        /// All intervals.
        public var collection: QuantityStatisticsCollection
        /// Those that are otherwise than in the result before, in order, of no samples where nothing counts any more; all of them in the first.
        public var updated: [QuantityStatistics]
    }

    /// Asks for statistics of the calendar.
    public init(
        type: SampleType, from: Instant? = nil, to: Instant? = nil, options: StatisticsOptions, anchor: Instant? = nil,
        interval: CalendarInterval, zone: TimeZoneRules? = nil, person: String? = nil, priority: [String] = []
    ) {
        (self.type, self.from, self.to, self.options) = (type, from, to, options)
        (self.anchor, self.interval, self.zone) = (anchor, interval, zone)
        (self.person, self.priority) = (person, priority)
    }

    private func query(_ store: HealthStore) throws -> StatisticsQuery {
        try options.check(for: type)
        var query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(interval, zone: zone ?? store.zone, anchor: anchor), from: from, to: to,
            subject: person ?? store.person, bySource: options.contains(.separateBySource), priority: priority)
        (query.options, query.ranges, query.usesSampleZones) = (options, ranges, usesSampleZones)
        query.predicate = predicate
        return query
    }

    /// All intervals that have samples.
    ///
    /// - Throws: `StatisticsError` for options that the type does not have, `StoreError`.
    public func result(for store: HealthStore) async throws -> QuantityStatisticsCollection {
        let (query, options) = (try query(store), options)
        return try await store.readers.read { store in
            var collection = QuantityStatisticsCollection(type: query.type, intervals: query.intervals, options: options)
            try store.statistics(query) { batch in
                try Task.checkCancellation()
                collection.update(batch.map { QuantityStatistics($0, of: query.type, options) })
                return true
            }
            return collection
        }
    }

    /// All intervals as they are, and again whenever a commit changes one of them; only what it touched is reckoned again, of a discrete type by the hour. Where the task is
    /// cancelled the sequence ends.
    ///
    /// - Throws: from the sequence, `StatisticsError`, and `StoreError`, of the kind `invalid` for more than 200,000 intervals.
    public func results(for store: HealthStore) -> Results { Results(store: store, query: self) }

    /// Results, as they come.
    public struct Results: AsyncSequence, Sendable {
        public typealias Element = Result
        let store: HealthStore
        let query: StatisticsCollectionQueryDescriptor

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, query: query) }

        /// Follows the store.
        public struct Iterator: AsyncIteratorProtocol {
            private let store: HealthStore
            private let query: StatisticsCollectionQueryDescriptor
            private var follower: CollectionFollower?

            init(store: HealthStore, query: StatisticsCollectionQueryDescriptor) { (self.store, self.query) = (store, query) }

            public mutating func next() async throws -> Result? {
                let follower = try follower ?? CollectionFollower(path: store.path, try query.query(store), query.options)
                self.follower = follower
                return try await store.whileFollowing { try await follower.next() }
            }
        }
    }
}

/// Follows a collection on a connection and a thread of its own: what it knows is of its view of the store.
private actor CollectionFollower {
    private let executor = BlockingExecutor(label: "vitalstore.statistics")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let path: String
    private let query: StatisticsQuery
    private let options: StatisticsOptions
    private var store: SampleStore?
    private var followed: StatisticsCollection?
    private var told: QuantityStatisticsCollection?

    init(path: String, _ query: StatisticsQuery, _ options: StatisticsOptions) {
        (self.path, self.query, self.options) = (path, query, options)
    }

    /// What is new; `nil` where that changes nothing.
    func next() throws -> StatisticsCollectionQueryDescriptor.Result? {
        try Task.checkCancellation()
        let changed = try current().update().changed.map { QuantityStatistics($0, of: query.type, options) }
        let isFirst = told == nil
        guard isFirst || !changed.isEmpty else { return nil }
        var collection = told ?? QuantityStatisticsCollection(type: query.type, intervals: query.intervals, options: options)
        collection.update(changed)
        told = collection
        return .init(collection: collection, updated: changed)
    }

    /// Where the store was replaced at its path, all of it is reckoned and told again.
    private func current() throws -> StatisticsCollection {
        if let store, let followed, (try? store.checkPlace()) != nil { return followed }
        let opened = try SampleStore(path: path, access: .read)
        let collection = try StatisticsCollection(query, in: opened)
        (store, followed, told) = (opened, collection, nil)
        return collection
    }
}
