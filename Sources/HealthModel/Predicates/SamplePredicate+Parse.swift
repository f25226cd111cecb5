/// Why a condition cannot be read.
public struct PredicateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The expected input, or the unknown name.
    public var reason: String
    /// In characters from 1.
    public var position: Int

    public var description: String { "\(reason) (at character \(position) of the condition)" }
}

/// The text form of conditions:
///
///     value > 38 Cel and source.name = 'Ear thermometer'
///     metadata.bodyTemperatureSensorLocation = armpit or not device.firmware < '1.2'
///
/// Fields are those of a sample's line (``fields``). Comparisons are `=`, `!=`, `<`, `<=`, `>`, `>=`, `~` (contains) and `^=` (begins
/// with). `not`, `and`, `or` and parentheses combine them. A number with a unit is compared after conversion, and one without is in the
/// type's unit. `= *` matches any value, and `everything` and `nothing` are conditions by themselves. ``description`` prints a condition in
/// this form.
extension SamplePredicate {
    /// Longest condition that is read.
    public static let maximumLength = 4096
    /// The maximum length of a text or word in a condition, in bytes. Each sample is compared with it.
    public static let maximumTextLength = 512

    /// The fields that any sample may have. ``ObjectField/names`` has those of objects.
    public static let fields =
        [
            "value", "case", "start", "end", "duration", "zone", "type", "kind", "uuid", "subject", "group", "fromWorkout",
            "inCorrelation", "time.origin", "time.received",
        ]
        + SourceProperty.allCases.map { "source.\($0)" } + DeviceProperty.allCases.map { "device.\($0)" }
        + ["original.value", "original.unit", "metadata.KEY"]

    /// Parses a condition.
    ///
    /// - Parameters:
    ///   - instant: Parses a time. By default times are ISO 8601 with a zone.
    ///   - person: Returns the UUID for a person's name. By default the name is used unchanged.
    ///   - type: Returns the type for a name. By default it accepts what ``SampleType/init(anyName:)`` accepts.
    public init(
        _ text: String, instant: (String) -> Instant? = SamplePredicate.instant, person: (String) -> String? = { $0 },
        type: (String) -> SampleType? = { try? SampleType(anyName: $0) }
    ) throws(PredicateError) {
        guard text.utf8.count <= Self.maximumLength else {
            throw PredicateError(reason: "the condition is too long", position: 1)
        }
        var parser = PredicateParser(text)
        self = try parser.disjunction(depth: 0) { field, comparison, value throws(PredicateError) in
            try value.literal(for: field, comparison, instant, person, type)
        }
        try parser.end()
    }

    /// The instant of a time with a zone.
    public static func instant(_ text: String) -> Instant? { (try? Timestamp(iso8601: text))?.instant }

    /// The text after a comparison.
    struct Written: Sendable {
        /// A word, or the text in quotes.
        var text: String
        /// The word after a number.
        var unit: String?
        /// In characters from 0.
        var position: Int
        /// A `*` without quotes.
        var isAnything = false
    }
}

/// Reads conditions by recursive descent: `or` binds loosest, then `and`, then `not`.
private struct PredicateParser {
    private let characters: [Character]
    private var index = 0

    init(_ text: String) { characters = Array(text) }

    private func error(_ reason: String, at position: Int? = nil) -> PredicateError {
        PredicateError(reason: reason, position: (position ?? index) + 1)
    }

    private mutating func skipBlanks() {
        while index < characters.count, characters[index].isWhitespace { index += 1 }
    }

    mutating func end() throws(PredicateError) {
        skipBlanks()
        if index < characters.count { throw error("expected 'and', 'or' or the end") }
    }

    /// Converts the written text to the value for a comparison.
    typealias Meaning = (
        SamplePredicate.Field, SamplePredicate.Comparison, SamplePredicate.Written
    ) throws(PredicateError) -> SamplePredicate.Literal

