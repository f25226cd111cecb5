/// A calendar interval: `15m`, `1h`, `1d`, `1w`, `1mo`, `1y`.
///
/// Minutes and hours have a fixed length. Days and longer intervals depend on the calendar and the zone.
public struct CalendarInterval: Hashable, Sendable, CustomStringConvertible {
    /// The units of a calendar.
    public enum Unit: String, Hashable, Sendable, CaseIterable {
        /// 60 seconds.
        case minute = "m"
        /// 60 minutes, even if clocks change.
        case hour = "h"
        /// From midnight to midnight: 23 or 25 hours if clocks change.
        case day = "d"
        /// From Monday (ISO 8601).
        case week = "w"
        /// From its first day.
        case month = "mo"
        /// From 1 January.
        case year = "y"
    }

    /// How many of the unit.
    public var count: Int
    /// The unit.
    public var unit: Unit

    /// One day of the calendar, whether it has 23 hours, 24 or 25.
    public static let day = CalendarInterval(unchecked: 1, .day)

    private init(unchecked count: Int, _ unit: Unit) {
        self.count = count
        self.unit = unit
    }

    /// An interval, or `nil` unless the count is from 1 to 10,000.
    public init?(count: Int, unit: Unit) {
        guard (1...10_000).contains(count) else { return nil }
        self.count = count
        self.unit = unit
    }

    /// Reads a count and a unit.
    public init?(_ text: some StringProtocol) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits), let unit = Unit(rawValue: String(text.dropFirst(digits.count))) else { return nil }
        self.init(count: count, unit: unit)
    }

    public var description: String { "\(count)\(unit.rawValue)" }
}

/// The calendar cut into intervals: interval number 0 begins at the anchor.
public struct CalendarIntervals: Sendable {
    /// How long each is.
    public let interval: CalendarInterval
    /// Whose calendar counts.
    public let zone: TimeZoneRules
    private let anchor: Instant
    private let anchorWall: WallTime

    /// - Parameter anchor: The start of one interval. By default, intervals start at midnight, and weeks on Monday.
    public init(_ interval: CalendarInterval, zone: TimeZoneRules, anchor: Instant? = nil) {
        self.interval = interval
        self.zone = zone
        // 1970-01-05 was the first Monday.
        let wall = anchor?.wallTime(at: zone.offset(at: anchor ?? Instant(seconds: 0)))
        anchorWall = wall ?? WallTime(microseconds: interval.unit == .week ? 4 * Calendar.day : 0)
        self.anchor = anchor ?? Self.instant(anchorWall, in: zone)
    }

    /// The instant of a local time. It is the first one if repeated, and the end of the gap if skipped.
    static func instant(_ wall: WallTime, in zone: TimeZoneRules) -> Instant {
        if let offset = zone.offsets(at: wall).first { return wall.instant(at: offset) }
        let before = zone.offset(at: Instant(microseconds: wall.microseconds - Calendar.day))
        return zone.period(at: wall.instant(at: before)).from
    }

    /// When interval number `index` begins.
    public func start(of index: Int) -> Instant {
        let count = Int64(interval.count) * Int64(index)
        switch interval.unit {
        case .minute: return Instant(microseconds: anchor.microseconds + count * 60_000_000)
        case .hour: return Instant(microseconds: anchor.microseconds + count * 3_600_000_000)
        case .day: return Self.instant(WallTime(microseconds: anchorWall.microseconds + count * Calendar.day), in: zone)
        case .week: return Self.instant(WallTime(microseconds: anchorWall.microseconds + count * 7 * Calendar.day), in: zone)
        case .month, .year:
            return Self.instant(anchorWall.adding(months: Int(count) * (interval.unit == .year ? 12 : 1)), in: zone)
        }
    }

    /// The same intervals in local time, independent of the zone. Interval number `index` begins at the local time at which it begins in
    /// this zone. Times are local times, read as if they were UTC. For intervals of days and longer.
    public var onTheWall: CalendarIntervals {
        CalendarIntervals(interval, zone: TimeZoneRules(fixed: .utc), anchor: Instant(microseconds: anchorWall.microseconds))
    }

    /// Whether no instant lies in interval number `index`: a day that a zone left out when it moved over the date line.
    public func isEmpty(_ index: Int) -> Bool { start(of: index) >= start(of: index + 1) }

    /// The number of the interval that an instant lies in.
    public func index(of instant: Instant) -> Int {
        let elapsed = instant.microseconds - anchor.microseconds
        var index: Int
        switch interval.unit {
        case .minute: return Int(elapsed.flooredQuotientAndRemainder(dividingBy: Int64(interval.count) * 60_000_000).quotient)
        case .hour: return Int(elapsed.flooredQuotientAndRemainder(dividingBy: Int64(interval.count) * 3_600_000_000).quotient)
        case .day: index = Int(elapsed.flooredQuotientAndRemainder(dividingBy: Int64(interval.count) * Calendar.day).quotient)
        case .week:
            index = Int(elapsed.flooredQuotientAndRemainder(dividingBy: Int64(interval.count) * 7 * Calendar.day).quotient)
        case .month:
            index = Int(elapsed.flooredQuotientAndRemainder(dividingBy: Int64(interval.count) * 30 * Calendar.day).quotient)
        case .year:
            index = Int(elapsed.flooredQuotientAndRemainder(dividingBy: Int64(interval.count) * 365 * Calendar.day).quotient)
        }
        // The guess is as far off as months and clock changes make it.
        while start(of: index) > instant { index -= interval.unit == .month ? max(1, index / 70) : 1 }
        while start(of: index + 1) <= instant { index += 1 }
        return index
    }
}

extension WallTime {
    /// The same day of another month, or its last day if that is shorter.
    func adding(months: Int) -> WallTime {
        let (days, rest) = microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day)
        let date = Calendar.date(days: Int(days))
        let (year, month) = (date.year * 12 + date.month - 1 + months).flooredQuotientAndRemainder(dividingBy: 12)
        let day = min(date.day, Calendar.daysInMonth(month + 1, year: year))
        return WallTime(
            microseconds: Int64(Calendar.days(year: year, month: month + 1, day: day)) * Calendar.day + rest)
    }
}
