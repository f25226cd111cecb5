/// The pieces of a JSON text (RFC 8259), appended to a buffer of UTF-8.
public enum JSONText {
    /// Appends a string with its quotation marks.
    ///
    /// Beyond what has to be escaped, so are the other control characters and the line separators of Unicode: a line of NDJSON
    /// that is read in a terminal must not drive it, and must be one line to every reader.
    public static func append(string: some StringProtocol, to buffer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "\""))
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": buffer.append(contentsOf: #"\""#.utf8)
            case "\\": buffer.append(contentsOf: #"\\"#.utf8)
            case "\n": buffer.append(contentsOf: #"\n"#.utf8)
            case "\r": buffer.append(contentsOf: #"\r"#.utf8)
            case "\t": buffer.append(contentsOf: #"\t"#.utf8)
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}": append(escape: scalar, to: &buffer)
            default: buffer.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }

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

    private static func append(escape scalar: Unicode.Scalar, to buffer: inout [UInt8]) {
        let digits = String(scalar.value, radix: 16)
        buffer.append(contentsOf: #"\u"#.utf8)
        buffer.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
        buffer.append(contentsOf: digits.utf8)
    }
}
