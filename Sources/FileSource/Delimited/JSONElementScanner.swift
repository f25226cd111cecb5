/// Reads the members of one JSON object that a profile names, from its bytes (RFC 8259).
///
/// Texts are unescaped in place, because they only get shorter.
struct JSONElementScanner {
    struct Failure: Error {
        var reason: String
    }

    /// The maximum depth. The parser is recursive, and real exports are flatter.
    private static let maximumDepth = 32

    private let bytes: UnsafeMutablePointer<UInt8>
    private let end: Int
    private var index: Int
    private let paths: [[UInt8]]
    /// Whether a path contains the index of a list.
    private let hasIndices: Bool
    /// The path of the current member, joined by dots.
    private var path: [UInt8] = []

    init(_ bytes: UnsafeMutablePointer<UInt8>, from start: Int, to end: Int, paths: [[UInt8]]) {
        self.bytes = bytes
        self.end = end
        self.paths = paths
        hasIndices = paths.contains { $0.contains(UInt8(ascii: "[")) }
        index = start
    }

    /// Fills the cells, one for each path. A missing or null member has no bytes.
    mutating func scan(into cells: inout [UnsafeRawBufferPointer], unread: inout UnreadMembers) throws(Failure) {
        cells.removeAll(keepingCapacity: true)
        for _ in paths { cells.append(UnsafeRawBufferPointer(start: nil, count: 0)) }
        try value(depth: 0, &cells, &unread)
        skipBlanks()
        guard index == end else { throw Failure(reason: "there is text after the element") }
    }

    private mutating func skipBlanks() {
        while index < end, bytes[index] == 0x20 || bytes[index] == 0x0A || bytes[index] == 0x0D || bytes[index] == 0x09 {
            index += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < end, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func value(
        depth: Int, _ cells: inout [UnsafeRawBufferPointer], _ unread: inout UnreadMembers
    ) throws(Failure) {
        guard depth <= Self.maximumDepth else { throw Failure(reason: "it is nested more than \(Self.maximumDepth) levels deep") }
        skipBlanks()
        guard index < end else { throw Failure(reason: "it ends early") }
        let named = paths.firstIndex(of: path)
        switch bytes[index] {
        case UInt8(ascii: "{"):
            index += 1
            guard named == nil || depth == 0 || isWrapper else {
                throw Failure(reason: "there is an object, but the profile expects a value")
            }
            try members(depth: depth, &cells, &unread)
        case UInt8(ascii: "["):
            guard named == nil else { throw Failure(reason: "there is a list, but the profile expects a value") }
            index += 1
            try elements(depth: depth, &cells, &unread)
        case UInt8(ascii: "\""):
            let text = try string()
            if let named { cells[named] = text } else if !text.isEmpty { unread.note(path) }
        default:
            let first = index
            while index < end, !Self.isDelimiter(bytes[index]) { index += 1 }
            let literal = UnsafeRawBufferPointer(start: bytes + first, count: index - first)
            guard !literal.isEmpty, literal.allSatisfy(Self.isLiteral) else { throw Failure(reason: "it is not JSON") }
            if literal.elementsEqual("null".utf8) { return }
            if let named { cells[named] = literal } else { unread.note(path) }
        }
    }

    /// Whether the object that was just opened is a number, a date or an id in MongoDB's Extended JSON: `{"$numberLong":
    /// "1745408563000"}` (https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/).
    private var isWrapper: Bool {
        var place = index
        while place < end, bytes[place] <= 0x20 { place += 1 }
        return place + 1 < end && bytes[place] == UInt8(ascii: "\"") && bytes[place + 1] == UInt8(ascii: "$")
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }

    /// Whether a byte may be part of a number, true, false or null. The interpreter checks the number itself.
    private static func isLiteral(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || byte &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "E") || byte == UInt8(ascii: "+")
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    private mutating func members(
        depth: Int, _ cells: inout [UnsafeRawBufferPointer], _ unread: inout UnreadMembers
    ) throws(Failure) {
        skipBlanks()
        if take(UInt8(ascii: "}")) { return }
        while true {
            skipBlanks()
            guard index < end, bytes[index] == UInt8(ascii: "\"") else { throw Failure(reason: "a member has no name") }
            let name = try string()
            let length = path.count
            // The wrapped value is the value of the outer member.
            if name.first != UInt8(ascii: "$") || depth == 0 {
                if length > 0 { path.append(UInt8(ascii: ".")) }
                path.append(contentsOf: name)
            }
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw Failure(reason: "a colon is missing after a member's name") }
            try value(depth: depth + 1, &cells, &unread)
            path.removeSubrange(length...)
            skipBlanks()
            if take(UInt8(ascii: "}")) { return }
            guard take(UInt8(ascii: ",")) else { throw Failure(reason: "a comma is missing between members") }
        }
    }

    private mutating func elements(
        depth: Int, _ cells: inout [UnsafeRawBufferPointer], _ unread: inout UnreadMembers
    ) throws(Failure) {
        let length = path.count
        path.append(contentsOf: "[]".utf8)
        defer { path.removeSubrange(length...) }
        skipBlanks()
        if take(UInt8(ascii: "]")) { return }
        var number = 0
        while true {
            if hasIndices {
                path.removeSubrange(length...)
                path.append(contentsOf: "[\(number)]".utf8)
                number += 1
            }
            try value(depth: depth + 1, &cells, &unread)
            skipBlanks()
            if take(UInt8(ascii: "]")) { return }
            guard take(UInt8(ascii: ",")) else { throw Failure(reason: "a comma is missing between elements") }
        }
    }

    private mutating func string() throws(Failure) -> UnsafeRawBufferPointer {
        index += 1
        let first = index
        var target = index
        while index < end {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return UnsafeRawBufferPointer(start: bytes + first, count: target - first)
            case UInt8(ascii: "\\"): target += try escape(into: bytes + target)
            case 0..<0x20: throw Failure(reason: "a text contains a control character")
            default:
                bytes[target] = byte
                target += 1
                index += 1
            }
        }
        throw Failure(reason: "a text is never closed")
    }

