import HealthModel

/// The order of day, month and year in a date.
package enum DateOrder: String, Hashable, Sendable, CaseIterable {
    /// `31.12.2026`
    case dayMonthYear = "DMY"
    /// `12/31/2026`
    case monthDayYear = "MDY"
    /// `2026-12-31`
    case yearMonthDay = "YMD"
}

/// A format for times in CLDR's letters, such as `dd-MM-yyyy HH:mm` or `MMM d, yyyy hh:mm a`. `iso8601` is the format that ``Timestamp``
/// reads.
///
///     y year (yy: 2000 to 2099)   M month (MMM: its English name)   d day   H hour 0-23   h hour 1-12   m minute   s second
///     S fraction of a second      a AM or PM                        X offset from UTC, or Z
///
/// A doubled letter means two digits, and a single letter one or two. Text in '…' and signs are literal. A blank matches any blanks.
/// `unix`, `unix-ms` and `unix-ns` are seconds, milliseconds and nanoseconds since 1970, as digits.
package struct TimePattern: Hashable, Sendable {
    enum Token: Hashable, Sendable {
        case year4, year2, monthName, meridiem, fraction, offset, blanks
        case number(Field, digits: ClosedRange<Int>)
        case literal(UInt8)
    }

    enum Field: Hashable, Sendable { case month, day, hour24, hour12, minute, second }

    package let text: String
    let tokens: [Token]
    let isISO8601: Bool
    /// For `unix` formats: the number of units in a second.
    let unixScale: Int64?
    /// The order of the date's numbers, or nil if the month is a name.
    let order: DateOrder?
    private let writtenResolution: Int32

    private static let unixScales: [String: Int64] = ["unix": 1, "unix-ms": 1000, "unix-ns": 1_000_000_000]

    /// - Parameter isDay: whether the pattern is a date without a time of day.
    /// - Throws: ``ProfileProblem`` if a letter has no meaning, or the pattern has no date or hour.
    init(_ text: String, isDay: Bool = false) throws(ProfileProblem) {
        self.text = text
        isISO8601 = text == "iso8601"
        unixScale = Self.unixScales[text]
        guard !isISO8601, unixScale == nil else {
            if isDay { throw ProfileProblem("", "a day is a date alone") }
            tokens = []
            order = isISO8601 ? .yearMonthDay : nil
            writtenResolution = 1
            return
        }
        tokens = try Self.tokens(of: text)
        writtenResolution =
            tokens.contains { if case .number(.second, _) = $0 { true } else { false } } ? 1 : 60
        var letters = ""
        for token in tokens {
            switch token {
            case .year4, .year2: letters += "y"
            case .monthName: letters += "N"
            case .number(.month, _): letters += "M"
            case .number(.day, _): letters += "d"
            case .number(.hour24, _): letters += "H"
            case .number(.hour12, _): letters += "h"
            case .number(.minute, _): letters += "m"
            case .meridiem: letters += "a"
            default: break
            }
        }
        func has(_ letter: Character) -> Bool { letters.contains(letter) }
        guard has("y"), has("M") || has("N"), has("d") else { throw ProfileProblem("", "the pattern needs year, month and day") }
        if isDay {
            guard !has("m"), !has("H"), !has("h") else { throw ProfileProblem("", "a day is a date alone") }
        } else {
            guard has("m"), has("H") != (has("h") && has("a")) else {
                throw ProfileProblem("", "the pattern needs H, or h and a, and m: a date alone is not a time")
            }
        }
        order =
            switch letters.filter({ "yMd".contains($0) }) {
            case "dMy": .dayMonthYear
            case "Mdy": .monthDayYear
            case "yMd": .yearMonthDay
            default: nil
            }
        if order == nil, !has("N") { throw ProfileProblem("", "the date's order must be dMy, Mdy or yMd") }
    }

    /// Returns the resolution of a time in this format, in seconds: 60 if it has no seconds.
    func resolution(of text: UnsafeRawBufferPointer) -> Int32 { isISO8601 ? Self.resolution(ofISO8601: text) : writtenResolution }

    /// Returns the resolution of an ISO 8601 time. A text without seconds, such as `2026-11-20T06:31`, ends after the minutes or continues
    /// with its zone.
    @inline(__always) static func resolution(ofISO8601 text: UnsafeRawBufferPointer) -> Int32 {
        text.count > 16 && text[16] == UInt8(ascii: ":") ? 1 : 60
    }

    private static func tokens(of text: String) throws(ProfileProblem) -> [Token] {
        var tokens: [Token] = []
        var rest = Substring(text)
        while let letter = rest.first {
            if letter == "'" {
                let quoted = rest.dropFirst().prefix { $0 != "'" }
                guard rest.dropFirst(quoted.count + 1).first == "'" else { throw ProfileProblem("", "a ' is never closed") }
                tokens += quoted.utf8.map { .literal($0) }
                rest = rest.dropFirst(quoted.count + 2)
                continue
            }
            let count = rest.prefix { $0 == letter }.count
            rest = rest.dropFirst(count)
            guard letter.isASCII, letter.isLetter else {
                if letter == " " {
                    tokens.append(.blanks)
                } else {
                    for _ in 0..<count { tokens += String(letter).utf8.map { .literal($0) } }
                }
                continue
            }
            let digits = count == 1 ? 1...2 : 2...2
            switch (letter, count) {
            case ("y", 4): tokens.append(.year4)
            case ("y", 2): tokens.append(.year2)
            case ("M", 1...2): tokens.append(.number(.month, digits: digits))
            case ("M", 3...4): tokens.append(.monthName)
            case ("d", 1...2): tokens.append(.number(.day, digits: digits))
            case ("H", 1...2): tokens.append(.number(.hour24, digits: digits))
            case ("h", 1...2): tokens.append(.number(.hour12, digits: digits))
            case ("m", 1...2): tokens.append(.number(.minute, digits: digits))
            case ("s", 1...2): tokens.append(.number(.second, digits: digits))
            case ("S", 1...9): tokens.append(.fraction)
            case ("a", 1): tokens.append(.meridiem)
            case ("X", 1...3): tokens.append(.offset)
            default: throw ProfileProblem("", "'\(String(repeating: letter, count: count))' has no meaning in a pattern")
            }
        }
        guard tokens.count <= 64 else { throw ProfileProblem("", "the pattern is too long") }
        return tokens
    }
}
