import HealthModel
import Pipeline
import SampleStore

/// A day's total so far, and the usual total at the same time of day.
public struct DaySoFar: Hashable, Sendable {
    /// The total since midnight, in the canonical unit.
    public var sum: Double
    /// The average total of the days before at the same time of day, or `nil` if fewer than three of them have data.
    public var usual: Double?
    /// The number of days that ``usual`` is the average of.
    public var days: Int
}

extension DailyFigures {
    /// The number of days before today that are compared.
    private static let compared = 14
    private static let fewest = 3

    /// The total of a cumulative type since midnight, compared with the two weeks before. A day without data does not count.
    ///
    /// The hour that is not over yet counts by its share.
    ///
    /// - Returns: `nil` for types without sums.
    public func soFar(of type: SampleType, subject: String, at now: Instant) throws(StoreError) -> DaySoFar? {
        guard type.kind == .quantity, type.aggregation == .cumulative, let hour = CalendarInterval(count: 1, unit: .hour) else {
            return nil
        }
        let today = days.index(of: now)
        let elapsed = now.microseconds - days.start(of: today).microseconds
        var query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(hour, zone: days.zone), from: days.start(of: today - Self.compared),
            to: days.start(of: today + 1), priority: priority)
        query.subject = subject
        var (sums, whole) = ([Int: Double](), Set<Int>())
        for row in try store.statistics(query) {
            let day = days.index(of: row.start)
            whole.insert(day)
            let cut = day == today ? Int64.max : days.start(of: day).microseconds + elapsed
            let (start, end) = (row.start.microseconds, row.end.microseconds)
            guard start < cut, end > start else { continue }
            sums[day, default: 0] += row.sum * Double(min(end, cut) - start) / Double(end - start)
        }
        let before = whole.subtracting([today]).map { sums[$0] ?? 0 }
        let usual = before.count < Self.fewest ? nil : before.reduce(0, +) / Double(before.count)
        return DaySoFar(sum: sums[today] ?? 0, usual: usual, days: before.count)
    }
}
