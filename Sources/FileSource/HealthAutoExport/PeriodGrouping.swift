import HealthModel

/// The length of the periods whose sums and averages an export contains.
///
///     PeriodGrouping(header: "Days")?.end(of: start, offset: offset, zone: berlin)
package enum PeriodGrouping: String, Hashable, Sendable, CaseIterable {
    /// Single samples.
    case none
    case seconds, minutes, hours, days, weeks, months, years

    /// The grouping of a request's header. The app has written the same word with and without capitals and spaces. Returns `nil` for an
    /// unknown word.
    package init?(header: String) {
        let word = header.lowercased().filter { $0 != " " && $0 != "\u{A0}" }
        guard word != "default" else {
            self = .none
            return
        }
        self.init(rawValue: word)
    }

    /// The end of the period that starts at an instant, or `nil` for single samples.
    ///
    /// A day lasts until the next midnight, which can be 23 or 25 hours. An export contains only the offset of its start. If the zone has
    /// another offset then, the person was elsewhere, and the day lasts 24 hours.
    ///
    /// - Parameter zone: the person's zone.
    /// - Returns: the end, and whether the rules of the zone do not apply to it.
    package func end(of start: Instant, offset: ZoneOffset, zone: TimeZoneRules?) -> (instant: Instant, isElsewhere: Bool)? {
        func after(_ seconds: Int64) -> (Instant, Bool) {
            (Instant(microseconds: start.microseconds &+ seconds * 1_000_000), false)
        }
        let unit: CalendarInterval.Unit
        switch self {
        case .none: return nil
        case .seconds: return after(1)
        case .minutes: return after(60)
        case .hours: return after(3600)
        case .days: unit = .day
        case .weeks: unit = .week
        case .months: unit = .month
        case .years: unit = .year
        }
        guard let interval = CalendarInterval(count: 1, unit: unit) else { return nil }
        let isElsewhere = zone?.offset(at: start) != offset
        let rules = isElsewhere ? TimeZoneRules(fixed: offset) : zone ?? TimeZoneRules(fixed: offset)
        return (CalendarIntervals(interval, zone: rules, anchor: start).start(of: 1), isElsewhere)
    }
}
