import HealthModel

/// A query for statistics: values of a quantity type, or the duration of each value of a category type.
///
///     var query = StatisticsQuery(type: .stepCount, intervals: CalendarIntervals(.day, zone: berlin))
///     for day in try store.statistics(query) { print(day.start, day.sum) }
public struct StatisticsQuery: Sendable {
    /// The type of the samples.
    public var type: SampleType
    /// The intervals.
    public var intervals: CalendarIntervals
    /// The first start that is included.
    public var from: Instant?
    /// The first start that is excluded.
    public var to: Instant?
    /// The person, or `nil` for everybody.
    public var person: String?
    /// The additional condition for samples. Samples of a workout or a correlation are looked up when the query runs.
    public var predicate: SamplePredicate = .everything
    /// Whether sources are separate. Each is then counted in full, even if several cover the same time.
    public var bySource: Bool
    /// Additional sources and devices by id or name, best first, after the orders that the store has for the type and person. If several
    /// cover the same time or agree, only one counts.
    public var priority: [String]
    /// Whether every source counts, even if several cover the same time.
    public var countsEvery = false
    /// Statistics in addition to the count, sum, average, lowest, highest, and latest value, which are always computed if the type has
    /// them.
    ///
    /// ``StatisticsOptions/percentiles`` needs memory and time. The others cost nothing.
    public var options: StatisticsOptions = []
    /// The ranges for which the share of values is computed, in the type's canonical unit. A value counts in the first range that contains
    /// it.
    public var ranges: [ValueRange] = []
    /// Whether each sample counts for the day on its own clock, wherever the person was. A sample without a zone uses the query's. This
    /// requires intervals of days or longer. ``Statistics/start`` and ``Statistics/end`` are those of the same date in the query's zone.
    public var usesSampleZones = false
    /// Whether intervals without samples are included, with a count of zero, from ``from`` or the first sample to ``to`` or the last. This
    /// is only supported when statistics are returned in batches.
    public var includesGaps = false
    /// Time that does not count, sorted and disjoint, such as the pauses of a workout.
    var without: [(start: Int64, end: Int64)] = []

    /// Creates a query for a type's statistics.
    public init(
        type: SampleType, intervals: CalendarIntervals, from: Instant? = nil, to: Instant? = nil, person: String? = nil,
        bySource: Bool = false, priority: [String] = []
    ) {
        self.priority = priority
        self.type = type
        self.intervals = intervals
        self.from = from
        self.to = to
        self.person = person
        self.bySource = bySource
    }

    /// Whether a type is measured over a night, which belongs to the day on which it ends.
    public static func isNightly(_ type: SampleType) -> Bool { nightly.contains(type.id) }

    private static let nightly: Set<String> = [
        "sleepAnalysis", "appleSleepingWristTemperature", "appleSleepingBreathingDisturbances",
    ]

    /// Returns the default start of a type's intervals. Sleep, and what is measured in it, is counted from noon to noon, so that a night
    /// is not split at midnight. `nil` means midnight, and Monday for weeks.
    public static func defaultAnchor(of type: SampleType, _ interval: CalendarInterval, _ zone: TimeZoneRules) -> Instant? {
        guard nightly.contains(type.id), interval.unit.isOfDays else { return nil }
        // Noon of 1 January 1970, or of the first Monday after it for weeks.
        let wall = WallTime(microseconds: (interval.unit == .week ? 4 : 0) * Calendar.day + Calendar.day / 2)
        return zone.offsets(at: wall).first.map { wall.instant(at: $0) }
    }

    /// The query for the samples that count.
    var samples: SampleQuery { SampleQuery(types: [type], person: person, where: predicate) }

    /// Throws if the query is not supported.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid`.
    func check() throws(StoreError) {
        guard type.kind == .quantity || type.kind == .category else {
            throw StoreError(.invalid, "\(type.id) is a \(type.kind.name): its samples have no amounts")
        }
        do throws(StatisticsError) {
            try options.check(for: type)
            if !ranges.isEmpty { try StatisticsOptions.inRange.check(for: type) }
        } catch {
            throw StoreError(.invalid, error.description)
        }
        guard !usesSampleZones || intervals.interval.unit.isOfDays else {
            throw StoreError(.invalid, "intervals in each sample's own time zone must be days or longer")
        }
    }
}

extension CalendarInterval.Unit {
    /// Whether the unit counts calendar days rather than elapsed time.
    public var isOfDays: Bool { self != .minute && self != .hour }
}
