import HealthModel
import Pipeline
import SampleStore

extension NightReader {
    private static let day: Int64 = 86_400_000_000

    /// The last nights of a person that are over, in order. A night belongs to the day on which it ends. The longest sleep of a day is the night,
    /// and the others are naps.
    ///
    /// - Parameters:
    ///   - count: The number of days, at most 400.
    ///   - last: A time on the last day. Sleep that begins later does not count.
    ///   - now: The present, if it is later.
    package func history(
        of person: String, days count: Int, through last: Instant, at now: Instant? = nil, zone: TimeZoneRules
    ) throws(StoreError) -> [(date: Instant, night: Night, naps: [Night])] {
        guard let type = SampleType("sleepAnalysis"), count > 0 else { return [] }
        let days = CalendarIntervals(.day, zone: zone)
        let from = days.start(of: days.index(of: last) - min(count, 400) + 1)
        // A night may begin on the day before.
        let query = SampleQuery(
            types: [type], from: Instant(microseconds: from.microseconds - Self.day), to: last, person: person)
        var sleeps = try nights(query, from: from, to: nil)
        if let newest = sleeps.last, !Self.isOver(newest, after: sleeps.dropLast(), at: now ?? last, days) { sleeps.removeLast() }
        let byDay = Dictionary(grouping: sleeps) { days.index(of: Instant(microseconds: $0.end)) }
        return byDay.sorted { $0.key < $1.key }.compactMap { day, sleeps in
            let ranked = sleeps.map { (night: $0, rank: ($0.asleep, $0.end - $0.start)) }
            guard let main = ranked.indices.max(by: { ranked[$0].rank < ranked[$1].rank }) else { return nil }
            let naps = ranked.indices.filter { $0 != main && ranked[$0].rank.0 > 0 }.map { ranked[$0].night }
            return (days.start(of: day), ranked[main].night, naps)
        }
    }

    /// Whether a sleep is over. A sleep in the hours before the usual wake-up lasts until about then. If nothing was recorded for
    /// ``Night/gap``, further sleep would be another one. All other sleeps are naps, which are over when they end.
    private static func isOver(
        _ sleep: Night, after earlier: ArraySlice<Night>, at now: Instant, _ days: CalendarIntervals
    ) -> Bool {
        guard sleep.end <= now.microseconds else { return false }
        if now.microseconds - sleep.end > Night.gap { return true }
        func clock(_ time: Int64) -> Int64 {
            let instant = Instant(microseconds: time)
            return instant.microseconds - days.start(of: days.index(of: instant)).microseconds
        }
        let ends = earlier.filter { $0.end - $0.start > Night.gap }.map { Double(clock($0.end)) }
        let wakeUp = TypicalRange(ends).map { Int64($0.low) - half } ?? firstWakeUp
        let untilWakeUp = ((wakeUp - clock(sleep.start)) % day + day) % day
        return untilWakeUp > day / 2 || sleep.end >= sleep.start + untilWakeUp
    }

    /// Half an hour in microseconds.
    private static let half = day / 48
    /// The time of day after which a night is over if no usual one is known, in microseconds.
    private static let firstWakeUp = day * 5 / 24
}

extension TypicalRange {
    /// The usual time asleep of the nights before one, in microseconds.
    ///
    /// - Parameter history: The nights of ``reach`` days and of the night's own day.
    package init?(asleepIn history: [(date: Instant, night: Night, naps: [Night])], before night: Night?) {
        self.init(history.filter { $0.night.end != night?.end && $0.night.asleep > 0 }.map { Double($0.night.asleep) })
    }
}
