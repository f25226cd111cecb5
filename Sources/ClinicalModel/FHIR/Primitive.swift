import HealthModel

/// FHIR's primitive types (https://hl7.org/fhir/R4/datatypes.html#primitive), with checks of their JSON form.
enum Primitive: String, Hashable, Sendable {
    case boolean, integer, string, decimal, uri, url, canonical, base64Binary, instant, date, dateTime, time, code, oid, id
    case markdown, unsignedInt, positiveInt, uuid, xhtml

    /// The maximum length of a text in bytes, 1024 * 1024. Attachments are limited only by the resource.
    static let maximumTextLength = 1 << 20
    /// The maximum number of digits. Measurements have fewer.
    static let maximumNumberLength = 128

    /// The error in a value of this type, or `nil` if it is valid.
    func fault(of node: Int, in tape: borrowing JSONTape) -> String? {
        let value = tape.nodes[node]
        let bytes = tape.bytes(of: node)
        switch self {
        case .boolean: return value.kind == .yes || value.kind == .no ? nil : "is not true or false"
        case .integer, .unsignedInt, .positiveInt: return value.kind == .number ? wholeNumberFault(bytes) : "is not a number"
        case .decimal:
            guard value.kind == .number else { return "is not a number" }
            return bytes.count <= Self.maximumNumberLength ? nil : "has more than \(Self.maximumNumberLength) digits"
        default: break
        }
        guard value.kind == .string else { return "is not a text" }
        guard !bytes.isEmpty else { return "is empty" }
        if self == .base64Binary { return Self.isBase64(bytes, isEscaped: value.isEscaped) ? nil : "is not Base64" }
        guard bytes.count <= Self.maximumTextLength else { return "is longer than \(Self.maximumTextLength >> 20) MiB" }
        return textFault(bytes, isEscaped: value.isEscaped, node, tape)
    }

    private func textFault(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool, _ node: Int, _ tape: borrowing JSONTape) -> String? {
        switch self {
        case .string, .markdown: return nil
        case .xhtml:
            let start =
                isEscaped ? Substring(tape.text(node).prefix(64)) : Substring(String(decoding: bytes.prefix(64), as: UTF8.self))
            return start.drop(while: \.isWhitespace).hasPrefix("<div") ? nil : "is not a div of XHTML"
        case .uri, .url, .canonical, .oid, .uuid:
            return bytes.contains { $0 <= 0x20 } ? "is not a URI" : nil
        case .code: return isCode(bytes) ? nil : "is not a code"
        case .id: return Self.isIdentifier(bytes) ? nil : "is not an id of letters, digits, - and ."
        case .date: return DateForms.isDate(bytes) ? nil : "is not a date (YYYY, YYYY-MM or YYYY-MM-DD)"
        case .dateTime: return DateForms.isDateTime(bytes) ? nil : "is not a date, or a time with a zone"
        case .instant: return DateForms.isInstant(bytes) ? nil : "is not an instant (YYYY-MM-DDThh:mm:ss with a zone)"
        case .time: return DateForms.isTime(bytes) ? nil : "is not a time of day (hh:mm:ss)"
        default: return nil
        }
    }

    private func wholeNumberFault(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count <= 11, let number = Int64(String(decoding: bytes, as: UTF8.self)), Int32(exactly: number) != nil
        else {
            return "is not a whole number of 32 bits"
        }
        if self == .unsignedInt, number < 0 { return "is negative" }
        if self == .positiveInt, number < 1 { return "is not positive" }
        return nil
    }

    /// Whether the code has no blank at either end and no two blanks in sequence.
    private func isCode(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var wasBlank = true
        for byte in bytes {
            guard byte >= 0x20 else { return false }
            if byte == 0x20, wasBlank { return false }
            wasBlank = byte == 0x20
        }
        return !wasBlank
    }

    /// Whether the text is 1 to 64 letters, digits, `-` and `.`.
    static func isIdentifier(_ bytes: some Collection<UInt8>) -> Bool {
        (1...64).contains(bytes.count)
            && bytes.allSatisfy { byte in
                byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".")
            }
    }

    /// Whether the text has the alphabet of RFC 4648 in groups of four. Blanks are allowed.
    private static func isBase64(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool) -> Bool {
        var (count, padding, index) = (0, 0, 0)
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "+"), UInt8(ascii: "/"):
                guard padding == 0 else { return false }
                count += 1
            case UInt8(ascii: "="): padding += 1
            case 0x20: break
            case UInt8(ascii: "\\") where isEscaped && index < bytes.count:
                // Escaped line breaks, and the slash, which some programs escape.
                let letter = bytes[index]
                index += 1
                if letter == UInt8(ascii: "/") {
                    guard padding == 0 else { return false }
                    count += 1
                } else if letter != UInt8(ascii: "n"), letter != UInt8(ascii: "r"), letter != UInt8(ascii: "t") {
                    return false
                }
            default: return false
            }
        }
        return padding <= 2 && (count + padding) % 4 == 0
    }
}
