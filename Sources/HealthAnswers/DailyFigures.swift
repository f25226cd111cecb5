import HealthModel
import Pipeline
import SampleStore

/// One figure a day of a quantity type: the sum for cumulative types, otherwise the average. Overlapping sources count once, as in
/// statistics.
package struct DailyFigures {
    let store: SampleStore
    let days: CalendarIntervals
    let priority: [String]
    /// The condition on the readings of a type. All readings of other types count.
    let conditions: [SampleType: SamplePredicate]

    /// - Parameters:
    ///   - zone: The zone whose midnights separate the days.
    ///   - priority: Source and device ids or names in the configured order, the best first.
    ///   - conditions: The readings that count, for types of which not all do.
    package init(
        _ store: SampleStore, zone: TimeZoneRules, priority: [String], conditions: [SampleType: SamplePredicate] = [:]
    ) {
        (self.store, self.priority, self.conditions) = (store, priority, conditions)
        days = CalendarIntervals(.day, zone: zone)
    }

    /// The beginning of an instant's day.
    func midnight(of instant: Instant) -> Instant { days.start(of: days.index(of: instant)) }

    /// The figures of consecutive days in the type's canonical unit, the last day last. Days without data are `nil`.
    ///
    /// - Parameter instant: A time on the last day.
    package func figures(of type: SampleType, person: String, count: Int, through instant: Instant) throws(StoreError)
        -> [Double?]
    {
        try daily(of: type, person: person, count: count, through: instant).map { row in
            row.flatMap { type.aggregation == .cumulative ? $0.sum : $0.average }
        }
    }

    /// The statistics of consecutive days, the last day last. Days without data are `nil`. Empty for other kinds than quantities.
    ///
    /// - Parameter instant: A time on the last day.
    func daily(of type: SampleType, person: String, count: Int, through instant: Instant) throws(StoreError) -> [Statistics?] {
        guard type.kind == .quantity, count > 0 else { return [] }
        let last = days.index(of: instant)
        var query = StatisticsQuery(
            type: type, intervals: days, from: days.start(of: last - count + 1), to: days.start(of: last + 1), priority: priority)
        query.person = person
        if let condition = conditions[type] { query.predicate = condition }
        var rows = [Statistics?](repeating: nil, count: count)
        for row in try store.calendarStatistics(query) {
            let index = days.index(of: row.start) - last + count - 1
            if rows.indices.contains(index) { rows[index] = row }
        }
        return rows
    }

    /// The total of a type on one day. Overlapping sources count once, and an interval that crosses midnight is split.
    ///
    /// - Parameters:
    ///   - instant: A time on the day.
    ///   - condition: The samples that count, or `nil` for all.
    /// - Returns: The total in the canonical unit, 0 on a day without data, or `nil` for types without sums.
    package func total(
        of type: SampleType, person: String, on instant: Instant, where condition: SamplePredicate? = nil
    ) throws(StoreError) -> DayTotal? {
        guard type.kind == .quantity, type.aggregation == .cumulative else { return nil }
        let day = days.index(of: instant)
        let (start, end) = (days.start(of: day), days.start(of: day + 1))
        var query = StatisticsQuery(type: type, intervals: days, from: start, to: end, person: person, priority: priority)
        let all = [condition, conditions[type]].compactMap { $0 }
        if !all.isEmpty { query.predicate = .and(all) }
        let found = try store.statistics(query).first { $0.start == start && $0.person == person }
        return DayTotal(sum: found?.sum ?? 0, start: start, end: end)
    }

    /// Today's total of a sample's type and person, from its device, or from its source if it has no device.
    ///
    /// - Parameter condition: The samples that count, or `nil` for all.
    package func today(of sample: Sample, at now: Instant, where condition: SamplePredicate? = nil) throws(StoreError)
        -> DayTotal?
    {
        let origin = sample.origin
        let isHere: SamplePredicate =
            if let device = origin.device {
                .comparison(.device(.key), .equal, .text(device.key))
            } else {
                .comparison(.source(.id), .equal, .text(origin.source.id))
            }
        return try total(
            of: origin.type, person: origin.person, on: now, where: .and([isHere] + (condition.map { [$0] } ?? [])))
    }

    /// The sum of the day on which a sample ends, in the canonical unit. `nil` for types without sums.
    ///
    /// - Parameters:
    ///   - known: Figures of the sample's type and person that were read before.
    ///   - instant: A time on the last day of these figures.
    package func total(of sample: Sample, known: [Double?] = [], through instant: Instant? = nil) throws(StoreError) -> Double? {
        let type = sample.origin.type
        // An interval that ends at midnight belongs to the day before.
        let moment = Instant(microseconds: max(sample.start.microseconds, sample.end.microseconds &- 1))
        if let instant, type.kind == .quantity, type.aggregation == .cumulative {
            let index = days.index(of: moment) - days.index(of: instant) + known.count - 1
            if known.indices.contains(index) { return known[index] }
        }
        return try total(of: type, person: sample.origin.person, on: moment)?.sum
    }
}
