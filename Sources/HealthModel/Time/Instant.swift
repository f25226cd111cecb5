/// A point in time: microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
public struct Instant: Hashable, Comparable, Sendable {
    /// Since 1970-01-01T00:00:00Z.
    public var microseconds: Int64

    /// A time by its microseconds since 1970.
    @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }
    /// An instant by its seconds since 1970.
    @inlinable public init(seconds: Int64) { self.microseconds = seconds * 1_000_000 }

    /// Whether one is earlier than the other.
    @inlinable public static func < (one: Instant, other: Instant) -> Bool { one.microseconds < other.microseconds }

    /// The wall clock of a place that is this far ahead of UTC.
    @inlinable public func wallTime(at offset: ZoneOffset) -> WallTime {
        WallTime(microseconds: microseconds + Int64(offset.seconds) * 1_000_000)
    }
}

/// A local date and time without a zone, as microseconds since 1970-01-01T00:00:00 on that clock.
public struct WallTime: Hashable, Comparable, Sendable {
    /// Since the same clock showed 1970-01-01T00:00:00.
    public var microseconds: Int64

    /// A time by its microseconds since 1970.
    @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

    /// Whether a clock shows one before the other.
    @inlinable public static func < (one: WallTime, other: WallTime) -> Bool { one.microseconds < other.microseconds }

    /// The day of the calendar: `2026-11-20`.
    public var date: String { String(description.prefix { $0 != "T" }) }

    /// The instant at which a place that is this far ahead of UTC shows this time.
    @inlinable public func instant(at offset: ZoneOffset) -> Instant {
        Instant(microseconds: microseconds - Int64(offset.seconds) * 1_000_000)
    }
}

/// A zone's offset from UTC in seconds (positive if ahead), at most a day.
public struct ZoneOffset: Hashable, Comparable, Sendable {
    /// East of Greenwich.
    public var seconds: Int32

    /// An offset by its seconds, positive to the east.
    @inlinable public init(seconds: Int32) { self.seconds = seconds }

    /// No offset.
    public static let utc = ZoneOffset(seconds: 0)

    /// Whether one is further west than the other.
    @inlinable public static func < (one: ZoneOffset, other: ZoneOffset) -> Bool { one.seconds < other.seconds }
}

extension ZoneOffset: CustomStringConvertible {
    /// `+01:00`, with seconds if there are any (historical local mean time).
    public var description: String {
        let magnitude = Int(seconds.magnitude)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let text = (seconds < 0 ? "-" : "+") + two(magnitude / 3600) + ":" + two(magnitude / 60 % 60)
        return magnitude % 60 == 0 ? text : text + ":" + two(magnitude % 60)
    }

    /// Parses `Z`, `+01:00`, `+0100` or `+01`. Returns `nil` for any other text and for more than 18 hours.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 9 else { return nil }
        let parsed = bytes.withUnsafeBytes { ZoneOffset.parse($0, at: 0) }
        guard let parsed, parsed.end == bytes.count else { return nil }
        self = parsed.offset
    }

    /// Parses an offset that starts at `start`, and returns it with the following index.
    static func parse(_ bytes: UnsafeRawBufferPointer, at start: Int) -> (offset: ZoneOffset, end: Int)? {
        guard start < bytes.count else { return nil }
        if bytes[start] == UInt8(ascii: "Z") || bytes[start] == UInt8(ascii: "z") { return (.utc, start + 1) }
        let negative = bytes[start] == UInt8(ascii: "-")
        guard negative || bytes[start] == UInt8(ascii: "+") else { return nil }
        guard let hours = Calendar.twoDigits(bytes, start + 1), hours <= 18 else { return nil }
        var end = start + 3
        var minutes = 0
        if end < bytes.count, bytes[end] == UInt8(ascii: ":") {
            guard let value = Calendar.twoDigits(bytes, end + 1) else { return nil }
            minutes = value
            end += 3
        } else if let value = Calendar.twoDigits(bytes, end) {
            minutes = value
            end += 2
        }
        guard minutes < 60, hours * 60 + minutes <= 18 * 60 else { return nil }
        let seconds = Int32(hours * 3600 + minutes * 60)
        return (ZoneOffset(seconds: negative ? -seconds : seconds), end)
    }
}

/// The proleptic Gregorian calendar, in days since 1970-01-01.
///
/// The two conversions count in 400-year eras that begin on 1 March, so that the leap day is the last of its year.
public enum Calendar {
    /// Microseconds in a day without a change of clocks.
    public static let day: Int64 = 86_400_000_000

    /// Days since 1970-01-01 of a date.
    public static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date this number of days after 1970-01-01.
    public static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let days = days + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// 28 to 31.
    public static func daysInMonth(_ month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Whether the day exists.
    public static func isValid(year: Int, month: Int, day: Int) -> Bool {
        (1...9999).contains(year) && (1...12).contains(month) && day >= 1 && day <= daysInMonth(month, year: year)
    }

    @inline(__always) static func twoDigits(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Int? {
        guard index + 1 < bytes.count else { return nil }
        let tens = bytes[index] &- UInt8(ascii: "0")
        let ones = bytes[index + 1] &- UInt8(ascii: "0")
        guard tens < 10, ones < 10 else { return nil }
        return Int(tens) * 10 + Int(ones)
    }
}
