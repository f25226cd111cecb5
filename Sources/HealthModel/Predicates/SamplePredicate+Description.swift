extension SamplePredicate: CustomStringConvertible {
    /// The condition as a person writes it; read again it means the same. Times are printed in UTC, persons as their UUIDs.
    public var description: String { written(within: nil) }

    /// What joins the parts around it.
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

    /// One of several: equal to this or to that.
    private static func written(_ field: String, _ texts: [String], within outer: Join?) -> String {
        if texts.isEmpty { return "nothing" }
        let text = texts.sorted().map { "\(field) = \(Literal.quoted($0))" }.joined(separator: " or ")
        return texts.count > 1 && (outer == .not || outer == .and) ? "(\(text))" : text
    }
}

extension SamplePredicate.Field: CustomStringConvertible {
    /// As a condition names it.
    public var description: String {
        switch self {
        case .value: "value"
        case .start: "start"
        case .end: "end"
        case .category: "case"
        case .duration: "duration"
        case .zone: "zone"
        case .subject: "subject"
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

    /// Whether a key of metadata stands in a condition without quotes.
    private static func isPlain(_ key: String) -> Bool {
        !key.isEmpty && key.allSatisfy { $0.isLetter || $0.isNumber || "._".contains($0) }
    }
}

extension SamplePredicate.Literal {
    /// As a condition has it.
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

    /// In single quotes where it is more than a word; a quote within is written twice.
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
        // What looks like a number takes the next word for its unit.
        guard isWord, !text.isEmpty, (try? Numeral(text)) == nil else {
            return "'\(text.replacing("'", with: "''"))'"
        }
        return text
    }
}
