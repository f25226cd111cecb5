import HealthModel

/// Statistics of consecutive intervals, like HealthKit's `HKStatisticsCollection`.
public struct QuantityStatisticsCollection: Sendable {
    /// The type of the samples.
    public let type: SampleType
    /// The intervals of the calendar.
    public let intervals: CalendarIntervals
    private let options: StatisticsOptions
    /// The statistics by the interval's index, with one entry for each source and category case.
    private var rows: [Int: [QuantityStatistics]] = [:]

    init(type: SampleType, intervals: CalendarIntervals, options: StatisticsOptions) {
        (self.type, self.intervals, self.options) = (type, intervals, options)
    }

    /// The statistics of all intervals with samples, in order. Separated sources follow each other by id.
    public var statistics: [QuantityStatistics] { rows.sorted { $0.key < $1.key }.flatMap(\.value) }

    /// The statistics of the interval that contains an instant. A gap has statistics with no samples.
    ///
    /// - Returns: One element, or one for each source and category case, sorted by id and number.
    public func statistics(at instant: Instant) -> [QuantityStatistics] {
        let index = intervals.index(of: instant)
        return rows[index] ?? [empty(index)]
    }

    /// Calls a closure with the statistics of each interval in a range, in order. Gaps are included as empty statistics.
    ///
    /// - Parameters:
    ///   - from: An instant in the first interval.
    ///   - to: An instant in the last interval.
    ///   - body: Called for each interval, so that a year of minutes needs no memory.
    public func enumerateStatistics(
        from: Instant, to: Instant, _ body: (QuantityStatistics) throws -> Void
    ) rethrows {
        guard from <= to else { return }
        for index in intervals.index(of: from)...intervals.index(of: to) {
            // A day that a time zone skipped is not a gap.
            guard !intervals.isEmpty(index) else { continue }
            for statistics in rows[index] ?? [empty(index)] { try body(statistics) }
        }
    }

    private func empty(_ index: Int) -> QuantityStatistics {
        let (start, end) = (intervals.start(of: index), intervals.start(of: index + 1))
        return QuantityStatistics(Statistics(start: start, end: end, person: ""), of: type, options)
    }

    /// Replaces the statistics of the same interval, source and case. Statistics without samples are removed.
    mutating func update(_ changed: [QuantityStatistics]) {
        for new in changed {
            let index = intervals.index(of: new.start)
            var own = rows[index] ?? []
            // A day that the zone skipped has the same start as the next day, so the ends are compared.
            own.removeAll { $0.end == new.end && $0.source == new.source && $0.categoryValue == new.categoryValue }
            if new.count > 0 { own.append(new) }
            own.sort { ($0.end, $0.source ?? "", $0.categoryValue ?? 0) < ($1.end, $1.source ?? "", $1.categoryValue ?? 0) }
            rows[index] = own.isEmpty ? nil : own
        }
    }
}
