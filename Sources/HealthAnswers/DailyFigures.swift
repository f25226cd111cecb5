import HealthModel
import SampleStore

/// One figure a day of a quantity type: the sum for cumulative types, otherwise the average. Overlapping sources count once, as in
/// statistics.
public struct DailyFigures {
    private let store: SampleStore
    private let days: CalendarIntervals
    private let priority: [String]

    /// - Parameters:
    ///   - zone: The zone whose midnights separate the days.
    ///   - priority: Source and device ids or names in the configured order, the best first.
    public init(_ store: SampleStore, zone: TimeZoneRules, priority: [String]) {
        (self.store, self.priority) = (store, priority)
        days = CalendarIntervals(.day, zone: zone)
    }

    /// The figures of consecutive days in the type's canonical unit, the last day last. Days without data are `nil`.
    ///
    /// - Parameter instant: A time on the last day.
    public func figures(of type: SampleType, subject: String, count: Int, through instant: Instant) throws(StoreError)
        -> [Double?]
    {
        guard type.kind == .quantity, count > 0 else { return [] }
        let last = days.index(of: instant)
        var query = StatisticsQuery(
            type: type, intervals: days, from: days.start(of: last - count + 1), to: days.start(of: last + 1), priority: priority)
        query.subject = subject
        var figures = [Double?](repeating: nil, count: count)
        for row in try store.statistics(query) {
            let index = days.index(of: row.start) - last + count - 1
            if figures.indices.contains(index) { figures[index] = type.aggregation == .cumulative ? row.sum : row.average }
        }
        return figures
    }

    /// The sum of the day on which a sample ends, in the canonical unit. `nil` for types without sums.
    ///
    /// - Parameters:
    ///   - known: Figures of the sample's type and person that were read before.
    ///   - instant: A time on the last day of these figures.
    public func total(of sample: Sample, known: [Double?] = [], through instant: Instant? = nil) throws(StoreError) -> Double? {
        let type = sample.origin.type
        guard type.kind == .quantity, type.aggregation == .cumulative else { return nil }
        // An interval that ends at midnight belongs to the day before.
        let moment = Instant(microseconds: max(sample.start.microseconds, sample.end.microseconds &- 1))
        if let instant {
            let index = days.index(of: moment) - days.index(of: instant) + known.count - 1
            if known.indices.contains(index) { return known[index] }
        }
        return try figures(of: type, subject: sample.origin.subject, count: 1, through: moment).last ?? nil
    }
}
