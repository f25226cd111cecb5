import FoundationEssentials
import HTTPServerKit
import HealthModel

/// A condition as JSON, with the operators of the condition language:
///
///     {"and":[{"field":"value","is":">","value":38,"unit":"Cel"},{"not":{"field":"source.name","is":"~","value":"Ear"}}]}
///     {"field":"metadata.bloodGlucoseMealTime","exists":true}
///
/// It is converted to text and parsed by the same parser, so that both forms give the same tree.
struct ConditionObject: Decodable {
    private let condition: String

    /// The text of the condition.
    ///
    /// - Throws: ``Problem`` 422 if the object is invalid.
    static func text(of json: String) throws(Problem) -> String {
        guard json.utf8.count <= SamplePredicate.maximumLength else {
            throw Problem(422, "The condition in 'where' is too long.")
        }
        // The depth has the same limit as in the condition parser, since the decoder recurses for each level.
        var (depth, deepest) = (0, 0)
        for byte in json.utf8 {
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
            if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { depth -= 1 }
            deepest = max(deepest, depth)
        }
        guard deepest <= 128 else { throw Problem(422, "The condition in 'where' is nested too deeply.") }
        do {
            return try JSONDecoder().decode(ConditionObject.self, from: Data(json.utf8)).condition
        } catch {
            throw Problem(
                422,
                "'where' must be a JSON object with and, or, not, field + is + value (+ unit), or field + exists."
            )
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private struct Malformed: Error {}

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let names = Set(members.allKeys.map(\.stringValue))
        func key(_ name: String) -> Key { Key(stringValue: name) }
        switch names {
        case ["and"], ["or"]:
            let word = names.first ?? ""
            let parts = try members.decode([ConditionObject].self, forKey: key(word))
            // An empty `and` matches every sample, and an empty `or` matches none.
            condition =
                parts.isEmpty
                ? word == "and" ? "everything" : "nothing" : "(" + parts.map(\.condition).joined(separator: " \(word) ") + ")"
        case ["not"]: condition = "not " + (try members.decode(ConditionObject.self, forKey: key("not")).condition)
        case ["field", "exists"]:
            let field = Self.field(try members.decode(String.self, forKey: key("field")))
            condition = (try members.decode(Bool.self, forKey: key("exists")) ? "" : "not ") + field + " = *"
        case ["field", "is", "value"], ["field", "is", "value", "unit"]:
            let word = try members.decode(String.self, forKey: key("is"))
            guard SamplePredicate.Comparison(rawValue: word) != nil else { throw Malformed() }
            let unit = try members.decodeIfPresent(String.self, forKey: key("unit"))
            let value = try Self.value(members, key("value"), isNumber: unit != nil)
            if let unit { _ = try Unit(written: unit) }
            guard unit?.contains(where: \.isWhitespace) != true else { throw Malformed() }
            let field = Self.field(try members.decode(String.self, forKey: key("field")))
            condition = "\(field) \(word) \(value)" + (unit.map { " " + $0 } ?? "")
        default: throw Malformed()
        }
    }

    /// The name of a field. Metadata keys with special characters are quoted.
    private static func field(_ name: String) -> String {
        let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
        if !isPlain, name.hasPrefix("metadata.") { return "metadata." + quoted(String(name.dropFirst("metadata.".count))) }
        // An invalid field name is quoted, so that it cannot inject syntax and the parser reports it.
        return isPlain ? name : quoted(name)
    }

    private static func value(_ members: KeyedDecodingContainer<Key>, _ key: Key, isNumber: Bool) throws -> String {
        if let flag = try? members.decode(Bool.self, forKey: key) { return "\(flag)" }
        if let number = try? members.decode(Int64.self, forKey: key) { return "\(number)" }
        if let number = try? members.decode(Double.self, forKey: key) { return "\(number)" }
        let text = try members.decode(String.self, forKey: key)
        guard isNumber else { return quoted(text) }
        guard (try? Numeral(text)) != nil else { throw Malformed() }
        return text
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}
