import HealthModel
import Pipeline
import SampleStore

extension NightReader {
    private static let day: Int64 = 86_400_000_000

    /// A person's last nights, the latest last. A night belongs to the day on which it ends. Of several sleeps of a day, the longest
    /// counts.
    ///
    /// - Parameters:
    ///   - count: The number of days, at most 400.
    ///   - now: A time on the last day.
    public func history(
        of subject: String, days count: Int, through now: Instant, zone: TimeZoneRules
    ) throws(StoreError) -> [(date: Instant, night: Night)] {
        guard let type = SampleType("sleepAnalysis"), count > 0 else { return [] }
        let days = CalendarIntervals(.day, zone: zone)
        let last = days.index(of: now)
        let from = days.start(of: last - min(count, 400) + 1)
        // A night may begin on the day before.
        let query = SampleQuery(
            types: [type], from: Instant(microseconds: from.microseconds - Self.day), to: now, subject: subject)
        var longest: [Int: Night] = [:]
        for night in try nights(query, from: from, to: nil) {
            let day = days.index(of: Instant(microseconds: night.end))
            guard let other = longest[day] else {
                longest[day] = night
                continue
            }
            if (night.asleep, night.end - night.start) > (other.asleep, other.end - other.start) { longest[day] = night }
        }
        return longest.sorted { $0.key < $1.key }.map { (days.start(of: $0.key), $0.value) }
    }
}
