extension SamplePredicate: CustomStringConvertible {
    /// The condition in its written form, which parses back to the same condition. Times are in UTC, and persons are UUIDs.
    public var description: String { written(within: nil) }

    /// The operator that surrounds a part.
    private enum Join { case and, or, not }

    private func written(within outer: Join?) -> String {
        switch self {
        case .types(let types): return Self.written("type", types.map(\.id), within: outer)
        case .uuids(let uuids): return Self.written("uuid", uuids.map(\.description), within: outer)
        case .comparison(let field, let comparison, let literal):
            return "\(field) \(comparison.rawValue) \(literal.written)"
        case .not(let inner): return "not \(inner.written(within: .not))"
        case .and(let parts):
            let texts = parts.map { (part: $0, text: $0.written(within: .and)) }.filter { $0.text != "everything" }
            guard let first = texts.first else { return "everything" }
            if texts.count == 1 { return first.part.written(within: outer) }
            let text = texts.map(\.text).joined(separator: " and ")
            return outer == .not ? "(\(text))" : text
        case .or(let parts):
            if parts.isEmpty { return "nothing" }
            if parts.count == 1 { return parts[0].written(within: outer) }
            let text = parts.map { $0.written(within: .or) }.joined(separator: " or ")
            return outer == .not || outer == .and ? "(\(text))" : text
        }
    }

    /// Several alternatives for one field.
    private static func written(_ field: String, _ texts: [String], within outer: Join?) -> String {
        if texts.isEmpty { return "nothing" }
        let text = texts.sorted().map { "\(field) = \(Literal.quoted($0))" }.joined(separator: " or ")
        return texts.count > 1 && (outer == .not || outer == .and) ? "(\(text))" : text
    }
}

extension SamplePredicate.Field: CustomStringConvertible {
    /// The name in a condition.
    public var description: String {
        switch self {
        case .value: "value"
        case .start: "start"
        case .end: "end"
        case .category: "case"
        case .duration: "duration"
        case .zone: "zone"
        case .person: "subject"
        case .group: "group"
        case .type: "type"
        case .kind: "kind"
        case .uuid: "uuid"
        case .fromWorkout: "fromWorkout"
        case .inCorrelation: "inCorrelation"
        case .source(let property): "source.\(property.rawValue)"
        case .device(let property): "device.\(property.rawValue)"
        case .originalValue: "original.value"
        case .originalUnit: "original.unit"
        case .timeOrigin: "time.origin"
        case .received: "time.received"
        case .metadata(let key): "metadata.\(Self.isPlain(key) ? key : SamplePredicate.Literal.quoted(key))"
        case .object(let field): field.name
        }
    }

    /// Whether a metadata key can be written without quotes.
    private static func isPlain(_ key: String) -> Bool {
        !key.isEmpty && key.allSatisfy { $0.isLetter || $0.isNumber || "._".contains($0) }
    }
}

extension SamplePredicate.Literal {
    var written: String {
        switch self {
        case .number(let numeral, let unit?): Self.quoted("\(numeral.text) \(unit.code)")
        case .number(let numeral, nil): numeral.text
        case .instant(let instant): instant.description
        case .unit(let unit): Self.quoted(unit.code)
        case .text(let text): Self.quoted(text)
        case .any(let text, _?, let unit?) where (try? Numeral(text)) != nil: Self.quoted("\(text) \(unit.code)")
        case .any(let text, _, _): Self.quoted(text)
        case .date(let date): Self.quoted(date.description)
        case .present: "*"
        }
    }

    /// The text, in single quotes unless it is a plain word. Quotes within it are doubled.
    static func quoted(_ text: String) -> String {
        let isWord = text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        // A text that looks like a number would take the next word as its unit.
        guard isWord, !text.isEmpty, (try? Numeral(text)) == nil else {
            return "'\(text.replacing("'", with: "''"))'"
        }
        return text
    }
}
