import HealthModel

/// What to gather statistics of: amounts of a quantity type, or of a category how long each of its cases lasted.
///
///     var query = StatisticsQuery(type: .stepCount, intervals: CalendarIntervals(.day, zone: berlin))
///     for day in try store.statistics(query) { print(day.start, day.sum) }
public struct StatisticsQuery: Sendable {
    /// What is summed up.
    public var type: SampleType
    /// The stretches.
    public var intervals: CalendarIntervals
    /// The first start that counts.
    public var from: Instant?
    /// The first start that no longer counts.
    public var to: Instant?
    /// Whose samples; everyone's where it is missing.
    public var subject: String?
    /// What else the samples meet that count. Where it asks for those of a workout or a correlation, these are as they are when it is asked.
    public var predicate: SamplePredicate = .everything
    /// Whether sources are kept apart; then each is told in full, also where several tell of the same.
    public var bySource: Bool
    /// Sources and devices by id or name, the best first, behind those that the store has for the type and the person: where several tell
    /// of the same time, or agree, one counts.
    public var priority: [String]
    /// Whether every source counts, also where several tell of the same.
    public var countsEvery = false
    /// What to reckon beside count, sum, average, lowest, highest and latest value, which are always told as the type has them.
    ///
    /// ``StatisticsOptions/percentiles`` take memory and time; the others cost nothing.
    public var options: StatisticsOptions = []
    /// Of which ranges to tell how much lies within, in the type's canonical unit; a value counts in the first that has it.
    public var ranges: [ValueRange] = []
    /// Whether each sample belongs to the day that its own clock showed, wherever the person was; a sample that knows no zone goes by the
    /// query's. For days and longer stretches. ``Statistics/start`` and ``Statistics/end`` are then those of the same date in the query's zone.
    public var usesSampleZones = false
    /// Whether intervals in which nothing counts are told as well, with a count of zero: from ``from`` or the first sample to ``to`` or the last.
    /// Only where statistics are given some at a time.
    public var includesGaps = false
    /// Stretches in which nothing counts, in order and apart from one another: the pauses of a workout.
    var without: [(start: Int64, end: Int64)] = []

    /// Asks for a type's statistics.
    public init(
        type: SampleType, intervals: CalendarIntervals, from: Instant? = nil, to: Instant? = nil, subject: String? = nil,
        bySource: Bool = false, priority: [String] = []
    ) {
        self.priority = priority
        self.type = type
        self.intervals = intervals
        self.from = from
        self.to = to
        self.subject = subject
        self.bySource = bySource
    }

    /// Where a type's stretches begin that nobody has said it of: a night is not cut at midnight, so that sleep goes from noon to noon; `nil` for midnight,
    /// and for weeks Monday.
    public static func usualAnchor(of type: SampleType, _ interval: CalendarInterval, _ zone: TimeZoneRules) -> Instant? {
        guard type.id == "sleepAnalysis", interval.unit.isOfDays else { return nil }
        // Noon of 1 January 1970, of its first Monday for weeks.
        let wall = WallTime(microseconds: (interval.unit == .week ? 4 : 0) * Calendar.day + Calendar.day / 2)
        return zone.offsets(at: wall).first.map { wall.instant(at: $0) }
    }

    /// The samples that count.
    var samples: SampleQuery { SampleQuery(types: [type], subject: subject, where: predicate) }

    /// Refuses what has no answer.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid`.
    func check() throws(StoreError) {
        guard type.kind == .quantity || type.kind == .category else {
            throw StoreError(.invalid, "\(type.id) is a \(type.kind.name): its samples are no amounts")
        }
        do throws(StatisticsError) {
            try options.check(for: type)
            if !ranges.isEmpty { try StatisticsOptions.inRange.check(for: type) }
        } catch {
            throw StoreError(.invalid, error.description)
        }
        guard !usesSampleZones || intervals.interval.unit.isOfDays else {
            throw StoreError(.invalid, "each sample's own zone makes days and longer stretches, no hours or minutes")
        }
    }
}

extension CalendarInterval.Unit {
    /// Whether it goes by dates rather than by elapsed time.
    public var isOfDays: Bool { self != .minute && self != .hour }
}
