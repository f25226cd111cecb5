extension Instant {
    /// Parses a time as users write it: ISO 8601 with or without a zone, a date, `now`, `today`, `yesterday`, a weekday, or `-7d` for seven
    /// days ago.
    ///
    /// - Parameters:
    ///   - now: The reference for `today` and the like.
    ///   - zone: The zone of days and local times, if the text has none.
    /// - Returns: `nil` for any other text, and for a time that is skipped in the zone.
    public init?(written text: String, now: Instant, zone: TimeZoneRules) {
        guard let instant = Self.written(text, now, zone) else { return nil }
        self = instant
    }

    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    private static func written(_ text: String, _ now: Instant, _ zone: TimeZoneRules) -> Instant? {
        let days = CalendarIntervals(.day, zone: zone)
        let today = days.index(of: now)
        switch text.lowercased() {
        case "now": return now
        case "today": return days.start(of: today)
        case "yesterday": return start(from: today - 1, by: 1, days)
        case let day:
            guard let weekday = weekdays.firstIndex(where: { $0 == day || $0.prefix(3) == day }) else { break }
            // The last one that has begun: day 0 of the calendar, 1970-01-01, was a Thursday.
            let back = (today + 3 - weekday) % 7
            return start(from: today - (back < 0 ? back + 7 : back), by: 7, days)
        }
        if text.hasPrefix("-"), let back = CalendarInterval(text.dropFirst()) {
            return CalendarIntervals(back, zone: zone, anchor: now).start(of: -1)
        }
        return Self.fixed(text, zone)
    }

    /// Parses a date or a time of ISO 8601, which means the same at any time.
    ///
    /// - Parameter zone: The zone of dates and local times, if the text has none.
    /// - Returns: `nil` for any other text, and for a time that is skipped in the zone.
    public init?(iso8601 text: String, zone: TimeZoneRules) {
        guard let instant = Self.fixed(text, zone) else { return nil }
        self = instant
    }

    private static func fixed(_ text: String, _ zone: TimeZoneRules) -> Instant? {
        let days = CalendarIntervals(.day, zone: zone)
        let isDate = text.utf8.count == 10
        guard let parsed = try? Timestamp(iso8601: isDate ? "\(text)T00:00:00" : text) else { return nil }
        if let instant = parsed.instant { return instant }
        if isDate {
            // A day begins at 01:00 if clocks go forward at midnight.
            let day = Int(parsed.wall.microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day).quotient)
            return days.isEmpty(day) ? nil : days.start(of: day)
        }
        return zone.offsets(at: parsed.wall).first.map { parsed.wall.instant(at: $0) }
    }

    /// The start of a day, or of the day `step` earlier if it did not occur: Samoa had no 30 December 2011.
    private static func start(from day: Int, by step: Int, _ days: CalendarIntervals) -> Instant {
        days.start(of: days.isEmpty(day) ? day - step : day)
    }
}
