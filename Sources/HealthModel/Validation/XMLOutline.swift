/// Checks whether bytes are well-formed XML at the level of elements: they are properly nested, and there is one root.
///
/// Characters and entities are not checked here but when the document is read by its schema.
struct XMLOutline {
    /// Deeper than any document.
    private static let deepest = 4096

    private let bytes: [UInt8]
    private var place = 0

    /// The local name of the root element, or `nil` if the bytes are not well-formed.
    static func root(of bytes: [UInt8]) -> String? {
        var bytes = bytes
        switch ByteOrderMark(bytes) {
        case nil: break
        case .utf8: bytes.removeFirst(3)
        case let mark?:
            let isLittle = mark == .utf16LittleEndian
            let units = stride(from: 2, to: bytes.count - 1, by: 2).map { (index: Int) -> UInt16 in
                let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                return isLittle ? second << 8 | first : first << 8 | second
            }
            bytes = Array(String(decoding: units, as: UTF16.self).utf8)
        }
        var outline = XMLOutline(bytes: bytes)
        return outline.read()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func read() -> String? {
        var (open, root): ([Range<Int>], String?) = ([], nil)
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "<") else {
                // Only white space is allowed outside of the root.
                guard !open.isEmpty || bytes[place] <= 0x20, bytes[place] != 0 else { return nil }
                place += 1
                continue
            }
            if starts("<!--") {
                guard skip(past: "-->", from: 4) else { return nil }
            } else if starts("<![CDATA[") {
                guard !open.isEmpty, skip(past: "]]>", from: 9) else { return nil }
            } else if starts("<?") {
                guard skip(past: "?>", from: 2) else { return nil }
            } else if starts("<!DOCTYPE") {
                guard root == nil, skipType() else { return nil }
            } else if starts("</") {
                place += 2
                guard let name = name(), let last = open.popLast(), bytes[name] == bytes[last] else { return nil }
                skipBlanks()
                guard take(">") else { return nil }
            } else {
                place += 1
                guard let name = name(), !open.isEmpty || root == nil, open.count < Self.deepest, let isEmpty = attributes()
                else {
                    return nil
                }
                if root == nil {
                    let text = String(decoding: bytes[name], as: UTF8.self)
                    root = text.split(separator: ":").last.map(String.init)
                }
                if !isEmpty { open.append(name) }
            }
        }
        return open.isEmpty ? root : nil
    }

    private func starts(_ text: StaticString) -> Bool {
        bytes[place...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func skipBlanks() { while place < bytes.count, bytes[place] <= 0x20 { place += 1 } }

    private mutating func skip(past end: StaticString, from start: Int) -> Bool {
        place += start
        while place < bytes.count {
            if starts(end) {
                place += end.utf8CodeUnitCount
                return true
            }
            place += 1
        }
        return false
    }

    /// A document type, with its inner subset in brackets.
    private mutating func skipType() -> Bool {
        var depth = 0
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                guard let close = bytes[place...].firstIndex(of: byte) else { return false }
                place = close + 1
            } else if byte == UInt8(ascii: "[") {
                depth += 1
            } else if byte == UInt8(ascii: "]") {
                depth -= 1
            } else if byte == UInt8(ascii: ">"), depth == 0 {
                return true
            }
        }
        return false
    }

    private mutating func name() -> Range<Int>? {
        let start = place
        while place < bytes.count, bytes[place] > 0x20, !"</>='\"".utf8.contains(bytes[place]) { place += 1 }
        guard place > start, bytes[start] >= 0x3A, bytes[start] != UInt8(ascii: "?") else { return nil }
        return start..<place
    }

    /// Reads the rest of a start tag. Returns whether the element is empty, or `nil` if it is not well-formed.
    private mutating func attributes() -> Bool? {
        while true {
            let before = place
            skipBlanks()
            if take(">") { return false }
            if take("/") { return take(">") ? true : nil }
            guard place > before, name() != nil else { return nil }
            skipBlanks()
            guard take("=") else { return nil }
            skipBlanks()
            guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "'"),
                let close = bytes[(place + 1)...].firstIndex(of: bytes[place]),
                !bytes[place..<close].contains(UInt8(ascii: "<"))
            else { return nil }
            place = close + 1
        }
    }
}
