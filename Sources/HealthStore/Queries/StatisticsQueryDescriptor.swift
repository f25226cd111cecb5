import HealthModel
import SampleStore

/// A query for statistics of a type in one interval, like HealthKit's `HKStatisticsQueryDescriptor`.
///
/// ```swift
/// let today = StatisticsQueryDescriptor(type: .stepCount, from: midnight, to: now, options: .cumulativeSum)
/// let steps = try await today.result(for: store)?.sum
/// ```
///
/// At each moment only one source counts, the first one in ``priority``. Samples of other sources count in proportion for the time
/// that it does not cover.
public struct StatisticsQueryDescriptor: Sendable {
    /// The type of the samples.
    public var type: SampleType
    /// The inclusive start, or `nil` to include the earliest sample. The statistics then start in the year 1.
    public var from: Instant?
    /// The exclusive end, or `nil` to include the latest sample.
    public var to: Instant?
    /// The condition on the samples.
    public var predicate: SamplePredicate = .everything
    /// The statistics to compute.
    public var options: StatisticsOptions
    /// The person's UUID, or `nil` for the store's own person. Statistics never combine several people.
    public var person: String?
    /// Source and device ids or names, the best first. They follow the priority list in the store for the type and the person.
    /// Sources in neither list come last: first wearables, then others, then phones.
    public var priority: [String]
    /// Ranges whose share is computed, in the type's own unit, with the option `inRange`. HealthKit has no such option.
    public var ranges: [ValueRange] = []

    /// Creates a query for statistics of one interval.
    public init(
        type: SampleType, from: Instant? = nil, to: Instant? = nil, options: StatisticsOptions, person: String? = nil,
        priority: [String] = []
    ) {
        (self.type, self.from, self.to, self.options) = (type, from, to, options)
        (self.person, self.priority) = (person, priority)
    }

    /// The statistics, or `nil` if there are no samples.
    ///
    /// - Throws: `StatisticsError` for options that the type does not have, and `StoreError`. Throws
    ///   ``HealthStoreError/unsuitable(_:)`` for separated sources and for categories, which need ``resultsBySource(for:)``.
    public func result(for store: HealthStore) async throws -> QuantityStatistics? {
        guard !options.contains(.separateBySource) else {
            throw HealthStoreError.unsuitable("separate sources have separate statistics: use resultsBySource")
        }
        guard type.kind != .category else {
            throw HealthStoreError.unsuitable("each case of a category has its own statistics: use resultsBySource")
        }
        return try await resultsBySource(for: store).first
    }

    /// The statistics, one for each source if the options separate sources, sorted by source id. A category has one for each case.
    ///
    /// - Throws: `StatisticsError` for options that the type does not have, `StoreError`.
    public func resultsBySource(for store: HealthStore) async throws -> [QuantityStatistics] {
        try options.check(for: type)
        let (type, options, range) = (type, options, (from: from, to: to))
        // One interval of 10,000 years covers everything, and `from` and `to` limit the samples.
        guard let whole = CalendarInterval(count: 10_000, unit: .year) else { return [] }
        let intervals = CalendarIntervals(whole, zone: TimeZoneRules(fixed: .utc), anchor: from ?? Self.before)
        var asked = StatisticsQuery(
            type: type, intervals: intervals, from: from, to: to, person: person ?? store.person,
            bySource: options.contains(.separateBySource), priority: priority)
        (asked.options, asked.ranges, asked.predicate) = (options, ranges, predicate)
        let query = asked
        return try await store.readers.read { store in
            try store.statistics(query).map { statistics in
                var statistics = statistics
                statistics.start = range.from ?? statistics.start
                statistics.end = range.to ?? statistics.end
                return QuantityStatistics(statistics, of: type, options)
            }
        }
    }

    /// The year 1, before any sample.
    private static let before = Instant(seconds: -62_135_596_800)
}
