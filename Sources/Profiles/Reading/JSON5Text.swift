/// Writes texts in JSON5.
enum JSON5Text {
    /// Returns the text in double quotes, or in single quotes if it contains double ones.
    static func quoted(_ text: String) -> String {
        let quote: Character = text.contains("\"") && !text.contains("'") ? "'" : "\""
        let escaped = text.map { letter -> String in
            switch letter {
            case quote, "\\": "\\\(letter)"
            case "\t": "\\t"
            case _ where letter.isNewline: " "
            default: String(letter)
            }
        }
        return "\(quote)\(escaped.joined())\(quote)"
    }
}
