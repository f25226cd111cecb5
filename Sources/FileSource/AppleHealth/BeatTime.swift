import HealthModel

/// The times of single beats. An export writes them as times of day in the phone's format: `3:10:02,11 AM`, `6:14:48.94 PM`,
/// `20:14:07.68`, `07.28.01,34`, `오전 7:28:01.34`.
///
/// They are local times of that day. The record's own times may use another offset, because an export writes all of them at one offset,
/// whatever the season was (published exports have `19:14:47 -0400` in November with beats from `6:14:48.94 PM`). Offsets are multiples
/// of a quarter of an hour. So for a record shorter than that, only one offset places the beats inside it. For a longer record the
/// record's own offset is used.
enum BeatTime {
    static let day: Int64 = 86_400_000_000
    private static let quarter: Int64 = 900_000_000
    /// How far a beat may be outside of its record, because the record's times are truncated to seconds.
    private static let slack: Int64 = 1_000_000

    /// Microseconds since midnight, or `nil` if the text is not a time of day.
    static func timeOfDay(_ text: UnsafeRawBufferPointer) -> Int64? {
        var rest = Substring(ExportText.cleaned(text))
        let before = dayPeriod(&rest) { $0.prefix { !$0.isNumber } }
        func number(_ digits: ClosedRange<Int>) -> Int64? {
            var (value, count): (Int64, Int) = (0, 0)
            // `wholeNumberValue` also knows the digits of other scripts.
            while let digit = rest.first?.wholeNumberValue, digit < 10, count < digits.upperBound {
                value = value * 10 + Int64(digit)
                count += 1
                rest.removeFirst()
            }
            return digits.contains(count) ? value : nil
        }
        func sign(_ signs: Set<Character>) -> Bool {
            guard let first = rest.first, signs.contains(first) else { return false }
            rest.removeFirst()
            return true
        }
        guard var hour = number(1...2), sign(separators), let minute = number(2...2), sign(separators), let second = number(2...2)
        else { return nil }
        var fraction: Int64 = 0
        if sign(decimalSigns) {
            let length = rest.count
            guard let digits = number(1...6) else { return nil }
            fraction = digits
            for _ in (length - rest.count)..<6 { fraction *= 10 }
        }
        let after = dayPeriod(&rest) { $0 }
        guard rest.isEmpty, let before, let after else { return nil }
        switch (before, after) {
        case (.none, .none): break
        case (.none, let period), (let period, .none):
            guard (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (period == .afternoon ? 12 : 0)
        default: return nil
        }
        guard hour < 24, minute < 60, second < 60 else { return nil }
        return (hour * 3600 + minute * 60 + second) * 1_000_000 + fraction
    }

    private enum DayPeriod { case none, morning, afternoon }

    /// Danish and Finnish write times with points (CLDR, `timeFormats` of da and fi).
    private static let separators: Set<Character> = [":", "."]
    /// The last is the decimal sign of Arabic.
    private static let decimalSigns: Set<Character> = [".", ",", "\u{66B}"]

    /// The words of the twelve-hour clock (CLDR, abbreviated `dayPeriods`), in lowercase without blanks and points.
    private static let dayPeriods: [String: DayPeriod] = [
        "": .none, "am": .morning, "pm": .afternoon, "上午": .morning, "下午": .afternoon, "午前": .morning, "午後": .afternoon,
        "오전": .morning, "오후": .afternoon, "ص": .morning, "م": .afternoon, "πμ": .morning, "μμ": .afternoon, "öö": .morning,
        "ös": .afternoon, "sa": .morning, "ch": .afternoon, "de": .morning, "du": .afternoon, "पूर्वाह्न": .morning, "अपराह्न": .afternoon,
        "ก่อนเที่ยง": .morning, "หลังเที่ยง": .afternoon,
    ]

    /// Removes the word of the twelve-hour clock that `part` selects. Returns `nil` if the word is unknown.
    private static func dayPeriod(_ text: inout Substring, _ part: (Substring) -> Substring) -> DayPeriod? {
        let word = part(text)
        text = text[word.endIndex...]
        return dayPeriods[word.filter { !$0.isWhitespace && $0 != "." }.lowercased()]
    }

    /// The offsets of the beats from the record's start in microseconds, or `nil` if they are outside of the record.
    static func offsets(of times: [Int64], from start: Instant, to end: Instant, at offset: ZoneOffset) -> [Int64]? {
        let length = end.microseconds &- start.microseconds
        guard let first = times.first, length >= 0, length < day else { return nil }
        let wall = start.microseconds &+ Int64(offset.seconds) * 1_000_000
        let begin = modulo(first &- wall &+ slack, length < quarter - 2 * slack ? quarter : day) - slack
        let offsets = times.map { begin + modulo($0 - first + slack, day) - slack }
        return offsets.allSatisfy { $0 >= -slack && $0 <= length + slack } ? offsets : nil
    }

    private static func modulo(_ number: Int64, _ divisor: Int64) -> Int64 {
        let rest = number % divisor
        return rest < 0 ? rest + divisor : rest
    }
}
