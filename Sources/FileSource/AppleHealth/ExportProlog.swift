import Glibc
import HealthModel
import Pipeline

/// The part of an XML file before its root element: byte order mark, XML declaration, DOCTYPE.
///
/// The DOCTYPE of iOS 16 exports is not well-formed (an `ATTLIST` is not closed), and that of an untrusted file could declare entities
/// that expand or read other files. So it is skipped, and the parser starts at the root element. An entity that only the DOCTYPE declares
/// is then a normal error.
enum ExportProlog: Equatable {
    /// The expected root element begins at this offset and line.
    case found(offset: Int, line: Int)
    /// These bytes are not enough to decide.
    case unfinished(hasDoctype: Bool)
    /// Another root element. Its name is shortened and reduced to ASCII.
    case otherRoot(String)
    /// The text is UTF-16 or UTF-32.
    case wideCharacters
    /// The declared encoding is not UTF-8.
    case otherEncoding
    case notXML

    /// The maximum length of a prolog. That of an export has 10 to 20 KiB.
    static let maximumLength = 256 << 10

    /// - Parameter root: the root element's name, without a prefix.
    init(_ bytes: UnsafeRawBufferPointer, root: String = "HealthData") {
        if Self.isWide(bytes) {
            self = .wideCharacters
            return
        }
        var index = ByteOrderMark.lengthUTF8(bytes)
        var hasDoctype = false
        while true {
            let from = index
            guard let mark = Self.find("<", in: bytes, from: index) else {
                self = Self.isBlank(bytes[from...]) || hasDoctype ? .unfinished(hasDoctype: hasDoctype) : .notXML
                return
            }
            guard hasDoctype || Self.isBlank(bytes[from..<mark]) else {
                self = .notXML
                return
            }
            index = mark + 1
            if Self.matches("?", bytes, index) {
                guard let end = Self.find("?>", in: bytes, from: index) else { break }
                if Self.matches("?xml ", bytes, index), !Self.declaresUTF8(bytes[index..<end]) {
                    self = .otherEncoding
                    return
                }
                index = end + 2
            } else if Self.matches("!--", bytes, index) {
                guard let end = Self.find("-->", in: bytes, from: index + 3) else { break }
                index = end + 3
            } else if Self.matches("!", bytes, index) {
                if Self.matches("!DOCTYPE", bytes, index) { hasDoctype = true }
            } else {
                // Finds the end of the name. A name at the end of the bytes may continue.
                let end = bytes[index...].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "/") }
                guard let end else { break }
                if UnsafeRawBufferPointer(rebasing: bytes[index..<end]).elementsEqual(root.utf8) {
                    self = .found(offset: mark, line: 1 + Self.lineBreaks(bytes[..<mark]))
                    return
                }
                // A broken DOCTYPE may contain anything. Without one, the first element is the root.
                guard hasDoctype else {
                    self = .otherRoot(Self.readable(bytes[index..<end]))
                    return
                }
            }
        }
        self = .unfinished(hasDoctype: hasDoctype)
    }

    /// Searches for the root element within ``maximumLength``.
    static func read(_ input: PrefixedInput, root: String = "HealthData") throws(SourceError) -> ExportProlog {
        var length = 4 << 10
        while true {
            let (prolog, isMore) = try input.look(at: length) { (ExportProlog($0, root: root), $0.count == length) }
            guard case .unfinished = prolog, isMore, length < maximumLength else { return prolog }
            length *= 4
        }
    }

    /// The reason why there is nothing to import.
    var reason: String {
        switch self {
        case .found: "it is an Apple Health export"
        case .unfinished, .notXML: "it is not an Apple Health export: there is no element HealthData"
        case .otherRoot(let name): "it is not an Apple Health export: its root element is \(name), not HealthData"
        case .wideCharacters: "it is in UTF-16 or UTF-32, but Apple Health writes UTF-8: convert it first"
        case .otherEncoding: "it declares an encoding other than UTF-8, but Apple Health writes UTF-8: convert it first"
        }
    }

    static func isWide(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 2 else { return false }
        switch (bytes[0], bytes[1]) {
        case (0xFE, 0xFF), (0xFF, 0xFE), (0x00, 0x3C), (0x3C, 0x00), (0x00, 0x00): return true
        default: return false
        }
    }

    private static func declaresUTF8(_ declaration: Slice<UnsafeRawBufferPointer>) -> Bool {
        let text = String(decoding: declaration.prefix(256), as: UTF8.self).lowercased()
        let parts = text.split(whereSeparator: { $0 == "\"" || $0 == "'" })
        guard let name = parts.firstIndex(where: { $0.contains("encoding") }), name + 1 < parts.count else { return true }
        return ["utf-8", "utf8", "us-ascii", "ascii"].contains(parts[name + 1])
    }

    private static func isBlank(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool { bytes.allSatisfy { $0 <= 0x20 } }

    private static func readable(_ name: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: name.prefix(40).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// The number of line breaks (LF, CR LF or CR), counted as the parser does.
    private static func lineBreaks(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        var count = 0
        var previous: UInt8 = 0
        for byte in bytes {
            if byte == 0x0D || (byte == 0x0A && previous != 0x0D) { count += 1 }
            previous = byte
        }
        return count
    }

    private static func find(_ text: StaticString, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var index = start
        while index < bytes.count, let found = memchr(base + index, Int32(text.utf8Start[0]), bytes.count - index) {
            index = base.distance(to: found)
            if matches(text, bytes, index) { return index }
            index += 1
        }
        return nil
    }

    private static func matches(_ text: StaticString, _ bytes: UnsafeRawBufferPointer, _ index: Int) -> Bool {
        guard let base = bytes.baseAddress, index + text.utf8CodeUnitCount <= bytes.count else { return false }
        return memcmp(base + index, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
