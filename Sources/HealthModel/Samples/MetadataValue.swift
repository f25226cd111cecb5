/// The value of one metadata key of a sample.
public enum MetadataValue: Hashable, Sendable {
    /// A text, or the name of an enumeration's value.
    case string(String)
    /// A number with the digits it came with.
    case number(Numeral)
    /// A yes or no.
    case boolean(Bool)
    /// A number and its unit, such as the air's temperature.
    case quantity(Numeral, Unit)

    /// The value as JSON: `"armpit"`, `2`, `true`, `{"value":54,"unit":"[degF]"}`. It is the stored form: see ``JSONText``.
    public var json: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .string(let text): JSONText.append(stored: text, to: &bytes)
        case .number(let numeral): bytes += JSONText.number(numeral).utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .quantity(let numeral, let unit):
            bytes += "{\"value\":".utf8
            bytes += JSONText.number(numeral).utf8
            bytes += ",\"unit\":".utf8
            JSONText.append(stored: unit.code, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
