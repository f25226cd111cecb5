import CommandLineKit

/// A text page with a heading, labelled rows, and sections with tables. Text from outside is sanitized.
struct PageText {
    private(set) var text = ""
    private let terminal: Terminal

    /// The column at which values begin.
    private static let indent = 15

    init(terminal: Terminal) { self.terminal = terminal }

    /// The maximum width of a drawing.
    var width: Int { min(terminal.width ?? 80, 120) }
    var isUnicode: Bool { terminal.isUnicode }

    mutating func heading(_ words: String) { text += TerminalText.sanitized(words) + "\n" }

    /// Adds a row with a label, unless the value is empty.
    mutating func row(_ label: String, _ value: String?) {
        guard let value, !value.isEmpty else { return }
        let label = TerminalText.sanitized(label)
        let gap = max(1, Self.indent - 2 - TerminalText.width(label))
        text += "  " + label + String(repeating: " ", count: gap) + TerminalText.sanitized(value) + "\n"
    }

    mutating func table(_ title: String, _ columns: [TextTable.Column], _ rows: [[String]], limit: Int = 200) {
        guard !rows.isEmpty else { return }
        var table = TextTable(columns: columns)
        for row in rows.prefix(limit) { table.append(row) }
        text += "\n\(TerminalText.sanitized(title))\n"
        let lines = table.rendered(width: terminal.width.map { $0 - 2 }, unicode: isUnicode)
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { text += "  \(line)\n" }
        if rows.count > limit { text += "  and \(Readable.count(rows.count - limit)) more (use --format ndjson to list all)\n" }
    }

    /// Adds a drawing unchanged, with a title above it.
    mutating func drawing(_ title: String, _ lines: [String]) {
        guard !lines.isEmpty else { return }
        if !title.isEmpty { text += "\n\(TerminalText.sanitized(title))\n" }
        for line in lines {
            var line = line
            while line.last == " " { line.removeLast() }
            text += "  \(line)\n"
        }
    }

    /// Adds a sentence at the end.
    mutating func hint(_ words: String) { text += "\n  \(words)\n" }
}
