import FoundationEssentials

/// Any JSON, to examine the program's output.
enum JSON: Decodable, Hashable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case list([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
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

    init(_ line: String) throws { self = try JSONDecoder().decode(JSON.self, from: Data(line.utf8)) }

    subscript(key: String) -> JSON {
        if case .object(let fields) = self { fields[key] ?? .null } else { .null }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var double: Double? { if case .number(let number) = self { number } else { nil } }
    var integer: Int? { double.flatMap { Int(exactly: $0) } }
    var list: [JSON] { if case .list(let values) = self { values } else { [] } }
    var object: [String: JSON] { if case .object(let fields) = self { fields } else { [:] } }

    /// The keys of an object's text in their order, only the outer ones.
    static func keys(of line: String) -> [String] {
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

extension Vitalgate.Run {
    /// Each line of standard output as JSON.
    func objects() throws -> [JSON] { try lines.map { try JSON($0) } }
}

/// The ledger's account as `import` and `ledger show` print it.
struct Account: Decodable, Hashable {
    var ingest: Int?
    var file: String?
    var profile: String?
    var read: Int
    var stored: Int
    var duplicate: Int
    var quarantined: Int
    var refused: Int
    var skipped: [String: Int]
    var state: String?
    var zone: String?

    init(_ line: String) throws { self = try JSONDecoder().decode(Account.self, from: Data(line.utf8)) }

    /// Promise 1: every reading ended in exactly one place.
    var addsUp: Bool { read == stored + duplicate + quarantined + refused }
}