    mutating func disjunction(depth: Int, _ meaning: Meaning) throws(PredicateError) -> SamplePredicate {
        var parts = [try conjunction(depth: depth, meaning)]
        while takeWord("or") { parts.append(try conjunction(depth: depth, meaning)) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction(depth: Int, _ meaning: Meaning) throws(PredicateError) -> SamplePredicate {
        var parts = [try negation(depth: depth, meaning)]
        while takeWord("and") { parts.append(try negation(depth: depth, meaning)) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation(depth: Int, _ meaning: Meaning) throws(PredicateError) -> SamplePredicate {
        guard depth < 64 else { throw error("the condition is nested too deeply") }
        if takeWord("not") { return .not(try negation(depth: depth + 1, meaning)) }
        skipBlanks()
        if index < characters.count, characters[index] == "(" {
            index += 1
            let inner = try disjunction(depth: depth + 1, meaning)
            skipBlanks()
            guard index < characters.count, characters[index] == ")" else { throw error("expected ')'") }
            index += 1
            return inner
        }
        if takeWord("everything") { return .everything }
        if takeWord("nothing") { return .or([]) }
        let field = try field()
        let comparison = try comparison()
        return .comparison(field, comparison, try meaning(field, comparison, try written()))
    }

    private mutating func takeWord(_ word: String) -> Bool {
        skipBlanks()
        let end = index + word.count
        guard end <= characters.count, String(characters[index..<end]).lowercased() == word,
            end == characters.count || characters[end].isWhitespace || "()".contains(characters[end])
        else { return false }
        index = end
        return true
    }

    private mutating func field() throws(PredicateError) -> SamplePredicate.Field {
        skipBlanks()
        let start = index
        while index < characters.count,
            characters[index].isLetter || characters[index].isNumber || "._".contains(characters[index])
        {
            index += 1
        }
        let name = String(characters[start..<index])
        // A key with special characters is in quotes.
        if name == "metadata.", index < characters.count, characters[index] == "'" || characters[index] == "\"" {
            let key = try quoted()
            if !key.isEmpty { return .metadata(MetadataKey(rawKey: key)?.name ?? key) }
        }
        if let field = SamplePredicate.Field(named: name) { return field }
        if name.isEmpty { throw error("expected a field such as value or source.name", at: start) }
        throw error("there is no field '\(name.excerpt())': \(Self.fields(instead: name))", at: start)
    }

    /// The accepted alternatives to an unknown field name.
    private static func fields(instead name: String) -> String {
        if name.hasPrefix("fhir.code.") || name.hasPrefix("code.") {
            return "systems of codes are \(CodeSystems.all.map(\.name).joined(separator: ", "))"
        }
        if name.hasPrefix("date.") { return "dates are \(ClinicalRecord.dateNames.joined(separator: ", "))" }
        if name.hasPrefix("statistics.") {
            return
                "statistics are written statistics.TYPE.FIGURE, with a type of quantities and \(ObjectField.figures.joined(separator: ", "))"
        }
        return "fields are \((SamplePredicate.fields + ObjectField.names).joined(separator: ", "))"
    }

    private mutating func comparison() throws(PredicateError) -> SamplePredicate.Comparison {
        skipBlanks()
        for comparison in SamplePredicate.Comparison.allCases where !comparison.rawValue.isEmpty {
            let symbol = comparison.rawValue
            guard index + symbol.count <= characters.count, String(characters[index..<index + symbol.count]) == symbol else {
                continue
            }
            index += symbol.count
            // `==` is what programmers write.
            if comparison == .equal, index < characters.count, characters[index] == "=" { index += 1 }
            return comparison
        }
        throw error("expected =, !=, <, <=, >, >=, ~ or ^=")
    }

    private mutating func written() throws(PredicateError) -> SamplePredicate.Written {
        skipBlanks()
        guard index < characters.count else { throw error("expected a value to compare with") }
        let quote = characters[index]
        let start = index
        if quote == "'" || quote == "\"" { return SamplePredicate.Written(text: try quoted(), position: start) }
        let word = try word()
        if word == "*" { return SamplePredicate.Written(text: word, position: start, isAnything: true) }
        let end = index
        skipBlanks()
        let hasUnit =
            (try? Numeral(word)) != nil && index < characters.count && characters[index] != ")" && !takesWord("and")
            && !takesWord("or")
        guard hasUnit else {
            index = end
            return SamplePredicate.Written(text: word, position: start)
        }
        let code = try self.word()
        do throws(UnitError) {
            _ = try Unit(written: code)
        } catch {
            throw self.error("\(error)", at: start)
        }
        return SamplePredicate.Written(text: word, unit: code, position: start)
    }

    /// Parses a text in quotes. Quotes within it are doubled.
    private mutating func quoted() throws(PredicateError) -> String {
        let (start, quote) = (index, characters[index])
        var text: [Character] = []
        index += 1
        while index < characters.count {
            let character = characters[index]
            index += 1
            if character == quote {
                guard index < characters.count, characters[index] == quote else { return try checked(text, at: start) }
                index += 1
            }
            text.append(character)
        }
        throw error("the quote is not closed", at: start)
    }

    private func takesWord(_ word: String) -> Bool {
        var copy = self
        return copy.takeWord(word)
    }

    /// Up to the next blank, or to a parenthesis that was not opened in the word.
    private mutating func word() throws(PredicateError) -> String {
        let start = index
        var depth = 0
        while index < characters.count, !characters[index].isWhitespace {
            if characters[index] == "(" { depth += 1 }
            if characters[index] == ")" {
                if depth == 0 { break }
                depth -= 1
            }
            index += 1
        }
        guard index > start else { throw error("expected a value to compare with") }
        return try checked(characters[start..<index], at: start)
    }

    private func checked(_ characters: some Sequence<Character>, at start: Int) throws(PredicateError) -> String {
        let text = String(characters)
        guard text.utf8.count <= SamplePredicate.maximumTextLength else {
            throw error("a text in a condition has at most \(SamplePredicate.maximumTextLength) bytes", at: start)
        }
        return text
    }
}

extension SamplePredicate.Field {
    private static let byName: [String: SamplePredicate.Field] = {
        let plain: [SamplePredicate.Field] = [
            .value, .category, .start, .end, .duration, .zone, .person, .group, .type, .kind, .uuid, .fromWorkout,
            .inCorrelation,
            .timeOrigin, .received, .originalValue, .originalUnit,
        ]
        return Dictionary(plain.map { ($0.description, $0) }, uniquingKeysWith: { first, _ in first })
    }()

    /// The field with this name, or `nil` if it does not exist.
    public init?(named name: String) {
        if let field = Self.byName[name] {
            self = field
            return
        }
        if let field = ObjectField(named: name) {
            self = .object(field)
            return
        }
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "source":
            guard let property = SamplePredicate.SourceProperty(rawValue: parts[1]) else { return nil }
            self = .source(property)
        case "device":
            guard let property = SamplePredicate.DeviceProperty(rawValue: parts[1]) else { return nil }
            self = .device(property)
        case "metadata": self = .metadata(MetadataKey(rawKey: parts[1])?.name ?? parts[1])
        default: return nil
        }
    }
}
