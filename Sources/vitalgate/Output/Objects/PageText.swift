import CommandLineKit

/// A page about one thing: a heading, labelled rows, and sections with tables. Whatever comes from outside is made harmless.
struct PageText {
    private(set) var text = ""
    private let terminal: Terminal

    /// Where values begin.
    private static let indent = 15

    init(terminal: Terminal) { self.terminal = terminal }

    /// How wide a drawing may be.
    var width: Int { min(terminal.width ?? 80, 120) }
    var isUnicode: Bool { terminal.isUnicode }

    mutating func heading(_ words: String) { text += TerminalText.sanitized(words) + "\n" }

    /// A row with its label; none where there is no value.
    mutating func row(_ label: String, _ value: String?) {
        guard let value, !value.isEmpty else { return }
        let label = TerminalText.sanitized(label)
        let gap = max(1, Self.indent - 2 - TerminalText.width(label))
        text += "  " + label + String(repeating: " ", count: gap) + TerminalText.sanitized(value) + "\n"
    }

    /// A section that a table follows.
    mutating func table(_ title: String, _ columns: [TextTable.Column], _ rows: [[String]], limit: Int = 200) {
        guard !rows.isEmpty else { return }
        var table = TextTable(columns: columns)
        for row in rows.prefix(limit) { table.append(row) }
        text += "\n\(TerminalText.sanitized(title))\n"
        let lines = table.rendered(width: terminal.width.map { $0 - 2 }, unicode: isUnicode)
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { text += "  \(line)\n" }
        if rows.count > limit { text += "  and \(Readable.count(rows.count - limit)) more; --format ndjson has them all\n" }
    }

    /// A drawing as it is, with a title above.
    mutating func drawing(_ title: String, _ lines: [String]) {
        guard !lines.isEmpty else { return }
        if !title.isEmpty { text += "\n\(TerminalText.sanitized(title))\n" }
        for line in lines {
            var line = line
            while line.last == " " { line.removeLast() }
            text += "  \(line)\n"
        }
    }

    /// A sentence of its own at the end.
    mutating func hint(_ words: String) { text += "\n  \(words)\n" }
}
