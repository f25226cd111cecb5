import HealthModel

/// A time of an export: `2026-05-11 07:14:05 +0200`, on phones with a 12-hour clock `2026-05-11 7:14:05 AM +0200`, or ISO 8601.
///
/// The digits can be those of another script, and the space before AM can be a narrow one. The offset is that of the phone at the export.
struct HealthAutoExportTime: Hashable {
    let instant: Instant
    let offset: ZoneOffset

    /// - Returns: `nil` if the text is not such a time, or has no offset.
    init?(_ text: String) {
        guard text.utf8.count <= 64 else { return nil }
        var reader = Reader(text)
        guard let date = reader.date(), reader.takeSeparator(), let time = reader.time(), let offset = reader.offset(),
            reader.isAtEnd
        else { return nil }
        let wall = WallTime(microseconds: Int64(date) * Calendar.day + time)
        (instant, self.offset) = (wall.instant(at: offset), offset)
    }

    /// Whether it can be the start of a minute, and so of a period.
    var isWholeMinute: Bool { instant.microseconds % 60_000_000 == 0 }

    /// The local date, such as `2026-05-11`.
    var date: String { instant.wallTime(at: offset).date }

    private struct Reader {
        private let bytes: [UInt8]
        private var index = 0

        /// Replaces digits and spaces of other scripts by those of ASCII.
        init(_ text: String) {
            bytes = text.unicodeScalars.map { scalar in
                if scalar.isASCII { return UInt8(scalar.value) }
                if scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue {
                    return UInt8(ascii: "0") + UInt8(value)
                }
                return scalar.properties.isWhitespace ? UInt8(ascii: " ") : 0
            }
        }

        var isAtEnd: Bool { index == bytes.count }

        private mutating func take(_ characters: String) -> UInt8? {
            guard index < bytes.count, characters.utf8.contains(bytes[index]) else { return nil }
            index += 1
            return bytes[index - 1]
        }

        /// A number with this number of digits.
        private mutating func number(_ count: ClosedRange<Int>) -> Int? {
            var (value, digits) = (0, 0)
            while digits < count.upperBound, index < bytes.count, bytes[index] &- 0x30 < 10 {
                value = value * 10 + Int(bytes[index] &- 0x30)
                (digits, index) = (digits + 1, index + 1)
            }
            return count.contains(digits) ? value : nil
        }

        /// Days since 1970-01-01.
        mutating func date() -> Int? {
            guard let year = number(4...4), take("-") != nil, let month = number(2...2), take("-") != nil,
                let day = number(2...2), Calendar.isValid(year: year, month: month, day: day)
            else { return nil }
            return Calendar.days(year: year, month: month, day: day)
        }

        mutating func takeSeparator() -> Bool { take(" T") != nil }

        /// Microseconds since midnight.
        mutating func time() -> Int64? {
            guard var hour = number(1...2), take(":") != nil, let minute = number(2...2), minute < 60 else { return nil }
            var (second, fraction) = (0, Int64(0))
            if take(":") != nil {
                guard let number = number(2...2), number < 60 else { return nil }
                second = number
                if take(".") != nil {
                    guard let part = self.fraction() else { return nil }
                    fraction = part
                }
            }
            _ = take(" ")
            if let half = take("AaPp") {
                guard take("Mm") != nil, (1...12).contains(hour) else { return nil }
                hour = hour % 12 + (half | 0x20 == UInt8(ascii: "p") ? 12 : 0)
                _ = take(" ")
            }
            guard hour < 24 else { return nil }
            return Int64(hour * 3600 + minute * 60 + second) * 1_000_000 + fraction
        }

        private mutating func fraction() -> Int64? {
            var (value, scale) = (Int64(0), Int64(1_000_000))
            let first = index
            while index < bytes.count, bytes[index] &- 0x30 < 10, index - first < 9 {
                scale /= 10
                value += Int64(bytes[index] &- 0x30) * scale
                index += 1
            }
            return index > first ? value : nil
        }

        mutating func offset() -> ZoneOffset? {
            defer { index = bytes.count }
            return ZoneOffset(String(decoding: bytes[index...], as: UTF8.self))
        }
    }
}
