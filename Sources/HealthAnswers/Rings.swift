import HealthModel
import SampleStore

extension ActivityQuery {
    /// The query for today's rings: the day from midnight to midnight in a zone.
    ///
    /// - Parameter person: The person, or `nil` for everybody.
    package static func today(
        _ now: Instant, zone: TimeZoneRules, person: String? = nil, priority: [String]
    ) -> ActivityQuery {
        let days = CalendarIntervals(.day, zone: zone)
        let today = days.index(of: now)
        return ActivityQuery(
            zone: zone, from: days.start(of: today), to: days.start(of: today + 1), person: person, priority: priority)
    }
}
