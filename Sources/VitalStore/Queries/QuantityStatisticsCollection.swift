import HealthModel

/// Statistics of neighbouring intervals, as HealthKit's `HKStatisticsCollection`.
public struct QuantityStatisticsCollection: Sendable {
    /// What is measured.
    public let type: SampleType
    /// How the calendar is cut.
    public let intervals: CalendarIntervals
    private let options: StatisticsOptions
    /// By the interval's number; of several sources, or cases of a category, each.
    private var rows: [Int: [QuantityStatistics]] = [:]

    init(type: SampleType, intervals: CalendarIntervals, options: StatisticsOptions) {
        (self.type, self.intervals, self.options) = (type, intervals, options)
    }

    /// Those of each interval that has any, in order; where sources are kept apart, one for each, by id.
    public var statistics: [QuantityStatistics] { rows.sorted { $0.key < $1.key }.flatMap(\.value) }

    /// Those of the interval that an instant lies in; a gap has statistics of no samples.
    ///
    /// - Returns: one; where sources are kept apart, and of a category, one for each source and case, by id and number.
    public func statistics(at instant: Instant) -> [QuantityStatistics] {
        let index = intervals.index(of: instant)
        return rows[index] ?? [empty(index)]
    }

    /// Those of each interval from the one that an instant lies in to the one that another lies in, in order; gaps present as empty ones.
    ///
    /// - Parameters:
    ///   - from: in the first interval.
    ///   - to: in the last.
    ///   - body: asked for each, so that a year of minutes takes no memory.
    public func enumerateStatistics(
        from: Instant, to: Instant, _ body: (QuantityStatistics) throws -> Void
    ) rethrows {
        guard from <= to else { return }
        for index in intervals.index(of: from)...intervals.index(of: to) {
            // A day that a zone left out is no gap.
            guard !intervals.isEmpty(index) else { continue }
            for statistics in rows[index] ?? [empty(index)] { try body(statistics) }
        }
    }

    private func empty(_ index: Int) -> QuantityStatistics {
        let (start, end) = (intervals.start(of: index), intervals.start(of: index + 1))
        return QuantityStatistics(Statistics(start: start, end: end, subject: ""), of: type, options)
    }

    /// Takes rows in place of those of the same interval, source and case; one in which nothing counts any more goes.
    mutating func update(_ changed: [QuantityStatistics]) {
        for new in changed {
            let index = intervals.index(of: new.start)
            var own = rows[index] ?? []
            // A day that the zone left out begins where the next one does.
            own.removeAll { $0.end == new.end && $0.source == new.source && $0.categoryValue == new.categoryValue }
            if new.count > 0 { own.append(new) }
            own.sort { ($0.end, $0.source ?? "", $0.categoryValue ?? 0) < ($1.end, $1.source ?? "", $1.categoryValue ?? 0) }
            rows[index] = own.isEmpty ? nil : own
        }
    }
}
