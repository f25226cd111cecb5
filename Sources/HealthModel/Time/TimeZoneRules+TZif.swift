/// Why bytes are not a zone file.
public enum TimeZoneError: Error, Hashable, Sendable, CustomStringConvertible {
    case truncated(at: Int)
    case notAZoneFile
    case malformedRule(String)

    public var description: String {
        switch self {
        case .truncated(let offset): "the zone file ends early, at byte \(offset)"
        case .notAZoneFile: "not a zone file of the tz database"
        case .malformedRule(let text): "the rule '\(text)' is malformed"
        }
    }
}

extension TimeZoneRules {
    /// Parses a compiled zone file (RFC 9636, versions 1 to 4).
    ///
    /// A header of 44 bytes has the counts of the following items. From version 2 on, the file repeats them with 64-bit times, and ends
    /// with a line that contains the rule for future years:
    ///
    ///     "TZif" version 15×0 | isutcnt isstdcnt leapcnt timecnt typecnt charcnt | times, types, (offset, dst, name)… | \nRULE\n
    public init(identifier: String, tzif bytes: [UInt8]) throws(TimeZoneError) {
        var reader = BigEndianReader(bytes: bytes)
        let first = try Header(&reader)
        var header = first
        var timeSize = 4
        if first.version >= UInt8(ascii: "2") {
            try reader.skip(first.bodySize(timeSize: 4))
            header = try Header(&reader)
            timeSize = 8
        }
        guard header.types > 0 else { throw .notAZoneFile }
        var transitions: [Int64] = []
        for _ in 0..<header.times { transitions.append(try reader.integer(size: timeSize)) }
        var indices: [Int] = []
        for _ in 0..<header.times { indices.append(Int(try reader.integer(size: 1)) & 0xFF) }
        var offsets: [ZoneOffset] = []
        for _ in 0..<header.types {
            offsets.append(ZoneOffset(seconds: Int32(truncatingIfNeeded: try reader.integer(size: 4))))
            try reader.skip(2)
        }
        try reader.skip(header.characters + header.leaps * (timeSize + 4) + header.standards + header.universals)
        guard indices.allSatisfy({ $0 < offsets.count }), zip(transitions, transitions.dropFirst()).allSatisfy({ $0 < $1 }),
            offsets.allSatisfy({ $0.seconds.magnitude <= 93_599 })
        else { throw .notAZoneFile }
        var rule: YearlyRule?
        if timeSize == 8 {
            let line = bytes[min(reader.offset, bytes.count)...].split(separator: UInt8(ascii: "\n"), maxSplits: 1).first ?? []
            if !line.isEmpty { rule = try YearlyRule(posix: String(decoding: line, as: UTF8.self)) }
        }
        self.init(
            identifier: identifier, transitions: transitions, offsets: [offsets[0]] + indices.map { offsets[$0] }, rule: rule)
    }

    /// The zone of a POSIX `TZ` variable such as `CET-1CEST,M3.5.0,M10.5.0/3`.
    ///
    /// A daylight saving time without dates (`CET-1CEST`) uses glibc's default, the dates of the United States, like every other program on
    /// the machine. The identifier includes them, so that they are visible wherever the zone is shown.
    public init(posix text: String) throws(TimeZoneError) {
        var rule: YearlyRule?
        var identifier = text
        do throws(TimeZoneError) {
            rule = try YearlyRule(posix: text)
        } catch {
            guard !text.contains(",") else { throw error }
            identifier = text + ",M3.2.0,M11.1.0"
            do throws(TimeZoneError) { rule = try YearlyRule(posix: identifier) } catch { throw .malformedRule(text) }
        }
        guard let rule else { throw .malformedRule(text) }
        self.init(identifier: identifier, transitions: [], offsets: [rule.standard], rule: rule)
    }

    private struct Header {
        var version: UInt8
        var universals, standards, leaps, times, types, characters: Int

        init(_ reader: inout BigEndianReader) throws(TimeZoneError) {
            guard try reader.integer(size: 4) == 0x545A_6966 else { throw .notAZoneFile }
            version = UInt8(truncatingIfNeeded: try reader.integer(size: 1))
            try reader.skip(15)
            universals = Int(try reader.integer(size: 4))
            standards = Int(try reader.integer(size: 4))
            leaps = Int(try reader.integer(size: 4))
            times = Int(try reader.integer(size: 4))
            types = Int(try reader.integer(size: 4))
            characters = Int(try reader.integer(size: 4))
            for count in [universals, standards, leaps, times, types, characters] where !(0...65_536).contains(count) {
                throw .notAZoneFile
            }
        }

