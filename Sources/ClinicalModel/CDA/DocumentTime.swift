import HealthModel

/// Parses HL7 times (version 3 data types, TS): `20120815`, `201208151030-0500`, `20120815103000.123+0000`.
enum DocumentTime {
    /// Returns an instant if the text has an offset and a time of day, else a local time. A truncated time means the beginning of the
    /// day, month or year.
    ///
    /// - Returns: `nil` if the text is not a time.
    static func time(_ text: String) -> (time: ReadingMoment, resolution: Int32)? {
        var digits = Substring(text)
        var offset: ZoneOffset?
        if let sign = digits.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            let zone = digits[digits.index(after: sign)...]
            guard zone.utf8.count == 4, let number = whole(zone), number / 100 <= 14, number % 100 < 60 else { return nil }
            let seconds = Int32((number / 100 * 60 + number % 100) * 60)
            offset = ZoneOffset(seconds: digits[sign] == "-" ? -seconds : seconds)
            digits = digits[..<sign]
        }
        var microseconds: Int64 = 0
        if let point = digits.firstIndex(of: ".") {
            let fraction = digits[digits.index(after: point)...]
            guard (1...6).contains(fraction.utf8.count), let number = whole(fraction), digits[..<point].utf8.count == 14 else {
                return nil
            }
            microseconds = Int64(number)
            for _ in fraction.utf8.count..<6 { microseconds *= 10 }
            digits = digits[..<point]
        }
        let length = digits.utf8.count
        guard [4, 6, 8, 10, 12, 14].contains(length), whole(digits) != nil else { return nil }
        func part(_ start: Int, _ count: Int, _ missing: Int) -> Int {
            length >= start + count ? whole(digits.dropFirst(start).prefix(count)) ?? missing : missing
        }
        let (year, month, day) = (part(0, 4, 0), part(4, 2, 1), part(6, 2, 1))
        let (hour, minute, second) = (part(8, 2, 0), part(10, 2, 0), part(12, 2, 0))
        guard year > 1900, Calendar.isValid(year: year, month: month, day: day), hour < 24, minute < 60, second < 60 else {
            return nil
        }
        let wall = WallTime(
            microseconds: Int64(Calendar.days(year: year, month: month, day: day)) * Calendar.day
                + Int64(hour * 3600 + minute * 60 + second) * 1_000_000 + microseconds)
        let resolution: Int32 = length >= 14 ? 1 : length >= 12 ? 60 : length >= 10 ? 3600 : 86_400
        if let offset, length >= 10 { return (.instant(wall.instant(at: offset), offset), resolution) }
        return (.wall(wall), resolution)
    }

    /// An instant with its offset, or a local time without one.
    enum ReadingMoment: Hashable {
        case instant(Instant, ZoneOffset)
        case wall(WallTime)
    }

    private static func whole(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { $0 &- 0x30 < 10 } ? Int(text) : nil
    }
}
