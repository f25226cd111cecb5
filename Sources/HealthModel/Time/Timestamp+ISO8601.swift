/// A date and time as written: the local time, and the zone offset if the text has one.
public struct Timestamp: Hashable, Sendable {
    /// The local time.
    public var wall: WallTime
    /// The offset from UTC, if the text has one.
    public var offset: ZoneOffset?

    /// A time with or without an offset.
    @inlinable public init(wall: WallTime, offset: ZoneOffset?) {
        self.wall = wall
        self.offset = offset
    }

    /// The instant, if the text has an offset.
    @inlinable public var instant: Instant? { offset.map { wall.instant(at: $0) } }
}

/// Why a text is not a date and time.
public enum TimestampError: Error, Hashable, Sendable, CustomStringConvertible {
    case malformed
    case noSuchDay
    case noSuchTime

    public var description: String {
        switch self {
        case .malformed: "not a date and time"
        case .noSuchDay: "no such day in the calendar"
        case .noSuchTime: "no such time of day"
        }
    }
}

extension Timestamp {
    /// Parses ISO 8601's extended form, `2026-11-20T06:31:00.25+01:00`, with a `T` or one space between date and time. Seconds, a fraction
    /// (truncated to microseconds) and an offset are optional. A space may precede the offset, as Apple writes it.
    public init(iso8601 text: some StringProtocol) throws(TimestampError) {
        let bytes = Array(text.utf8)
        let parsed: Result<Timestamp, TimestampError> = bytes.withUnsafeBytes { buffer in
            do throws(TimestampError) {
                return .success(try Timestamp(iso8601: buffer))
            } catch {
                return .failure(error)
            }
        }
        self = try parsed.get()
    }

    /// Reads a time from a text's bytes, without making a string.
    public init(iso8601 bytes: UnsafeRawBufferPointer) throws(TimestampError) {
        guard bytes.count >= 16, bytes.count <= 48 else { throw .malformed }
        guard let century = Calendar.twoDigits(bytes, 0), let year = Calendar.twoDigits(bytes, 2),
            let month = Calendar.twoDigits(bytes, 5), let day = Calendar.twoDigits(bytes, 8),
            bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " ") || bytes[10] == UInt8(ascii: "t"),
            let hour = Calendar.twoDigits(bytes, 11), bytes[13] == UInt8(ascii: ":"),
            let minute = Calendar.twoDigits(bytes, 14)
        else { throw .malformed }
        guard Calendar.isValid(year: century * 100 + year, month: month, day: day) else { throw .noSuchDay }
        var index = 16
        var second = 0
        var fraction: Int64 = 0
        if index < bytes.count, bytes[index] == UInt8(ascii: ":") {
            guard let value = Calendar.twoDigits(bytes, 17) else { throw .malformed }
            second = value
            index = 19
            if index < bytes.count, bytes[index] == UInt8(ascii: ".") || bytes[index] == UInt8(ascii: ",") {
                let first = index + 1
                index = first
                while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 {
                    if index - first < 6 { fraction = fraction * 10 + Int64(bytes[index] - UInt8(ascii: "0")) }
                    index += 1
                }
                guard index > first, index - first <= 12 else { throw .malformed }
                for _ in 0..<max(0, 6 - (index - first)) { fraction *= 10 }
            }
        }
        guard hour < 24, minute < 60, second < 60 else { throw .noSuchTime }
        var offset: ZoneOffset?
        if index < bytes.count {
            if bytes[index] == UInt8(ascii: " ") { index += 1 }
            guard let parsed = ZoneOffset.parse(bytes, at: index), parsed.end == bytes.count else { throw .malformed }
            offset = parsed.offset
        }
        let days = Calendar.days(year: century * 100 + year, month: month, day: day)
        let seconds = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        self.init(wall: WallTime(microseconds: seconds * 1_000_000 + fraction), offset: offset)
    }
}

extension WallTime: CustomStringConvertible {
    /// `2026-11-20T06:31:00.000000`, always to the microsecond.
    public var description: String {
        String(unsafeUninitializedCapacity: 32) { write(into: $0) }
    }

    /// Writes the text and returns its length, 26 bytes for the years 0 to 9999.
    @discardableResult public func write(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let (days, rest) = microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day)
        withUnsafeBytes(of: Self.dateDigits(days: Int(days))) { for index in 0..<10 { buffer[index] = $0[index] } }
        Self.write(timeOfDay: rest, into: buffer, at: 10)
        return 26
    }

    /// `2026-11-20`, followed by six unused bytes.
    package typealias Digits = (UInt64, UInt64)

    /// The date this number of days after 1970-01-01.
    package static func dateDigits(days: Int) -> Digits {
        let date = Calendar.date(days: days)
        var digits: Digits = (0, 0)
        withUnsafeMutableBytes(of: &digits) { raw in
            let buffer = raw.bindMemory(to: UInt8.self)
            put(min(max(date.year, 0), 9999), 4, into: buffer, at: 0)
            buffer[4] = UInt8(ascii: "-")
            put(date.month, 2, into: buffer, at: 5)
            buffer[7] = UInt8(ascii: "-")
            put(date.day, 2, into: buffer, at: 8)
        }
        return digits
    }

    /// Writes microseconds since midnight as `T06:31:00.000000`, 16 bytes.
    package static func write(timeOfDay microseconds: Int64, into buffer: UnsafeMutableBufferPointer<UInt8>, at index: Int) {
        let seconds = Int(microseconds / 1_000_000)
        buffer[index] = UInt8(ascii: "T")
        put(seconds / 3600, 2, into: buffer, at: index + 1)
        buffer[index + 3] = UInt8(ascii: ":")
        put(seconds / 60 % 60, 2, into: buffer, at: index + 4)
        buffer[index + 6] = UInt8(ascii: ":")
        put(seconds % 60, 2, into: buffer, at: index + 7)
        buffer[index + 9] = UInt8(ascii: ".")
        put(Int(microseconds % 1_000_000), 6, into: buffer, at: index + 10)
    }

    private static func put(_ number: Int, _ digits: Int, into buffer: UnsafeMutableBufferPointer<UInt8>, at index: Int) {
        var number = number
        for position in stride(from: index + digits - 1, through: index, by: -1) {
            buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
            number /= 10
        }
    }
}

extension Instant: CustomStringConvertible {
    /// `2026-11-20T06:31:00.000000Z`.
    public var description: String { WallTime(microseconds: microseconds).description + "Z" }
}

extension FixedWidthInteger {
    /// Division that rounds towards minus infinity, so that the remainder is never negative.
    @inlinable public func flooredQuotientAndRemainder(dividingBy divisor: Self) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
