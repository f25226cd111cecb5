import HealthModel
import Pipeline
import SampleStore

extension NightReader {
    private static let day: Int64 = 86_400_000_000

    /// A person's last nights, the latest last. A night belongs to the day on which it ends. Of several sleeps of a day, the longest
    /// is the night, and the others are naps.
    ///
    /// - Parameters:
    ///   - count: The number of days, at most 400.
    ///   - now: A time on the last day.
    package func history(
        of person: String, days count: Int, through now: Instant, zone: TimeZoneRules
    ) throws(StoreError) -> [(date: Instant, night: Night, naps: [Night])] {
        guard let type = SampleType("sleepAnalysis"), count > 0 else { return [] }
        let days = CalendarIntervals(.day, zone: zone)
        let last = days.index(of: now)
        let from = days.start(of: last - min(count, 400) + 1)
        // A night may begin on the day before.
        let query = SampleQuery(
            types: [type], from: Instant(microseconds: from.microseconds - Self.day), to: now, person: person)
        let sleeps = Dictionary(grouping: try nights(query, from: from, to: nil)) {
            days.index(of: Instant(microseconds: $0.end))
        }
        return sleeps.sorted { $0.key < $1.key }.compactMap { day, sleeps in
            let ranked = sleeps.map { (night: $0, rank: ($0.asleep, $0.end - $0.start)) }
            guard let main = ranked.indices.max(by: { ranked[$0].rank < ranked[$1].rank }) else { return nil }
            let naps = ranked.indices.filter { $0 != main && ranked[$0].rank.0 > 0 }.map { ranked[$0].night }
            return (days.start(of: day), ranked[main].night, naps)
        }
    }
}
