import HealthModel

/// The times of single beats. An export writes them as times of day in the phone's format: `3:10:02,11 AM`, `6:14:48.94 PM`,
/// `20:14:07.68`.
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
        var index = 0
        func number(_ digits: ClosedRange<Int>) -> Int64? {
            var (value, count): (Int64, Int) = (0, 0)
            while index < text.count, (text[index] &- 0x30) < 10, count < digits.upperBound {
                value = value * 10 + Int64(text[index] - 0x30)
                (index, count) = (index + 1, count + 1)
            }
            return digits.contains(count) ? value : nil
        }
        func colon() -> Bool {
            guard index < text.count, text[index] == UInt8(ascii: ":") else { return false }
            index += 1
            return true
        }
        guard var hour = number(1...2), colon(), let minute = number(2...2), colon(), let second = number(2...2) else {
            return nil
        }
        var fraction: Int64 = 0
        if index < text.count, text[index] == UInt8(ascii: ".") || text[index] == UInt8(ascii: ",") {
            index += 1
            let start = index
            guard let digits = number(1...6) else { return nil }
            fraction = digits
            for _ in (index - start)..<6 { fraction *= 10 }
        }
        let rest = ExportText.cleaned(text[index...]).uppercased()
        switch rest {
        case "": break
        case "AM", "PM":
            guard (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (rest == "PM" ? 12 : 0)
        default: return nil
        }
        guard hour < 24, minute < 60, second < 60 else { return nil }
        return (hour * 3600 + minute * 60 + second) * 1_000_000 + fraction
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
