import HealthModel

/// Parses the export's times, `2025-10-20 06:00:00 -0500`. It caches the last day and offset, because most times share them with the
/// previous one.
struct ExportTime {
    /// A point in time with its offset from UTC.
    struct Moment {
        var instant: Instant
        var offset: ZoneOffset
    }

    /// The reason why a text is not a time, as the end of a sentence.
    enum Problem: Error {
        case missing
        case localised
        case malformed
        case noSuchTime

        var reason: String {
            switch self {
            case .missing: "is missing"
            case .localised:
                "is written in a local format (12 hours, a narrow space): expected "
                    + "YYYY-MM-DD HH:MM:SS +HHMM"
            case .malformed: "is not written as YYYY-MM-DD HH:MM:SS +HHMM"
            case .noSuchTime: "names a day or a time of day that does not exist"
            }
        }
    }

    private var dayText: (UInt64, UInt32) = (0, 0)
    private var dayStart: Int64 = 0
    private var offsetText: (UInt32, UInt8) = (0, 0)
    private var offset = ZoneOffset.utc

    @inline(__always) mutating func read(_ text: UnsafeRawBufferPointer) throws(Problem) -> Moment {
        //           1111111111222222
        // 01234567890123456789012345
        // 2025-10-20 06:00:00 -0500
        guard text.count == 25, text[13] == 0x3A, text[16] == 0x3A, text[19] == 0x20 else { throw Self.problem(text) }
        // The day and the blank after it: bytes 0..<8 and 7..<11.
        let day = (text.loadUnaligned(as: UInt64.self), text.loadUnaligned(fromByteOffset: 7, as: UInt32.self))
        if day != dayText { try readDay(text, day) }
        let zone = (text.loadUnaligned(fromByteOffset: 20, as: UInt32.self), text[24])
        if zone != offsetText { try readOffset(text, zone) }
        let hour = Self.two(text, 11)
        let minute = Self.two(text, 14)
        let second = Self.two(text, 17)
        guard hour | minute | second != .max else { throw Self.problem(text) }
        guard hour < 24, minute < 60, second < 60 else { throw .noSuchTime }
        let wall = WallTime(microseconds: dayStart + Int64(hour * 3600 + minute * 60 + second) * 1_000_000)
        return Moment(instant: wall.instant(at: offset), offset: offset)
    }

    private mutating func readDay(_ text: UnsafeRawBufferPointer, _ key: (UInt64, UInt32)) throws(Problem) {
        let century = Self.two(text, 0)
        let year = Self.two(text, 2)
        let month = Self.two(text, 5)
        let day = Self.two(text, 8)
        guard century | year | month | day != .max, text[4] == 0x2D, text[7] == 0x2D, text[10] == 0x20 else {
            throw Self.problem(text)
        }
        let (fullYear, monthNumber, dayNumber) = (Int(century * 100 + year), Int(month), Int(day))
        guard Calendar.isValid(year: fullYear, month: monthNumber, day: dayNumber) else { throw .noSuchTime }
        dayStart = Int64(Calendar.days(year: fullYear, month: monthNumber, day: dayNumber)) * Calendar.day
        dayText = key
    }

    private mutating func readOffset(_ text: UnsafeRawBufferPointer, _ key: (UInt32, UInt8)) throws(Problem) {
        let sign = text[20]
        let hours = Self.two(text, 21)
        let minutes = Self.two(text, 23)
        guard sign == 0x2B || sign == 0x2D, hours | minutes != .max else { throw Self.problem(text) }
        guard hours <= 18, minutes < 60 else { throw .noSuchTime }
        let seconds = Int32(hours * 3600 + minutes * 60)
        offset = ZoneOffset(seconds: sign == 0x2D ? -seconds : seconds)
        offsetText = key
    }

    /// The value of two digits, or all bits set if they are not digits.
    @inline(__always) private static func two(_ text: UnsafeRawBufferPointer, _ index: Int) -> UInt32 {
        let tens = text[index] &- 0x30
        let ones = text[index + 1] &- 0x30
        return tens < 10 && ones < 10 ? UInt32(tens) * 10 + UInt32(ones) : .max
    }

    /// Returns the problem of a text. A phone with a 12-hour clock may write `6:00:00 AM`, often with U+202F before it.
    private static func problem(_ text: UnsafeRawBufferPointer) -> Problem {
        if text.isEmpty { return .missing }
        let isLocalised = text.contains { $0 >= 0x80 || $0 | 0x20 == UInt8(ascii: "m") || $0 == UInt8(ascii: "/") }
        return isLocalised ? .localised : .malformed
    }
}
