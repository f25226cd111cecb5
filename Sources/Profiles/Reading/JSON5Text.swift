/// Texts as JSON5 writes them.
enum JSON5Text {
    /// In double quotes; single ones where the text itself has double ones.
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
