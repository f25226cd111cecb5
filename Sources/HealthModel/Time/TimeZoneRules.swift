/// The UTC offsets of a place over time.
///
/// They are read from a compiled zone file of the tz database (TZif, RFC 9636), or fixed. The machine provides the database, and the
/// assembling target passes its directory, so that nothing here depends on the environment.
public struct TimeZoneRules: Hashable, Sendable {
    /// The tz database's name, or the offset's text.
    public let identifier: String
    /// The times at which offsets take effect, in seconds since 1970, ascending.
    let transitions: [Int64]
    /// The offsets, one more than there are transitions. The first applies before all transitions.
    let offsets: [ZoneOffset]
    /// The yearly rule after the last transition.
    let rule: YearlyRule?

    /// A zone that never changes its clocks.
    public init(fixed offset: ZoneOffset) {
        identifier = offset == .utc ? "UTC" : offset.description
        transitions = []
        offsets = [offset]
        rule = nil
    }

    init(identifier: String, transitions: [Int64], offsets: [ZoneOffset], rule: YearlyRule?) {
        self.identifier = identifier
        self.transitions = transitions
        self.offsets = offsets
        self.rule = rule
    }

    /// The offset in force at an instant.
    public func offset(at instant: Instant) -> ZoneOffset { period(at: instant).offset }

    /// The calendar date of an instant: `2026-11-20`.
    public func date(of instant: Instant) -> String { instant.wallTime(at: offset(at: instant)).date }

    /// The offset in force at an instant, and a period (end exclusive) during which it certainly applies.
    public func period(at instant: Instant) -> (offset: ZoneOffset, from: Instant, until: Instant) {
        let seconds = instant.microseconds.flooredQuotientAndRemainder(dividingBy: 1_000_000).quotient
        var low = 0
        var high = transitions.count
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        if low == transitions.count, let rule {
            let period = rule.period(at: seconds)
            let from = max(period.from, transitions.last ?? period.from)
            return (period.offset, Self.instant(from), Self.instant(period.until))
        }
        let from = low == 0 ? Int64.min : transitions[low - 1]
        let until = low == transitions.count ? Int64.max : transitions[low]
        return (offsets[low], Self.instant(from), Self.instant(until))
    }

    /// Zone files know seconds that no count of microseconds reaches, such as the Big Bang's (-2^59): those are the first and the last.
    private static func instant(_ seconds: Int64) -> Instant {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return Instant(microseconds: overflow ? (seconds < 0 ? .min : .max) : product)
    }

    /// The offsets that apply when clocks show this time. There are none in the gap when clocks go forward, and two in a repeated hour, the
    /// earlier instant first.
    public func offsets(at wall: WallTime) -> [ZoneOffset] {
        // All offsets are within a day of UTC, so each possible one is in force somewhere within a day of it.
        var candidates: [ZoneOffset] = []
        var instant = Instant(microseconds: wall.microseconds - Calendar.day)
        let last = wall.microseconds + Calendar.day
        while instant.microseconds <= last {
            let period = period(at: instant)
            if !candidates.contains(period.offset) { candidates.append(period.offset) }
            guard period.until.microseconds <= last else { break }
            instant = period.until
        }
        return candidates.filter { offset(at: wall.instant(at: $0)) == $0 }
            .sorted { wall.instant(at: $0) < wall.instant(at: $1) }
    }

    /// Whether two local times certainly have the same offset.
    public func haveSameOffset(_ one: WallTime, _ other: WallTime) -> Bool {
        let offsets = offsets(at: one)
        return offsets.count == 1 && offsets == self.offsets(at: other)
    }
}

/// Daylight saving by a rule for every year, the last line of a zone file: `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX TZ).
struct YearlyRule: Hashable, Sendable {
    struct Change: Hashable, Sendable {
        enum Day: Hashable, Sendable {
            /// Weekday (0 is Sunday) number `week` (5 is the last) of a month.
            case weekday(month: Int, week: Int, day: Int)
            /// Day of the year from 1, 29 February never counted.
            case withoutLeapDay(Int)
            /// Day of the year from 0.
            case ofYear(Int)
        }
        var day: Day
        /// Seconds after midnight on the clock before the change.
        var time: Int64
    }

    var standard: ZoneOffset
    var daylight: ZoneOffset
    /// The start and end of daylight saving time, or `nil` without it.
    var changes: (begin: Change, end: Change)?

    static func == (one: YearlyRule, other: YearlyRule) -> Bool {
        one.standard == other.standard && one.daylight == other.daylight && one.changes?.begin == other.changes?.begin
            && one.changes?.end == other.changes?.end
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(standard)
        hasher.combine(daylight)
        hasher.combine(changes?.begin)
        hasher.combine(changes?.end)
    }

    func period(at seconds: Int64) -> (offset: ZoneOffset, from: Int64, until: Int64) {
        guard let changes else { return (standard, .min, .max) }
        let days = Int(seconds.flooredQuotientAndRemainder(dividingBy: 86_400).quotient)
        let year = Calendar.date(days: days).year
        var events: [(at: Int64, offset: ZoneOffset)] = []
        for year in (year - 1)...(year + 1) {
            events.append((instant(of: changes.begin, year: year, under: standard), daylight))
            events.append((instant(of: changes.end, year: year, under: daylight), standard))
        }
        events.sort { $0.at < $1.at }
        var current = events[0]
        for (index, event) in events.enumerated() where event.at <= seconds {
            current = event
            if index + 1 < events.count, events[index + 1].at > seconds {
                return (event.offset, event.at, events[index + 1].at)
            }
        }
        return (current.offset, current.at, seconds + 1)
    }

    private func instant(of change: Change, year: Int, under offset: ZoneOffset) -> Int64 {
        let day: Int
        switch change.day {
        case .withoutLeapDay(let number):
            let leap = Calendar.daysInMonth(2, year: year) == 29 && number >= 60
            day = Calendar.days(year: year, month: 1, day: 1) + number - 1 + (leap ? 1 : 0)
        case .ofYear(let number):
            day = Calendar.days(year: year, month: 1, day: 1) + number
        case .weekday(let month, let week, let weekday):
            let first = Calendar.days(year: year, month: month, day: 1)
            // 1970-01-01 was a Thursday.
            let firstWeekday = (first + 4).flooredQuotientAndRemainder(dividingBy: 7).remainder
            var date = 1 + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
            if date > Calendar.daysInMonth(month, year: year) { date -= 7 }
            day = first + date - 1
        }
        return Int64(day) * 86_400 + change.time - Int64(offset.seconds)
    }
}
