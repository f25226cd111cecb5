import HealthModel

/// Parses JSON5 (spec.json5.org) into a tree, or reports the position of the first error.
///
/// A decoder is not used here. It creates an error for each wrong guess at a type, so 40 kB of nested lists take seconds. This parser looks
/// at each byte once.
struct JSON5Parser {
    /// The position of a syntax error, and the expected token.
    struct Stop: Error {
        var index: Int
        var expected: String
        init(_ index: Int, _ expected: String) {
            self.index = index
            self.expected = expected
        }
    }

    /// Deeper than any real document. A profile has eight levels.
    static let maximumDepth = 64
    static let tooDeep = "the text is nested too deeply"

    private let bytes: [UInt8]
    private var index = 0

    /// - Parameter bytes: UTF-8.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        index = ByteOrderMark.lengthUTF8(bytes)
    }

    /// Parses the whole text. If two members have the same name, the last one counts.
    mutating func document() throws(Stop) -> JSONValue {
        let value = try value(depth: 0)
        try blanks()
        guard index == bytes.count else { throw Stop(index, "nothing is expected after the end") }
        return value
    }

    /// Finds the members of the object at a position, or of the outermost one. Returns `nil` if another value is there.
    mutating func members(of position: Int?) throws(Stop) -> JSON5Members? {
        if let position { index = position }
        try blanks()
        let start = index
        guard take(UInt8(ascii: "{")) else { return nil }
        var members: [JSON5Members.Member] = []
        while true {
            try blanks()
            let keyStart = index
            if take(UInt8(ascii: "}")) { return JSON5Members(open: start, close: keyStart, all: members) }
            let key = try key()
            try blanks()
            guard take(UInt8(ascii: ":")) else { throw Stop(index, "':' is expected after the key") }
            try blanks()
            let valueStart = index
            _ = try value(depth: 1)
            let valueEnd = index
            try blanks()
            let comma = next == UInt8(ascii: ",") ? index : nil
            guard take(UInt8(ascii: ",")) || next == UInt8(ascii: "}") else { throw Stop(index, "',' or } is expected") }
            members.append(.init(key: key, start: keyStart, value: valueStart..<valueEnd, comma: comma))
        }
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func isNext(_ text: StaticString) -> Bool {
        bytes[index...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func take(_ sign: UInt8) -> Bool {
        guard next == sign else { return false }
        index += 1
        return true
    }

    /// Skips blanks and comments.
    private mutating func blanks() throws(Stop) {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D: index += 1
            case UInt8(ascii: "/"):
                if isNext("//") {
                    while let byte = next, byte != 0x0A, byte != 0x0D { index += 1 }
                } else if isNext("/*") {
                    let start = index
                    index += 2
                    while index < bytes.count, !isNext("*/") { index += 1 }
                    guard index < bytes.count else { throw Stop(start, "this comment is never closed") }
                    index += 2
                } else {
                    return
                }
            case 0x80...:
                if isNext("\u{A0}") {
                    index += 2
                } else if isNext("\u{FEFF}") || isNext("\u{2028}") || isNext("\u{2029}") {
                    index += 3
                } else {
                    return
                }
            default: return
            }
        }
    }

    private mutating func value(depth: Int) throws(Stop) -> JSONValue {
        guard depth < Self.maximumDepth else { throw Stop(index, Self.tooDeep) }
        try blanks()
        switch next {
        case nil: throw Stop(index, "a value is expected, and the text ends here")
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try text())
        default:
            let start = index
            let word = word()
            switch word {
            case "null": return .null
            case "true": return .boolean(true)
            case "false": return .boolean(false)
            default:
                if let number = Self.number(word) { return .number(number) }
                let first = word.utf8.first ?? 0
                throw Stop(
                    start,
                    first &- 0x30 < 10 || "+-.".utf8.contains(first)
                        ? "this is not a number" : "a value is expected: a text in quotes, a number, true, false, null, { or [")
            }
        }
    }

    private mutating func object(_ depth: Int) throws(Stop) -> JSONValue {
        let start = index
        var object: [String: JSONValue] = [:]
        index += 1
        while true {
            try blanks()
            if take(UInt8(ascii: "}")) { return .object(object) }
            guard next != nil else { throw Stop(start, "this { is never closed") }
            let key = try key()
            try blanks()
            guard take(UInt8(ascii: ":")) else { throw Stop(index, "':' is expected after the key") }
            object[key] = try value(depth: depth + 1)
            try blanks()
            guard take(UInt8(ascii: ",")) || next == UInt8(ascii: "}") else {
                throw next == nil ? Stop(start, "this { is never closed") : Stop(index, "',' or } is expected")
            }
        }
    }

    private mutating func array(_ depth: Int) throws(Stop) -> JSONValue {
        let start = index
        var array: [JSONValue] = []
        index += 1
        while true {
            try blanks()
            if take(UInt8(ascii: "]")) { return .array(array) }
            guard next != nil else { throw Stop(start, "this [ is never closed") }
            array.append(try value(depth: depth + 1))
            try blanks()
            guard take(UInt8(ascii: ",")) || next == UInt8(ascii: "]") else {
                throw next == nil ? Stop(start, "this [ is never closed") : Stop(index, "',' or ] is expected")
            }
        }
    }

    /// Parses a key: a quoted text, or a JavaScript identifier.
    private mutating func key() throws(Stop) -> String {
        if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { return try text() }
        let start = index
        let name = word()
        // Nearly all keys consist of ASCII letters. Looking up a character's Unicode properties is slow.
        if index > start, bytes[start..<index].allSatisfy({ ($0 | 0x20) &- 0x61 < 26 }) { return name }
        let isName = name.unicodeScalars.enumerated().allSatisfy { position, scalar in
            let isLetter = position == 0 ? scalar.properties.isIDStart : scalar.properties.isIDContinue
            return isLetter || scalar == "_" || scalar == "$"
        }
        guard isName, !name.isEmpty else { throw Stop(start, "a key or } is expected") }
        return name
    }

    /// Returns the characters up to a blank or a character of the syntax.
    private mutating func word() -> String {
        let start = index
        while index < bytes.count {
            switch bytes[index] {
            case ...0x20, UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"),
                UInt8(ascii: ","),
                UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "/"):
                return String(decoding: bytes[start..<index], as: UTF8.self)
            default: index += 1
            }
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func text() throws(Stop) -> String {
        let start = index
        let quote = bytes[index]
        index += 1
        var text: [UInt8] = []
        // The start of the text that needs no unescaping.
        var first = index
        while index < bytes.count {
            let byte = bytes[index]
            if byte == quote {
                defer { index += 1 }
                if text.isEmpty { return String(decoding: bytes[first..<index], as: UTF8.self) }
                return String(decoding: text + bytes[first..<index], as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                text += bytes[first..<index]
                index += 1
                try escape(into: &text, of: start)
                first = index
            } else if byte == 0x0A || byte == 0x0D {
                break
            } else {
                index += 1
            }
        }
        throw Stop(start, "this text is never closed")
    }

    /// Appends the character that an escape sequence encodes.
    private mutating func escape(into text: inout [UInt8], of start: Int) throws(Stop) {
        let place = index - 1
        guard let letter = next else { throw Stop(start, "this text is never closed") }
        // A backslash before a line end continues the text on the next line.
        for end in ["\r\n", "\u{2028}", "\u{2029}"] as [StaticString] where isNext(end) {
            index += end.utf8CodeUnitCount
            return
        }
        index += 1
        switch letter {
        case 0x0A, 0x0D: break
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "v"): text.append(0x0B)
        case UInt8(ascii: "0") where !(next.map { $0 &- 0x30 < 10 } ?? false): text.append(0)
        case UInt8(ascii: "x"), UInt8(ascii: "u"):
            guard let scalar = scalar(digits: letter == UInt8(ascii: "x") ? 2 : 4) else {
                throw Stop(place, "there is no character after this backslash")
            }
            text.append(contentsOf: String(Character(scalar)).utf8)
        default: throw Stop(place, "this backslash has no meaning: write it twice for a backslash")
        }
    }

    /// Parses `41` after `\x`, `00E9` after `\u`, or the two surrogates of a character beyond 16 bits.
    private mutating func scalar(digits: Int) -> Unicode.Scalar? {
        guard let first = hexadecimal(digits) else { return nil }
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
        guard isNext("\\u") else { return nil }
        index += 2
        guard let second = hexadecimal(4), (0xDC00..<0xE000).contains(second) else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func hexadecimal(_ count: Int) -> UInt32? {
        guard let digits = Self.hexadecimal(bytes[index...].prefix(count)), index + count <= bytes.count else { return nil }
        index += count
        return UInt32(digits)
    }

    private static func hexadecimal(_ digits: some Collection<UInt8>) -> UInt64? {
        let isAll = digits.allSatisfy { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 6 }
        return isAll && !digits.isEmpty ? UInt64(String(decoding: digits, as: UTF8.self), radix: 16) : nil
    }

    /// Parses `12`, `-0.5`, `.5`, `5.`, `1e3` or `0x2A`. Refuses numbers that do not fit into a Double, and also Infinity and NaN, which no
    /// profile needs.
    private static func number(_ word: String) -> Double? {
        var rest = Array(word.utf8)[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        if rest.starts(with: "0x".utf8) || rest.starts(with: "0X".utf8) {
            return hexadecimal(rest.dropFirst(2)).map { isNegative ? -Double($0) : Double($0) }
        }
        func digits() -> String {
            let digits = rest.prefix { $0 &- 0x30 < 10 }
            rest = rest.dropFirst(digits.count)
            return String(decoding: digits, as: UTF8.self)
        }
        let whole = digits()
        var fraction = ""
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = digits()
        }
        guard !whole.isEmpty || !fraction.isEmpty, whole.utf8.count == 1 || !whole.hasPrefix("0") else { return nil }
        var exponent = "0"
        if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            let sign = rest.first == UInt8(ascii: "-") ? "-" : ""
            if let first = rest.first, "+-".utf8.contains(first) { rest = rest.dropFirst() }
            exponent = digits()
            guard !exponent.isEmpty else { return nil }
            exponent = sign + exponent
        }
        guard rest.isEmpty, let number = Double("\(isNegative ? "-" : "")\(whole.isEmpty ? "0" : whole).\(fraction)0e\(exponent)")
        else { return nil }
        return number.isFinite ? number : nil
    }
}
