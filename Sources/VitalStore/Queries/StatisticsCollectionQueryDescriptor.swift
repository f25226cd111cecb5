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
    /// Sources and devices by id or name, the best first.
    public var priority: [String]

    /// What there is, and what of it is new.
    public struct Result: Sendable {
        /// All intervals.
        public var collection: StatisticsCollection
        /// Those that are otherwise than in the result before, in order; all of them in the first.
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

    /// All intervals that have samples.
    ///
    /// - Throws: ``HealthStoreError/unsuitable(_:)`` for options that the type does not have, `StoreError`.
    public func result(for store: HealthStore) async throws -> StatisticsCollection {
        let work = try CollectionWork(self, store)
        return try await store.readers.read { store in
            var collection = StatisticsCollection(type: work.query.type, intervals: work.query.intervals)
            _ = collection.replace(nil, by: try work.statistics(in: nil, of: store))
            return collection
        }
    }

    /// All intervals as they are, and again whenever a commit changes one of them; only those that it touched are reckoned again. Where the task is
    /// cancelled the sequence ends.
    ///
    /// - Throws: from the sequence, ``HealthStoreError/unsuitable(_:)`` and `StoreError`.
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
            private var known: CollectionState?

            init(store: HealthStore, query: StatisticsCollectionQueryDescriptor) { (self.store, self.query) = (store, query) }

            public mutating func next() async throws -> Result? {
                let work = try CollectionWork(query, store)
                return try await store.follow(&known) { store, known in try work.next(after: &known, in: store) }
            }
        }
    }
}

/// What a follower of a collection knows.
private struct CollectionState: Sendable {
    var collection: StatisticsCollection
    var anchor: QueryAnchor
}

/// How a collection is reckoned.
private struct CollectionWork: Sendable {
    let query: StatisticsQuery
    let options: StatisticsOptions

    /// - Throws: ``HealthStoreError/unsuitable(_:)``
    init(_ descriptor: StatisticsCollectionQueryDescriptor, _ store: HealthStore) throws {
        try descriptor.options.check(for: descriptor.type)
        options = descriptor.options
        let intervals = CalendarIntervals(
            descriptor.interval, zone: descriptor.zone ?? store.zone, anchor: descriptor.anchor)
        query = StatisticsQuery(
            type: descriptor.type, intervals: intervals, from: descriptor.from, to: descriptor.to,
            subject: descriptor.person ?? store.person, bySource: options.contains(.separateBySource),
            priority: descriptor.priority)
    }

    /// - Parameter range: intervals by their numbers; all without.
    func statistics(in range: ClosedRange<Int>?, of store: SampleStore) throws -> [QuantityStatistics] {
        var query = query
        if let range {
            let low = query.intervals.start(of: range.lowerBound)
            let high = query.intervals.start(of: range.upperBound + 1)
            query.from = max(query.from ?? low, low)
            query.to = min(query.to ?? high, high)
        }
        var found: [QuantityStatistics] = []
        try store.statistics(query) { batch in
            try Task.checkCancellation()
            found += batch.map { QuantityStatistics($0, of: query.type, options) }
            return true
        }
        return found
    }

    /// What is new; `nil` where that changes nothing.
    func next(
        after known: inout CollectionState?, in store: SampleStore
    ) throws -> StatisticsCollectionQueryDescriptor.Result? {
        // What is committed from here on is looked at the next time, maybe once more.
        let anchor = QueryAnchor(try store.lastAnchor())
        guard var state = known, try store.reasonNotToKnow(state.anchor.anchor) == nil else {
            // The first time, and where the store was put back from a backup.
            let all = try statistics(in: nil, of: store)
            var collection = StatisticsCollection(type: query.type, intervals: query.intervals)
            _ = collection.replace(nil, by: all)
            known = CollectionState(collection: collection, anchor: anchor)
            return .init(collection: collection, updated: all)
        }
        var updated: [QuantityStatistics] = []
        for range in try touched(after: state.anchor, in: store) {
            updated += state.collection.replace(range, by: try statistics(in: range, of: store))
        }
        state.anchor = anchor
        known = state
        return updated.isEmpty ? nil : .init(collection: state.collection, updated: updated)
    }

    /// Stretches of neighbouring intervals that what came and went lies in; `nil` for all of them, where that is a large part.
    private func touched(after start: QueryAnchor, in store: SampleStore) throws -> [ClosedRange<Int>?] {
        var numbers: Set<Int> = []
        struct Enough: Error {}
        do {
            try store.changes(after: start.anchor, types: [query.type]) { change, _ in
                try Task.checkCancellation()
                let sample = change.sample
                guard sample.origin.subject == query.subject else { return }
                let first = query.intervals.index(of: Instant(microseconds: sample.start.microseconds &- Self.neighbours))
                let last = query.intervals.index(of: Instant(microseconds: sample.end.microseconds &+ Self.neighbours))
                guard last - first < Self.most, numbers.count < Self.most else { throw Enough() }
                numbers.formUnion(first...last)
            }
        } catch is Enough {
            return [nil]
        }
        return Self.stretches(numbers)
    }

    /// So close to a sample that came or went others may count otherwise now, in microseconds: another source's that agrees with it lies within a minute, and
    /// a value of an instant holds for ten minutes at most.
    private static let neighbours: Int64 = 662_000_000
    /// Intervals that are reckoned one by one; where more changed, all are at once.
    private static let most = 4096

    private static func stretches(_ numbers: Set<Int>) -> [ClosedRange<Int>] {
        var stretches: [ClosedRange<Int>] = []
        for number in numbers.sorted() {
            if let last = stretches.last, last.upperBound + 1 == number {
                stretches[stretches.count - 1] = last.lowerBound...number
            } else {
                stretches.append(number...number)
            }
        }
        return stretches
    }
}