    /// Writes the character of an escape, skips the escape, and returns the length written.
    private mutating func escape(into target: UnsafeMutablePointer<UInt8>) throws(Failure) -> Int {
        guard index + 1 < end else { throw Failure(reason: "a text is never closed") }
        let letter = bytes[index + 1]
        index += 2
        let simple: UInt8
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): simple = letter
        case UInt8(ascii: "n"): simple = 0x0A
        case UInt8(ascii: "r"): simple = 0x0D
        case UInt8(ascii: "t"): simple = 0x09
        case UInt8(ascii: "b"): simple = 0x08
        case UInt8(ascii: "f"): simple = 0x0C
        case UInt8(ascii: "u"):
            var scalar = try unit()
            if (0xD800..<0xDC00).contains(scalar) {
                guard index + 1 < end, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
                    return putUTF8(0xFFFD, target)
                }
                index += 2
                let low = try unit()
                scalar = (0xDC00..<0xE000).contains(low) ? 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00) : 0xFFFD
            } else if (0xDC00..<0xE000).contains(scalar) {
                scalar = 0xFFFD
            }
            return putUTF8(scalar, target)
        default: throw Failure(reason: "a text has an escape that JSON does not know")
        }
        target[0] = simple
        return 1
    }

    private mutating func unit() throws(Failure) -> UInt32 {
        guard index + 4 <= end else { throw Failure(reason: "a text is never closed") }
        var unit: UInt32 = 0
        for _ in 0..<4 {
            let byte = bytes[index]
            let digit = byte &- UInt8(ascii: "0") < 10 ? byte &- UInt8(ascii: "0") : (byte | 0x20) &- UInt8(ascii: "a") &+ 10
            guard digit < 16 else { throw Failure(reason: "a text has an escape that JSON does not know") }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }
}
