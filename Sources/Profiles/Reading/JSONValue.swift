import FoundationEssentials

/// A JSON5 document as it stands, before anything is known about its meaning.
///
/// Profiles are read in two steps, JSON5 to this tree and the tree to a profile, because a person who writes one wants to hear
/// of all mistakes at once; a decoder stops at the first.
enum JSONValue: Decodable, Hashable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Texts first: a profile is mostly texts, and each guess that is wrong costs an error.
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let container = try? decoder.container(keyedBy: Key.self) {
            var object: [String: JSONValue] = [:]
            for key in container.allKeys { object[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
            self = .object(object)
        } else if var container = try? decoder.unkeyedContainer() {
            var array: [JSONValue] = []
            while !container.isAtEnd { array.append(try container.decode(JSONValue.self)) }
            self = .array(array)
        } else if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .boolean(flag)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Parses JSON5 text.
    static func parse(json5 bytes: [UInt8]) throws(ProfileProblem) -> JSONValue {
        if let fault = JSON5Fault.unreadable(in: bytes) { throw ProfileProblem("", "not JSON5: \(fault)") }
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            return try decoder.decode(JSONValue.self, from: Data(bytes))
        } catch let DecodingError.dataCorrupted(context) {
            // No words of Foundation's, which speak of Swift's types.
            let place = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
            let fault = JSON5Fault.find(in: bytes)?.description
            let detail = fault ?? "a value cannot be read" + (place.isEmpty ? "" : ": '\(place)'")
            throw ProfileProblem("", "not JSON5: \(detail)")
        } catch {
            throw ProfileProblem("", "not JSON5: it cannot be read")
        }
    }

    /// Whether this text stands in it anywhere, as a value.
    func holds(_ text: String) -> Bool {
        switch self {
        case .string(let own): own == text
        case .array(let array): array.contains { $0.holds(text) }
        case .object(let object): object.values.contains { $0.holds(text) }
        default: false
        }
    }

    /// What it is, for a person.
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
