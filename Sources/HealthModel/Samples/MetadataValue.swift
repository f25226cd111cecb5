/// What is said about a sample under one key.
public enum MetadataValue: Hashable, Sendable {
    /// A text, or the name of an enumeration's value.
    case string(String)
    /// A number with the digits it came with.
    case number(Numeral)
    /// A yes or no.
    case boolean(Bool)
    /// A number and its unit, such as the air's temperature.
    case quantity(Numeral, Unit)

    /// The value as JSON: `"armpit"`, `2`, `true`, `{"value":54,"unit":"[degF]"}`.
    public var json: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .string(let text): JSONText.write(text, to: &bytes)
        case .number(let numeral): bytes += JSONText.number(numeral).utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .quantity(let numeral, let unit):
            bytes += "{\"value\":".utf8
            bytes += JSONText.number(numeral).utf8
            bytes += ",\"unit\":".utf8
            JSONText.write(unit.code, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

/// JSON's spelling of strings and numbers (RFC 8259).
enum JSONText {
    static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x20:
                bytes += "\\u00".utf8
                bytes.append(hexadecimal(byte >> 4))
                bytes.append(hexadecimal(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }

    /// A numeral's own text where JSON allows it (`54.0`, `1e3`), else its canonical text (`+5`, `.5`, `007`).
    static func number(_ numeral: Numeral) -> String {
        if numeral.isPlain { return numeral.text }
        return isNumber(numeral.text) ? numeral.text : numeral.canonicalText
    }

    static func isNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let integer = digits(&rest)
        guard integer.count == 1 || (integer.count > 1 && integer.first != UInt8(ascii: "0")) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            if digits(&rest).isEmpty { return false }
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            if digits(&rest).isEmpty { return false }
        }
        return rest.isEmpty
    }

    private static func digits(_ rest: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = rest.prefix { $0 &- UInt8(ascii: "0") < 10 }
        rest = rest[digits.endIndex...]
        return digits
    }
}
