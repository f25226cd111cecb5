import HealthModel
import SampleStore

extension SampleStore {
    /// The statistics of calendar days or longer intervals, in which a night belongs to the day on which it ends. For types that are not
    /// measured over a night, and for shorter intervals, they are the usual ones.
    ///
    /// - Parameter query: A query whose intervals begin at midnight.
    package func calendarStatistics(_ query: StatisticsQuery) throws(StoreError) -> [Statistics] {
        let days = query.intervals
        let anchor =
            StatisticsQuery.isNightly(query.type)
            ? StatisticsQuery.defaultAnchor(of: query.type, days.interval, days.zone) : nil
        guard let anchor else { return try statistics(query) }
        // From noon to noon. Clocks may have changed in between, so the days are looked up.
        let (half, hour): (Int64, Int64) = (43_200_000_000, 3_600_000_000)
        var nights = query
        nights.intervals = CalendarIntervals(days.interval, zone: days.zone, anchor: anchor)
        nights.from = query.from.map { Instant(microseconds: $0.microseconds &- half) }
        nights.to = query.to.map { Instant(microseconds: $0.microseconds &- half) }
        return try statistics(nights).map { row in
            let day = days.index(of: Instant(microseconds: row.start.microseconds &+ half &+ 2 * hour))
            var row = row
            (row.start, row.end) = (days.start(of: day), days.start(of: day + 1))
            return row
        }
    }
}
