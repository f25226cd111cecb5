import HealthModel
import SampleStore

/// A query for statistics of a type in each interval of the calendar, like HealthKit's `HKStatisticsCollectionQueryDescriptor`.
///
/// ```swift
/// let week = StatisticsCollectionQueryDescriptor(
///     type: .stepCount, from: sevenDaysAgo, options: .cumulativeSum, anchor: midnight, interval: .day)
/// for try await result in week.results(for: store) { draw(result.collection) }
/// ```
public struct StatisticsCollectionQueryDescriptor: Sendable {
    /// The type of the samples.
    public var type: SampleType
    /// The inclusive start, or `nil` for the first sample.
    public var from: Instant?
    /// The exclusive end.
    public var to: Instant?
    /// The condition on the samples.
    public var predicate: SamplePredicate = .everything
    /// The statistics to compute.
    public var options: StatisticsOptions
    /// The start of any one interval, before or after the samples. By default, intervals start at midnight and weeks start on
    /// Monday.
    public var anchor: Instant?
    /// The length of the intervals. Days have 23 or 25 hours when clocks change.
    public var interval: CalendarInterval
    /// The time zone of the calendar, or `nil` for the store's zone.
    public var zone: TimeZoneRules?
    /// The person's UUID, or `nil` for the store's own person.
    public var person: String?
    /// Source and device ids or names, the best first. They follow the priority list in the store for the type and the person.
    public var priority: [String]
    /// Ranges whose share is computed, in the type's own unit, with the option `inRange`. HealthKit has no such option.
    public var ranges: [ValueRange] = []
    /// Whether each sample belongs to the day on its own clock, wherever the person was. For days and longer intervals. HealthKit
    /// has no such option.
    public var usesSampleZones = false

    /// A result: all statistics, and those that changed.
    public struct Result: Sendable {
        /// All intervals.
        public var collection: QuantityStatisticsCollection
        /// The statistics that changed since the previous result, in order. Statistics without samples replace removed ones. The
        /// first result contains all statistics.
        public var updated: [QuantityStatistics]
    }

    /// Creates a query for statistics by calendar interval.
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
            person: person ?? store.person, bySource: options.contains(.separateBySource), priority: priority)
        (query.options, query.ranges, query.usesSampleZones) = (options, ranges, usesSampleZones)
        query.predicate = predicate
        return query
    }

    /// The statistics of all intervals with samples.
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

    /// The statistics of all intervals, and again after each commit that changes them. Only the affected intervals are computed
    /// again, for discrete types by the hour. The sequence ends when the task is cancelled.
    ///
    /// - Throws: From the sequence, `StatisticsError`, and `StoreError`, of the kind `invalid` for more than 200,000 intervals.
    public func results(for store: HealthStore) -> Results { Results(store: store, query: self) }

    /// The sequence of results.
    public struct Results: AsyncSequence, Sendable {
        public typealias Element = Result
        let store: HealthStore
        let query: StatisticsCollectionQueryDescriptor

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, query: query) }

        /// The iterator, which follows the store.
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

/// Follows a collection on its own connection and thread because its state belongs to that connection's view of the store.
private actor CollectionFollower {
    private let executor = BlockingExecutor(label: "vitalstore.statistics")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let path: String
    private let query: StatisticsQuery
    private let options: StatisticsOptions
    private var store: SampleStore?
    private var followed: StatisticsCollection?
    private var lastSent: QuantityStatisticsCollection?

    init(path: String, _ query: StatisticsQuery, _ options: StatisticsOptions) {
        (self.path, self.query, self.options) = (path, query, options)
    }

    /// The next result, or `nil` if nothing changed.
    func next() throws -> StatisticsCollectionQueryDescriptor.Result? {
        try Task.checkCancellation()
        let changed = try current().update().changed.map { QuantityStatistics($0, of: query.type, options) }
        let isFirst = lastSent == nil
        guard isFirst || !changed.isEmpty else { return nil }
        var collection = lastSent ?? QuantityStatisticsCollection(type: query.type, intervals: query.intervals, options: options)
        collection.update(changed)
        lastSent = collection
        return .init(collection: collection, updated: changed)
    }

    /// The followed collection. If the store's file was replaced, everything is computed and returned again.
    private func current() throws -> StatisticsCollection {
        if let store, let followed, (try? store.checkPlace()) != nil { return followed }
        let opened = try SampleStore(path: path, access: .read)
        let collection = try StatisticsCollection(query, in: opened)
        (store, followed, lastSent) = (opened, collection, nil)
        return collection
    }
}
