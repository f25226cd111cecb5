import HealthModel

/// A pattern for a column's name: literal text, `*` for any text, and `{unit}` for one of the channel's spellings of units.
///
///     HeaderPattern("Weight ({unit})").match("weight (lb)", spellings)  // .some("lb")
///
/// Case and surrounding blanks do not matter.
struct HeaderPattern: Hashable, Sendable {
    private enum Piece: Hashable, Sendable {
        case literal(String)
        case anything, unit
    }

    let text: String
    private let pieces: [Piece]

    init(_ text: String) {
        self.text = text
        var pieces: [Piece] = []
        var literal = ""
        var rest = Substring(text)
        func flush() {
            if !literal.isEmpty { pieces.append(.literal(literal.lowercased())) }
            literal = ""
        }
        while let letter = rest.first {
            if letter == "*" {
                flush()
                pieces.append(.anything)
                rest = rest.dropFirst()
            } else if rest.hasPrefix("{unit}") {
                flush()
                pieces.append(.unit)
                rest = rest.dropFirst(6)
            } else {
                literal.append(letter)
                rest = rest.dropFirst()
            }
        }
        flush()
        self.pieces = pieces
    }

    var hasUnit: Bool { pieces.contains(.unit) }

    enum Match {
        case none
        /// The spelling of the unit, if the name contains one.
        case found(unit: String?)
    }

    private static let maximumLength = 256

    func match(_ name: String, spellings: [String]) -> Match {
        guard name.utf8.count <= Self.maximumLength else { return .none }
        return Self.match(Substring(Self.trimmed(name).lowercased()), pieces[...], spellings)
    }

    private static func match(_ rest: Substring, _ pieces: ArraySlice<Piece>, _ spellings: [String]) -> Match {
        guard let piece = pieces.first else { return rest.isEmpty ? .found(unit: nil) : .none }
        let others = pieces.dropFirst()
        switch piece {
        case .literal(let text):
            return rest.hasPrefix(text) ? match(rest.dropFirst(text.count), others, spellings) : .none
        case .unit:
            for spelling in spellings where rest.hasPrefix(spelling.lowercased()) {
                if case .found = match(rest.dropFirst(spelling.count), others, spellings) { return .found(unit: spelling) }
            }
            return .none
        case .anything:
            var start = rest.startIndex
            while true {
                if case .found(let unit) = match(rest[start...], others, spellings) { return .found(unit: unit) }
                guard start < rest.endIndex else { return .none }
                start = rest.index(after: start)
            }
        }
    }

    static func trimmed(_ text: String) -> String {
        let blanks: Set<Character> = [" ", "\t", "\u{A0}", "\u{FEFF}"]
        guard let first = text.firstIndex(where: { !blanks.contains($0) }),
            let last = text.lastIndex(where: { !blanks.contains($0) })
        else { return "" }
        return String(text[first...last])
    }
}
