import HealthModel

/// Counts names and attributes of a document before it is parsed.
///
/// libxml2 compares the attributes of an element with each other, and keeps all names in a table that does not grow with them. Its time
/// for a crafted document therefore grows with the square of these numbers, for which it has no limits.
struct DocumentOutline {
    /// The reason not to parse a document, with its line.
    struct Rejection: Hashable {
        var line: Int
        var reason: String
    }

    /// The maximum number of attributes of one element. HL7's schema has at most 30.
    static let maximumAttributes = 256
    /// The maximum number of namespaces that an element and those around it declare. The parser searches all of them for each name.
    static let maximumNamespaces = 256
    /// The maximum number of different names of elements, attributes and processing instructions. HL7's schemas have about 800.
    static let maximumNames = 4096

    private let bytes: UnsafeRawBufferPointer
    private var place = 0
    private var line = 1
    private var names: Set<Int> = []
    /// The number of namespaces that each open element declares, and their sum.
    private var namespaces: [Int] = []
    private var namespacesInScope = 0

    /// Returns the reason not to parse a document, or `nil`. Whether it is well-formed is left to the parser.
    static func rejection(_ bytes: UnsafeRawBufferPointer) -> Rejection? {
        let mark = ByteOrderMark(bytes)
        guard mark == .utf16LittleEndian || mark == .utf16BigEndian || bytes.prefix(4).contains(0) else {
            var outline = DocumentOutline(bytes: bytes)
            return outline.rejection()
        }
        let isLittle = mark == .utf16LittleEndian || (mark == nil && bytes.first != 0)
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { (index: Int) -> UInt16 in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return Array(String(decoding: units, as: UTF16.self).utf8).withUnsafeBytes {
            var outline = DocumentOutline(bytes: $0)
            return outline.rejection()
        }
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func rejection() -> Rejection? {
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "<") else {
                advance()
                continue
            }
            if starts("<!--") {
                skip(past: "-->", from: 4)
            } else if starts("<![CDATA[") {
                skip(past: "]]>", from: 9)
            } else if starts("<?") {
                place += 2
                guard note(name()) else { return Rejection(line: line, reason: Self.manyNames) }
                skip(past: "?>", from: 0)
            } else if starts("</") {
                place += 2
                namespacesInScope -= namespaces.popLast() ?? 0
            } else {
                place += 1
                if let reason = tag() { return Rejection(line: line, reason: reason) }
            }
        }
        return nil
    }

    private mutating func advance() {
        if bytes[place] == 0x0A { line += 1 }
        place += 1
    }

    private func starts(_ text: StaticString) -> Bool {
        guard bytes.count - place >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[place + index] != text.utf8Start[index] { return false }
        return true
    }

    private mutating func skip(past end: StaticString, from start: Int) {
        place += start
        while place < bytes.count {
            if starts(end) {
                place += end.utf8CodeUnitCount
                return
            }
            advance()
        }
    }

    /// Reads a start tag up to its end. Returns the reason not to parse it, or `nil`.
    private mutating func tag() -> String? {
        guard note(name()) else { return Self.manyNames }
        var (attributes, declared, isEmpty) = (0, 0, false)
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "<") {
                if !isEmpty {
                    namespaces.append(declared)
                    namespacesInScope += declared
                }
                return nil
            }
            isEmpty = byte == UInt8(ascii: "/")
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                place += 1
                while place < bytes.count, bytes[place] != byte { advance() }
                if place < bytes.count { place += 1 }
            } else if byte <= 0x20 || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=") {
                advance()
            } else {
                attributes += 1
                if starts("xmlns") { declared += 1 }
                guard note(name()) else { return Self.manyNames }
                guard attributes <= Self.maximumAttributes else {
                    return "an element has more than \(Self.maximumAttributes) attributes"
                }
                guard namespacesInScope + declared <= Self.maximumNamespaces else {
                    return "an element has more than \(Self.maximumNamespaces) namespaces"
                }
            }
        }
        return nil
    }

    private static let manyNames = "it has more than \(maximumNames) different names of elements and attributes"

    private mutating func name() -> Range<Int> {
        let start = place
        while place < bytes.count, bytes[place] > 0x20, !Self.ends(bytes[place]) { place += 1 }
        return start..<place
    }

    private static func ends(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "=") || byte == UInt8(ascii: "<")
            || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
    }

    /// Notes a name by its hash. Returns false if there are too many.
    private mutating func note(_ name: Range<Int>) -> Bool {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[name]))
        let hash = hasher.finalize()
        names.insert(hash)
        return names.count <= Self.maximumNames
    }
}
