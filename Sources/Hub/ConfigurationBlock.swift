/// The lines that `vitalgate setup` adds to a configuration file, and removes again. All other text of the file stays as it is.
package enum ConfigurationBlock {
    private static let begin = "    // Added by 'vitalgate setup', removed by 'vitalgate setup --undo'."
    private static let end = "    // End of 'vitalgate setup'."

    package static func isPresent(in text: String) -> Bool { range(in: text) != nil }

    /// Adds members as the first ones of the outermost object. An empty text becomes an object.
    ///
    /// - Parameter members: lines of JSON5, each with a comma at its end.
    /// - Returns: the new text, or `nil` if the text has no object.
    package static func adding(_ members: [String], to text: String) -> String? {
        let block = ([begin] + members.map { "    " + $0 } + [end]).joined(separator: "\n") + "\n"
        if text.allSatisfy(\.isWhitespace) { return "{\n\(block)}\n" }
        guard let brace = outermostBrace(of: text) else { return nil }
        let rest = text[text.index(after: brace)...]
        // The rest of the brace's line stays after the block.
        let isAlone = rest.first == "\n"
        return text[...brace] + "\n" + block + (isAlone ? rest.dropFirst() : rest)
    }

    /// Removes the lines.
    ///
    /// - Returns: the new text, or `nil` if the text does not have them.
    package static func removed(from text: String) -> String? {
        guard let range = range(in: text) else { return nil }
        var text = text
        text.removeSubrange(range)
        return text
    }

    private static func range(in text: String) -> Range<String.Index>? {
        guard let first = text.firstRange(of: begin + "\n"),
            let last = text[first.upperBound...].firstRange(of: end + "\n")
        else { return nil }
        return first.lowerBound..<last.upperBound
    }

    /// The first brace outside of comments, if nothing but blanks and comments precedes it.
    private static func outermostBrace(of text: String) -> String.Index? {
        var rest = text[...]
        while let first = rest.first {
            if first.isWhitespace {
                rest = rest.dropFirst()
            } else if rest.hasPrefix("//") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                guard let end = rest.firstRange(of: "*/") else { return nil }
                rest = rest[end.upperBound...]
            } else {
                return first == "{" ? rest.startIndex : nil
            }
        }
        return nil
    }
}
