import HealthModel
import SampleStore

/// Asks what the samples of a type come to in a stretch of time, as HealthKit's `HKStatisticsQueryDescriptor`.
///
/// ```swift
/// let today = StatisticsQueryDescriptor(type: .stepCount, from: midnight, to: now, options: .cumulativeSum)
/// let steps = try await today.result(for: store)?.sum
/// ```
///
/// At each moment one source counts, the one that comes first in ``priority``; parts of samples outside of it count in proportion.
public struct StatisticsQueryDescriptor: Sendable {
    /// What is measured.
    public var type: SampleType
    /// When the stretch begins; where there is none, before any sample, and the statistics tell the year 1 as their start.
    public var from: Instant?
    /// When it ends, exclusively; where there is none, behind every sample.
    public var to: Instant?
    /// What the samples meet that count.
    public var predicate: SamplePredicate = .everything
    /// What is reckoned.
    public var options: StatisticsOptions
    /// Whose samples, by UUID; the store's own person's, where there is none. Several people's are never reckoned together.
    public var person: String?
    /// Sources and devices by id or name, the best first, behind those that the store has for the type and the person. What neither names follows: what is
    /// worn, then the rest, then phones.
    public var priority: [String]
    /// Ours: ranges of which it is told how much lies within, in the type's own unit, with the option `inRange`.
    public var ranges: [ValueRange] = []

    /// Asks for statistics of a stretch.
    public init(
        type: SampleType, from: Instant? = nil, to: Instant? = nil, options: StatisticsOptions, person: String? = nil,
        priority: [String] = []
    ) {
        (self.type, self.from, self.to, self.options) = (type, from, to, options)
        (self.person, self.priority) = (person, priority)
    }

    /// What they come to; `nil` where there are none.
    ///
    /// - Throws: `StatisticsError` for options that the type does not have; ``HealthStoreError/unsuitable(_:)`` for those that keep sources apart,
    ///   and for a category: ``resultsBySource(for:)`` tells of each source and case. `StoreError`.
    public func result(for store: HealthStore) async throws -> QuantityStatistics? {
        guard !options.contains(.separateBySource) else {
            throw HealthStoreError.unsuitable("sources that are kept apart have statistics each: ask for resultsBySource")
        }
        guard type.kind != .category else {
            throw HealthStoreError.unsuitable("each case of a category has statistics of its own: ask for resultsBySource")
        }
        return try await resultsBySource(for: store).first
    }

    /// What they come to, each source by itself where the options say so, by the sources' ids; of a category each of its cases.
    ///
    /// - Throws: `StatisticsError` for options that the type does not have. `StoreError`.
    public func resultsBySource(for store: HealthStore) async throws -> [QuantityStatistics] {
        try options.check(for: type)
        let (type, options, range) = (type, options, (from: from, to: to))
        // Longer than anybody's life: the stretch is one interval, and only what of it counts is bounded.
        guard let whole = CalendarInterval(count: 10_000, unit: .year) else { return [] }
        let intervals = CalendarIntervals(whole, zone: TimeZoneRules(fixed: .utc), anchor: from ?? Self.before)
        var asked = StatisticsQuery(
            type: type, intervals: intervals, from: from, to: to, subject: person ?? store.person,
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

    /// The year 1: before any sample.
    private static let before = Instant(seconds: -62_135_596_800)
}
