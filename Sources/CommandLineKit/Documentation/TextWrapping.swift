/// Text broken into lines of a width in columns.
enum TextWrapping {
    /// Puts atoms, which are never broken, on lines: the first begins with `prefix`, the others with `indent` spaces.
    static func lines(of atoms: [String], width: Int, prefix: String = "", indent: Int = 0) -> [String] {
        var lines: [String] = []
        var line = prefix
        var used = TerminalText.width(prefix)
        var isEmpty = true
        for atom in atoms {
            let length = TerminalText.width(atom)
            if !isEmpty, used + 1 + length > width {
                lines.append(line)
                line = String(repeating: " ", count: indent)
                used = indent
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + atom
            used += (isEmpty ? 0 : 1) + length
            isEmpty = false
        }
        return lines + [line]
    }

    /// The paragraphs of a text, each as its words; an empty line separates them, a single line break is a space.
    static func paragraphs(_ text: String) -> [[String]] {
        var paragraphs: [[String]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ").map(String.init)
            if words.isEmpty {
                paragraphs.append([])
            } else {
                paragraphs[paragraphs.count - 1] += words
            }
        }
        return paragraphs.filter { !$0.isEmpty }
    }
}
