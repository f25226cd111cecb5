/// Keys and texts as a person writes them in JSON5.
package enum JSON5Text {
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\" + String(scalar)
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// A key, in quotes if it needs them.
    static func key(_ text: String) -> String {
        let isLetter: (UInt8) -> Bool = { ($0 | 0x20) &- 0x61 < 26 || $0 == UInt8(ascii: "_") }
        let isName = text.utf8.first.map(isLetter) == true && text.utf8.allSatisfy { isLetter($0) || $0 &- 0x30 < 10 }
        return isName ? text : quoted(text)
    }

    static func object(_ members: [(key: String, value: String)]) -> String {
        "{ " + members.map { "\(key($0.key)): \($0.value)" }.joined(separator: ", ") + " }"
    }
}
