/// Appends parts of a JSON text (RFC 8259) to a UTF-8 buffer.
///
/// A string has two forms. A *line* for output also escapes Unicode control characters and line separators that JSON allows. A line of
/// NDJSON in a terminal must not control it, and must be one line for every reader. The *stored* form keeps them, because stores search
/// metadata by this text byte by byte, so it never changes. Both are the same string for a JSON parser.
public enum JSONText {
    /// Appends a string with its quotation marks, for a line.
    public static func append(string: some StringProtocol, to buffer: inout [UInt8]) {
        let start = buffer.count
        append(stored: string, to: &buffer)
        escapeForLine(&buffer, from: start)
    }

    /// Appends a string with its quotation marks, for a line. Most strings are copied unchanged.
    public static func append(string: String, to buffer: inout [UInt8]) {
        var string = string
        let isDone = string.withUTF8 { bytes in
            // All characters that a line escapes are among these, or start with one of them.
            guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else {
                return false
            }
            buffer.append(UInt8(ascii: "\""))
            buffer.append(contentsOf: bytes)
            buffer.append(UInt8(ascii: "\""))
            return true
        }
        if !isDone { append(string: string[...], to: &buffer) }
    }

    /// Appends existing JSON, such as the stored form of metadata, for a line.
    public static func append(json: some Sequence<UInt8>, to buffer: inout [UInt8]) {
        let start = buffer.count
        buffer.append(contentsOf: json)
        escapeForLine(&buffer, from: start)
    }

    /// Appends a string with its quotation marks in the stored form, escaping only characters that JSON requires to be escaped.
    static func append(stored text: some StringProtocol, to buffer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): buffer += "\\\"".utf8
            case UInt8(ascii: "\\"): buffer += "\\\\".utf8
            case 0x0A: buffer += "\\n".utf8
            case 0x0D: buffer += "\\r".utf8
            case 0x09: buffer += "\\t".utf8
            case 0..<0x20: append(escape: Unicode.Scalar(byte), to: &buffer)
            default: buffer.append(byte)
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }

    /// Escapes characters that JSON allows in a string and a line does not. JSON never has them outside of strings.
    private static func escapeForLine(_ buffer: inout [UInt8], from start: Int) {
        // DELETE, and the first bytes of U+0080...00BF and U+2000...2FFF. Most texts have none.
        guard let first = buffer[start...].firstIndex(where: { $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }) else { return }
        let rest = String(decoding: buffer[first...], as: UTF8.self)
        buffer.removeSubrange(first...)
        for scalar in rest.unicodeScalars {
            switch scalar {
            case "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}": append(escape: scalar, to: &buffer)
            default: buffer.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
    }

    private static func append(escape scalar: Unicode.Scalar, to buffer: inout [UInt8]) {
        let digits = String(scalar.value, radix: 16)
        buffer.append(contentsOf: #"\u"#.utf8)
        buffer.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
        buffer.append(contentsOf: digits.utf8)
    }

    // MARK: Numbers

    /// Appends the shortest decimal that reads back as the same number, `37.0` for a whole one. JSON has no infinities and no
    /// NaN: they are `null`.
    public static func append(number: Double, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: number.isFinite ? number.description.utf8 : "null".utf8)
    }

    /// Appends a whole number.
    public static func append(integer: some BinaryInteger, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: String(integer).utf8)
    }

    /// Appends `true` or `false`.
    public static func append(boolean: Bool, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: boolean ? "true".utf8 : "false".utf8)
    }

    /// A numeral's own text if it is valid JSON (`54.0`, `1e3`), or else its canonical text (`+5`, `.5`, `007`).
    static func number(_ numeral: Numeral) -> String {
        if numeral.isPlain { return numeral.text }
        return isNumber(numeral.text) ? numeral.text : numeral.canonicalText
    }

    static func isNumber(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var reader = JSONReader<JSONFault>(UnsafeRawBufferPointer(bytes), maximumDepth: 0)
            return (try? reader.number()) != nil && reader.isAtEnd
        }
    }
}
