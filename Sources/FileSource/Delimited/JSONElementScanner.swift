import HealthModel

/// Reads the members of one JSON object that a profile names, from its bytes (RFC 8259).
///
/// Texts are unescaped in place, because they only get shorter.
struct JSONElementScanner {
    struct Failure: JSONFailure {
        var reason: String

        init(reason: String) { self.reason = reason }

        init(_ fault: JSONFault) {
            reason =
                switch fault.kind {
                case .name: "a member has no name"
                case .colon: "a colon is missing after a member's name"
                case .memberSeparator: "a comma is missing between members"
                case .elementSeparator: "a comma is missing between elements"
                default: fault.reason
                }
        }
    }

    /// The maximum depth. The parser is recursive, and real exports are flatter.
    private static let maximumDepth = 32

    private let bytes: UnsafeMutablePointer<UInt8>
    private var reader: JSONReader<Failure>
    private let paths: [[UInt8]]
    /// Whether a path contains the index of a list.
    private let hasIndices: Bool
    /// The path of the current member, joined by dots.
    private var path: [UInt8] = []

    init(_ bytes: UnsafeMutablePointer<UInt8>, from start: Int, to end: Int, paths: [[UInt8]]) {
        self.bytes = bytes
        self.paths = paths
        hasIndices = paths.contains { $0.contains(UInt8(ascii: "[")) }
        reader = JSONReader(
            UnsafeRawBufferPointer(start: bytes, count: end), from: start, maximumDepth: Self.maximumDepth)
    }

    /// Fills the cells, one for each path. A missing or null member has no bytes.
    mutating func scan(into cells: inout [UnsafeRawBufferPointer], unread: inout UnreadMembers) throws(Failure) {
        cells.removeAll(keepingCapacity: true)
        for _ in paths { cells.append(UnsafeRawBufferPointer(start: nil, count: 0)) }
        try value(depth: 0, &cells, &unread)
        reader.skipBlanks()
        guard reader.isAtEnd else { throw Failure(reason: "there is text after the element") }
    }

    private mutating func value(
        depth: Int, _ cells: inout [UnsafeRawBufferPointer], _ unread: inout UnreadMembers
    ) throws(Failure) {
        guard depth <= Self.maximumDepth else { throw Failure(reason: "it is nested more than \(Self.maximumDepth) levels deep") }
        reader.skipBlanks()
        let named = paths.firstIndex(of: path)
        switch try reader.kind() {
        case .object:
            guard named == nil || depth == 0 || isWrapper else {
                throw Failure(reason: "there is an object, but the profile expects a value")
            }
            try members(depth: depth, &cells, &unread)
        case .array:
            guard named == nil else { throw Failure(reason: "there is a list, but the profile expects a value") }
            try elements(depth: depth, &cells, &unread)
        case .string:
            let text = unescaped(try reader.string())
            if let named { cells[named] = text } else if !text.isEmpty { unread.note(path) }
        default:
            let first = reader.index
            while !reader.isAtEnd, !Self.isDelimiter(bytes[reader.index]) { reader.index += 1 }
            let literal = UnsafeRawBufferPointer(rebasing: reader.bytes[first..<reader.index])
            guard !literal.isEmpty, literal.allSatisfy(Self.isLiteral) else { throw Failure(reason: "it is not JSON") }
            if literal.elementsEqual("null".utf8) { return }
            if let named { cells[named] = literal } else { unread.note(path) }
        }
    }

    /// Whether the object that begins here is a number, a date or an id in MongoDB's Extended JSON: `{"$numberLong":
    /// "1745408563000"}` (https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/).
    private var isWrapper: Bool {
        reader.bytes[(reader.index + 1)...].drop { $0 <= 0x20 }.starts(with: "\"$".utf8)
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
        var count = 0
        try reader.open("{")
        while let name = try reader.nextName(after: count) {
            let name = unescaped(name)
            let length = path.count
            // The wrapped value is the value of the outer member.
            if name.first != UInt8(ascii: "$") || depth == 0 {
                if length > 0 { path.append(UInt8(ascii: ".")) }
                path.append(contentsOf: name)
            }
            try reader.colon()
            try value(depth: depth + 1, &cells, &unread)
            path.removeSubrange(length...)
            count += 1
        }
    }

    private mutating func elements(
        depth: Int, _ cells: inout [UnsafeRawBufferPointer], _ unread: inout UnreadMembers
    ) throws(Failure) {
        let length = path.count
        path.append(contentsOf: "[]".utf8)
        defer { path.removeSubrange(length...) }
        var count = 0
        try reader.open("[")
        while try reader.nextElement(after: count) {
            if hasIndices {
                path.removeSubrange(length...)
                path.append(contentsOf: "[\(count)]".utf8)
            }
            try value(depth: depth + 1, &cells, &unread)
            count += 1
        }
    }

    /// Returns a string without its escapes.
    private func unescaped(_ string: JSONString) -> UnsafeRawBufferPointer {
        let written = UnsafeRawBufferPointer(rebasing: reader.bytes[string.range])
        guard string.isEscaped else { return written }
        let target = bytes + string.range.lowerBound
        return UnsafeRawBufferPointer(start: target, count: JSONString.unescape(written, into: target).count)
    }
}
