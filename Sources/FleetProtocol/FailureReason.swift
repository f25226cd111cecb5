/// The reason why an order failed, in the form in which it may leave the hub: one bounded line without names and measured values.
///
/// A program prints its reason for people who may read everything on the hub. Here, a quoted text and a word with a digit are replaced by
/// `…`, unless the center itself wrote them into the order. The place of a crash in the source is left as it is.
package struct FailureReason: Codable, Hashable, Sendable {
    /// The reason, not empty.
    package var reason: String

    private static let maximumLength = 512
    /// How Swift reports the end of a program, after the place in the source.
    private static let crashes = [": Fatal error", ": Assertion failed", ": Precondition failed"]

    /// The reason among the errors that a program has printed, or `nil` if it printed none.
    ///
    /// - Parameters:
    ///   - errors: The standard error output.
    ///   - arguments: The arguments of the order.
    package init?(errors: String, mentioning arguments: [String] = []) {
        let lines = errors.split(whereSeparator: \.isNewline).filter { $0.contains { !$0.isWhitespace } }
        let crash = lines.last { line in Self.crashes.contains { line.contains(".swift:") && line.contains($0) } }
        guard let line = crash ?? lines.last(where: { $0.hasPrefix("vitalgate") }) ?? lines.last else { return nil }
        var text = Self.masked(line, arguments)
        while text.utf8.count > Self.maximumLength { text.removeLast() }
        reason = text
    }

    /// Replaces quoted texts that the order does not contain, and words with digits.
    private static func masked(_ line: Substring, _ arguments: [String]) -> String {
        var (text, rest, before) = ("", line, Character(" "))
        while let first = rest.first {
            guard first == "'" || first == "\"", !isPartOfWord(before) else {
                let word = rest.prefix { $0 != " " }
                text += word.isEmpty ? " " : masked(word: word, arguments)
                rest = rest.dropFirst(max(word.count, 1))
                before = text.last ?? " "
                continue
            }
            let quoted = rest.dropFirst()
            let end = quoted.indices.first { index in
                quoted[index] == first && quoted[quoted.index(after: index)...].first.map { !isPartOfWord($0) } ?? true
            }
            let content = quoted[..<(end ?? quoted.endIndex)]
            // Commands and options are the program's own words.
            if content.hasPrefix("vitalgate ") || content.hasPrefix("--") {
                text +=
                    "\(first)\(content.split(separator: " ").map { masked(word: $0, arguments) }.joined(separator: " "))\(first)"
            } else {
                text += arguments.contains { $0.contains(content) } ? "\(first)\(content)\(first)" : "\(first)…\(first)"
            }
            rest = end.map { quoted[quoted.index(after: $0)...] } ?? ""
            before = first
        }
        return text
    }

    private static func masked(word: Substring, _ arguments: [String]) -> String {
        guard word.contains(where: \.isNumber), !word.contains(".swift:") else { return String(word) }
        let core = word.drop { !isPartOfWord($0) }
        return arguments.contains { $0.contains(core) } ? String(word) : "…"
    }

    private static func isPartOfWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
