import FoundationEssentials

/// Any JSON, to examine an output.
package enum JSON: Codable, Hashable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case list([JSON])
    case object([String: JSON])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    package init(_ line: String) throws { self = try JSONDecoder().decode(JSON.self, from: Data(line.utf8)) }

    package subscript(key: String) -> JSON {
        if case .object(let fields) = self { fields[key] ?? .null } else { .null }
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }
    package var double: Double? { if case .number(let number) = self { number } else { nil } }
    package var integer: Int? { double.flatMap { Int(exactly: $0) } }
    package var list: [JSON] { if case .list(let values) = self { values } else { [] } }
    package var object: [String: JSON] { if case .object(let fields) = self { fields } else { [:] } }

    /// The keys of an object's text in their order, only the outer ones.
    package static func keys(of line: String) -> [String] {
        var keys: [String] = []
        var depth = 0
        var inText = false
        var escaped = false
        var text = ""
        for character in line {
            if inText {
                if escaped {
                    escaped = false
                } else if character == "\\" {
                    escaped = true
                } else if character == "\"" {
                    inText = false
                    continue
                }
                text.append(character)
                continue
            }
            switch character {
            case "\"":
                inText = true
                text = ""
            case "{", "[": depth += 1
            case "}", "]": depth -= 1
            case ":": if depth == 1 { keys.append(text) }
            default: break
            }
        }
        return keys
    }
}
