/// A parsed JSON5 document, before its meaning is known.
///
/// Profiles are read in two steps, from JSON5 to this tree and from the tree to a profile, so that all mistakes can be reported at once.
enum JSONValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Parses JSON5 text.
    static func parse(json5 bytes: [UInt8]) throws(ProfileProblem) -> JSONValue {
        do throws(JSON5Fault) {
            return try JSON5Fault.parse(bytes)
        } catch {
            throw ProfileProblem("", "not JSON5: \(error)")
        }
    }

    /// Whether this text occurs anywhere in the tree as a value.
    func contains(_ text: String) -> Bool {
        switch self {
        case .string(let own): own == text
        case .array(let array): array.contains { $0.contains(text) }
        case .object(let object): object.values.contains { $0.contains(text) }
        default: false
        }
    }

    var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "true or false"
        case .number: "a number"
        case .string: "a text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
