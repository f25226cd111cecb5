import HealthModel

/// Statistics of neighbouring intervals, as HealthKit's `HKStatisticsCollection`.
public struct StatisticsCollection: Sendable {
    /// What is measured.
    public let type: SampleType
    /// How the calendar is cut.
    public let intervals: CalendarIntervals
    /// By the interval's number; of several sources each.
    private(set) var rows: [Int: [QuantityStatistics]] = [:]

    init(type: SampleType, intervals: CalendarIntervals) { (self.type, self.intervals) = (type, intervals) }

    /// Those of each interval that has any, in order; where sources are kept apart, one for each, by id.
    public var statistics: [QuantityStatistics] { rows.sorted { $0.key < $1.key }.flatMap(\.value) }

    /// Those of the interval that an instant lies in; a gap has statistics of no samples. Where sources are kept apart, the first of them.
    public func statistics(at instant: Instant) -> QuantityStatistics {
        let index = intervals.index(of: instant)
        return rows[index]?.first ?? empty(index)
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
        QuantityStatistics(emptyFrom: intervals.start(of: index), to: intervals.start(of: index + 1), of: type)
    }

    /// Puts what was reckoned in place of what was known of intervals.
    ///
    /// - Returns: what is otherwise now, in order; a gap where there is nothing any more.
    mutating func replace(_ range: ClosedRange<Int>?, by statistics: [QuantityStatistics]) -> [QuantityStatistics] {
        var told: [Int: [QuantityStatistics]] = [:]
        for each in statistics { told[intervals.index(of: each.start), default: []].append(each) }
        var numbers = Set(told.keys)
        for index in rows.keys where range?.contains(index) ?? true { numbers.insert(index) }
        var changed: [QuantityStatistics] = []
        for index in numbers.sorted() where rows[index] != told[index] {
            rows[index] = told[index]
            changed += told[index] ?? [empty(index)]
        }
        return changed
    }
}