        func bodySize(timeSize: Int) -> Int {
            times * (timeSize + 1) + types * 6 + characters + leaps * (timeSize + 4) + standards + universals
        }
    }
}

private struct BigEndianReader {
    let bytes: [UInt8]
    private(set) var offset = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func skip(_ count: Int) throws(TimeZoneError) {
        guard count <= bytes.count - offset else { throw .truncated(at: bytes.count) }
        offset += count
    }

    /// A two's complement integer of 1, 4 or 8 bytes.
    mutating func integer(size: Int) throws(TimeZoneError) -> Int64 {
        guard size <= bytes.count - offset else { throw .truncated(at: bytes.count) }
        var value: UInt64 = 0
        for byte in bytes[offset..<offset + size] { value = value << 8 | UInt64(byte) }
        offset += size
        let unused = UInt64.bitWidth - size * 8
        return Int64(bitPattern: value << unused) >> Int64(unused)
    }
}

extension YearlyRule {
    /// Reads a POSIX TZ string such as `CET-1CEST,M3.5.0,M10.5.0/3` or `<+0545>-5:45`.
    init(posix text: String) throws(TimeZoneError) {
        var rest = Substring(text)
        guard Self.takeName(&rest), let west = Self.takeOffset(&rest) else { throw .malformedRule(text) }
        standard = ZoneOffset(seconds: Int32(-west))
        daylight = standard
        guard !rest.isEmpty else { return }
        guard Self.takeName(&rest) else { throw .malformedRule(text) }
        daylight = ZoneOffset(seconds: standard.seconds + 3600)
        if let first = rest.first, first != "," {
            guard let west = Self.takeOffset(&rest) else { throw .malformedRule(text) }
            daylight = ZoneOffset(seconds: Int32(-west))
        }
        guard let begin = Self.takeChange(&rest), let end = Self.takeChange(&rest), rest.isEmpty else {
            throw .malformedRule(text)
        }
        changes = (begin, end)
    }

    private static func takeName(_ rest: inout Substring) -> Bool {
        if rest.first == "<" {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...]
            return true
        }
        let name = rest.prefix { $0.isLetter }
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    /// An offset's hours are at most 24, those of a change's time may be up to 167 (RFC 9636, section 3.3.1).
    private static func takeOffset(_ rest: inout Substring) -> Int64? {
        takeTime(&rest).flatMap { $0.magnitude < 25 * 3600 ? $0 : nil }
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    private static func takeTime(_ rest: inout Substring) -> Int64? {
        let negative = rest.first == "-"
        if negative || rest.first == "+" { rest = rest.dropFirst() }
        var seconds: Int64 = 0
        for unit: Int64 in [3600, 60, 1] {
            guard let number = takeNumber(&rest) else { return nil }
            seconds += Int64(number) * unit
            guard rest.first == ":", unit > 1 else { break }
            rest = rest.dropFirst()
        }
        return negative ? -seconds : seconds
    }

    private static func takeNumber(_ rest: inout Substring) -> Int? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard digits.count <= 3, let number = Int(digits) else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }

    private static func takeChange(_ rest: inout Substring) -> Change? {
        guard rest.first == "," else { return nil }
        rest = rest.dropFirst()
        let day: Change.Day
        switch rest.first {
        case "M":
            rest = rest.dropFirst()
            guard let month = takeNumber(&rest), rest.first == "." else { return nil }
            rest = rest.dropFirst()
            guard let week = takeNumber(&rest), rest.first == "." else { return nil }
            rest = rest.dropFirst()
            guard let weekday = takeNumber(&rest), (1...12).contains(month), (1...5).contains(week), weekday < 7 else {
                return nil
            }
            day = .weekday(month: month, week: week, day: weekday)
        case "J":
            rest = rest.dropFirst()
            guard let number = takeNumber(&rest), (1...365).contains(number) else { return nil }
            day = .withoutLeapDay(number)
        default:
            guard let number = takeNumber(&rest), number <= 365 else { return nil }
            day = .ofYear(number)
        }
        var time: Int64 = 7200
        if rest.first == "/" {
            rest = rest.dropFirst()
            guard let seconds = takeTime(&rest) else { return nil }
            time = seconds
        }
        return Change(day: day, time: time)
    }
}
