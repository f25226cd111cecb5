import HealthModel
import Pipeline
import SampleStore

/// A day's total so far, and the usual total at the same time of day.
package struct DaySoFar: Hashable, Sendable {
    /// The total since midnight, in the canonical unit.
    package var sum: Double
    /// The time that the data of the day reaches.
    package var until: Instant
    /// The total of comparable days up to the same time of day. `nil` if there are too few, or if the data ends too long ago to be
    /// compared with the present.
    package var typical: TypicalRange?
}

extension DailyFigures {
    /// The time in microseconds after which data is too old for a comparison with the present.
    private static let timeout: Int64 = 30 * 60_000_000

    /// The total of a cumulative type since midnight, compared with the days before up to the same time of day. Weekdays are compared with
    /// weekdays, and weekends with weekends. A day without data does not count.
    ///
    /// An hour that is not over yet counts by its share.
    ///
    /// - Parameter latest: The end of the latest sample.
    /// - Returns: `nil` for types without sums.
    package func soFar(of type: SampleType, person: String, until latest: Instant, at now: Instant) throws(StoreError)
        -> DaySoFar?
    {
        guard type.kind == .quantity, type.aggregation == .cumulative, let hour = CalendarInterval(count: 1, unit: .hour) else {
            return nil
        }
        let today = days.index(of: now)
        let until = min(now, max(latest, days.start(of: today)))
        let elapsed = until.microseconds - days.start(of: today).microseconds
        let isRecent = now.microseconds - until.microseconds <= Self.timeout
        var query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(hour, zone: days.zone),
            from: days.start(of: isRecent ? today - TypicalRange.reach : today), to: days.start(of: today + 1), priority: priority
        )
        query.person = person
        if let condition = conditions[type] { query.predicate = condition }
        var (sums, whole) = ([Int: Double](), Set<Int>())
        for row in try store.statistics(query) {
            let day = days.index(of: row.start)
            whole.insert(day)
            let cut = day == today ? Int64.max : days.start(of: day).microseconds + elapsed
            let (start, end) = (row.start.microseconds, row.end.microseconds)
            guard start < cut, end > start else { continue }
            sums[day, default: 0] += row.sum * Double(min(end, cut) - start) / Double(end - start)
        }
        let isWeekend = days.isWeekend(today)
        let comparable = whole.filter { $0 != today && days.isWeekend($0) == isWeekend }
        return DaySoFar(
            sum: sums[today] ?? 0, until: until, typical: isRecent ? TypicalRange(comparable.map { sums[$0] ?? 0 }) : nil)
    }
}
