/// Wraps text to a width in columns.
enum TextWrapping {
    /// Puts atoms, which are never split, on lines. The first line begins with `prefix`, the others with `indent` spaces.
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

    /// Splits a text into paragraphs of words. An empty line separates paragraphs, and a single line break is a space.
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
