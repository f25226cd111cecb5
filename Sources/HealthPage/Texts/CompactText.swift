/// A style sheet or a script as it is served: without comments, indentation, and spaces that mean nothing.
///
/// A script's strings and templates stay as they are. Its lines stay, too, since a line's end can end a statement. A template has no other
/// template in it, and a regular expression has no quotes and no spaces.
struct CompactText {
    private var source: ArraySlice<UInt8>
    private var compact: [UInt8] = []
    /// The characters beside which a space means nothing.
    private let separators: Set<UInt8>
    private let isScript: Bool

    private static let newline = UInt8(ascii: "\n")

    /// Returns the bytes of a file, or the compact ones of a style sheet or a script.
    static func bytes(_ bytes: [UInt8], of name: String) -> [UInt8] {
        guard name.hasSuffix(".css") || name.hasSuffix(".js") else { return bytes }
        var text = CompactText(bytes, isScript: name.hasSuffix(".js"))
        return text.all()
    }

    private init(_ bytes: [UInt8], isScript: Bool) {
        (source, self.isScript) = (bytes[...], isScript)
        // In a selector, a space before a colon is a descendant. In a sum of lengths, spaces are required.
        separators = Set((isScript ? "=+-*/<>!?:&|,;(){}[]%~^\n" : ",;{}>\n").utf8)
    }

    private mutating func all() -> [UInt8] {
        while let first = source.first {
            switch first {
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): quoted(first)
            case UInt8(ascii: "/") where source.starts(with: "/*".utf8): comment(to: "*/")
            case UInt8(ascii: "/") where isScript && source.starts(with: "//".utf8):
                source = source.drop { $0 != Self.newline }
            case UInt8(ascii: " "), UInt8(ascii: "\t"), Self.newline: space()
            default:
                // The last declaration of a rule needs no end of its own.
                if !isScript, first == UInt8(ascii: "}"), compact.last == UInt8(ascii: ";") { compact.removeLast() }
                compact.append(source.removeFirst())
            }
        }
        return compact
    }

    private mutating func quoted(_ quote: UInt8) {
        var isEscaped = false
        compact.append(source.removeFirst())
        while let byte = source.popFirst() {
            compact.append(byte)
            if byte == quote, !isEscaped { return }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
    }

    private mutating func comment(to end: String) {
        source.removeFirst(2)
        while !source.isEmpty, !source.starts(with: end.utf8) { source.removeFirst() }
        source = source.dropFirst(2)
    }

    private mutating func space() {
        let spaces = source.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == Self.newline }
        source = source.dropFirst(spaces.count)
        guard let before = compact.last, let after = source.first else { return }
        if isScript, spaces.contains(Self.newline) {
            if before != Self.newline, !"{;,([".utf8.contains(before) { compact.append(Self.newline) }
            return
        }
        // A declaration has a space after its colon.
        let isDeclaration = !isScript && before == UInt8(ascii: ":")
        let isSign = before == after && (before == UInt8(ascii: "+") || before == UInt8(ascii: "-"))
        if isSign || !(separators.contains(before) || separators.contains(after) || isDeclaration) {
            compact.append(UInt8(ascii: " "))
        }
    }
}
