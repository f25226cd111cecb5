/// Finds where a text stops being JSON5, because the decoder does not say: a line, a column and what is expected there.
///
///     JSON5Fault.find(in: bytes)  // "line 3, column 8: ':' is expected"
///
/// It only walks over the text and keeps nothing of it. What it does not look into (the digits of a number, the letters behind a
/// backslash) is left to the decoder: where nothing is found the decoder's own words have to do.
public struct JSON5Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// From 1.
    public var line: Int
    /// In characters, from 1.
    public var column: Int
    public var expected: String

    public var description: String { "line \(line), column \(column): \(expected)" }

    /// The first fault; nothing where none is found.
    public static func find(in bytes: [UInt8]) -> JSON5Fault? {
        var walker = Walker(bytes: bytes)
        do throws(Stop) {
            try walker.value(depth: 0)
            try walker.blanks()
            guard walker.index == bytes.count else { throw Stop(walker.index, "nothing more is expected behind the end") }
            return nil
        } catch {
            return JSON5Fault(bytes, error.index, error.expected)
        }
    }

    /// What the decoder must not be given: it traps on a key that is not UTF-8, and has a stack of its own size. To be asked first.
    public static func unreadable(in bytes: [UInt8]) -> JSON5Fault? {
        guard let index = bytes.withUnsafeBytes(firstThatIsNoUTF8) else {
            let fault = find(in: bytes)
            return fault?.isTooDeep == true ? fault : nil
        }
        return JSON5Fault(bytes, index, "this is not UTF-8")
    }

    private static func firstThatIsNoUTF8(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var decoder = UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var index = 0
        while true {
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let scalar): index += scalar.count
            case .emptyInput: return nil
            case .error: return index
            }
        }
    }

    /// Nested deeper than anybody writes.
    public var isTooDeep: Bool { expected == Self.tooDeep }
    private static let tooDeep = "the text is nested too deeply"

    private init(_ bytes: [UInt8], _ index: Int, _ expected: String) {
        let before = bytes[..<min(index, bytes.count)]
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        column = String(decoding: before[start...], as: UTF8.self).count + 1
        self.expected = expected
    }

    private struct Stop: Error {
        var index: Int
        var expected: String
        init(_ index: Int, _ expected: String) {
            self.index = index
            self.expected = expected
        }
    }

    private struct Walker {
        let bytes: [UInt8]
        var index = 0

        private static let maximumDepth = 256

        init(bytes: [UInt8]) {
            self.bytes = bytes
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        }

        private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

        private func isNext(_ text: StaticString, at offset: Int = 0) -> Bool {
            bytes.dropFirst(index + offset).starts(
                with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        }

        private mutating func take(_ sign: UInt8) -> Bool {
            guard next == sign else { return false }
            index += 1
            return true
        }

        /// Blanks and comments.
        mutating func blanks() throws(Stop) {
            while let byte = next {
                if byte <= 0x20 {
                    index += 1
                } else if isNext("\u{A0}") {
                    index += 2
                } else if isNext("\u{FEFF}") || isNext("\u{2028}") || isNext("\u{2029}") {
                    index += 3
                } else if isNext("//") {
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
            }
        }

        mutating func value(depth: Int) throws(Stop) {
            guard depth < Self.maximumDepth else { throw Stop(index, JSON5Fault.tooDeep) }
            try blanks()
            switch next {
            case nil: throw Stop(index, "a value is expected, and the text ends here")
            case UInt8(ascii: "{"): try list(closing: UInt8(ascii: "}"), depth: depth)
            case UInt8(ascii: "["): try list(closing: UInt8(ascii: "]"), depth: depth)
            case UInt8(ascii: "\""), UInt8(ascii: "'"): try text()
            default:
                let start = index
                let word = word()
                let known: Set = ["null", "true", "false", "Infinity", "NaN"]
                let first = word.utf8.first ?? 0
                guard known.contains(word) || first &- 0x30 < 10 || "+-.".utf8.contains(first) else {
                    throw Stop(start, "a value is expected: a text in quotes, a number, true, false, null, { or [")
                }
            }
        }

        private mutating func list(closing: UInt8, depth: Int) throws(Stop) {
            let start = index
            let isObject = closing == UInt8(ascii: "}")
            index += 1
            while true {
                try blanks()
                if take(closing) { return }
                guard next != nil else { throw Stop(start, isObject ? "this { is never closed" : "this [ is never closed") }
                if isObject {
                    let start = index
                    if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { try text() } else { _ = word() }
                    let first = bytes[start]
                    guard index > start, !(first &- 0x30 < 10 || "+-.".utf8.contains(first)) else {
                        throw Stop(start, "a key or } is expected")
                    }
                    try blanks()
                    guard take(UInt8(ascii: ":")) else { throw Stop(index, "':' is expected behind the key") }
                }
                try value(depth: depth + 1)
                try blanks()
                guard take(UInt8(ascii: ",")) || next == closing else {
                    if next == nil { throw Stop(start, isObject ? "this { is never closed" : "this [ is never closed") }
                    throw Stop(index, isObject ? "',' or } is expected" : "',' or ] is expected")
                }
            }
        }

        private mutating func text() throws(Stop) {
            let start = index
            let quote = bytes[index]
            index += 1
            while let byte = next {
                index += 1
                if byte == quote { return }
                if byte == UInt8(ascii: "\\") {
                    // A backslash in front of the end of a line goes on in the next.
                    if isNext("\r\n") { index += 1 }
                    if next != nil { index += 1 }
                } else if byte == 0x0A || byte == 0x0D {
                    break
                }
            }
            throw Stop(start, "this text is never closed")
        }

        /// Letters, digits and signs up to a blank or a sign of the syntax.
        private mutating func word() -> String {
            let start = index
            while let byte = next, byte > 0x20, !"{}[]:,\"'/".utf8.contains(byte) { index += 1 }
            return String(decoding: bytes[start..<index], as: UTF8.self)
        }
    }
}
