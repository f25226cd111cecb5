/// Checks whether bytes are structurally valid JSON, and finds one text of the outermost object.
///
/// Escapes and characters are not checked, because a resource is stored as received, byte for byte.
struct JSONOutline {
    /// Deeper than any resource.
    private static let deepest = 512

    private let octets: [UInt8]
    private var place = 0
    private let wanted: [UInt8]
    private var found: Range<Int>?

    /// The text under a name in the outermost object, or `nil` if the bytes are not an object or do not have it.
    static func text(_ name: String, of octets: [UInt8]) -> String? {
        var outline = JSONOutline(octets: octets, wanted: Array("\"\(name)\"".utf8))
        outline.skipBlanks()
        guard outline.peek == UInt8(ascii: "{"), outline.value(depth: 0) else { return nil }
        outline.skipBlanks()
        guard outline.place == octets.count, let found = outline.found else { return nil }
        return String(decoding: octets[found], as: UTF8.self)
    }

    private init(octets: [UInt8], wanted: [UInt8]) { (self.octets, self.wanted) = (octets, wanted) }

    private var peek: UInt8? { place < octets.count ? octets[place] : nil }

    private mutating func skipBlanks() {
        while let octet = peek, octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 { place += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard peek == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func value(depth: Int) -> Bool {
        guard depth < Self.deepest else { return false }
        skipBlanks()
        switch peek {
        case UInt8(ascii: "{"): return list(until: "}", depth) { $0.member(depth) }
        case UInt8(ascii: "["): return list(until: "]", depth) { $0.value(depth: depth + 1) }
        case UInt8(ascii: "\""): return string() != nil
        default:
            let start = place
            while let octet = peek, octet > 0x20, !",]}:\"[{".utf8.contains(octet) { place += 1 }
            let word = octets[start..<place]
            return word.elementsEqual("true".utf8) || word.elementsEqual("false".utf8) || word.elementsEqual("null".utf8)
                || (!word.isEmpty && word.allSatisfy { "0123456789+-.eE".utf8.contains($0) })
        }
    }

    private mutating func list(
        until end: Unicode.Scalar, _ depth: Int, _ element: (inout JSONOutline) -> Bool
    ) -> Bool {
        place += 1
        if take(end) { return true }
        repeat {
            guard element(&self) else { return false }
        } while take(",")
        return take(end)
    }

    private mutating func member(_ depth: Int) -> Bool {
        skipBlanks()
        guard let name = string(), take(":") else { return false }
        skipBlanks()
        let start = place
        guard value(depth: depth + 1) else { return false }
        if depth == 0, octets[name].elementsEqual(wanted), octets[start] == UInt8(ascii: "\"") {
            found = (start + 1)..<(place - 1)
        }
        return true
    }

    /// A text with its quotation marks.
    private mutating func string() -> Range<Int>? {
        guard peek == UInt8(ascii: "\"") else { return nil }
        let start = place
        place += 1
        while let octet = peek {
            place += 1
            if octet == UInt8(ascii: "\"") { return start..<place }
            if octet == UInt8(ascii: "\\") { place += 1 }
            if octet < 0x20 { return nil }
        }
        return nil
    }
}
