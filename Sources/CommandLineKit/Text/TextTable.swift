/// A table for a terminal, with two spaces between its columns.
///
/// ```swift
/// var table = TextTable(columns: [.init("type"), .init("value", .decimal)])
/// table.append(["heartRate", "61.5"])
/// print(table.rendered(width: 80), terminator: "")
/// ```
package struct TextTable: Sendable {
    package enum Alignment: Sendable, Equatable {
        case left
        /// For whole numbers.
        case right
        /// For decimal numbers, whose points are aligned.
        case decimal
    }

    /// A column, as wide as its widest cell.
    package struct Column: Sendable, Equatable {
        package var header: String
        package var alignment: Alignment
        /// The minimum width in a narrow terminal. Only left-aligned columns are cut, because half a number would be wrong.
        package var minimumWidth: Int

        /// - Parameter minimumWidth: in columns of the terminal.
        package init(_ header: String, _ alignment: Alignment = .left, minimumWidth: Int = 8) {
            self.header = header
            self.alignment = alignment
            self.minimumWidth = minimumWidth
        }
    }

    package let columns: [Column]
    private var rows: [[String]] = []

    /// Creates a table without rows.
    package init(columns: [Column]) {
        self.columns = columns
    }

    package var isEmpty: Bool { rows.isEmpty }

    /// Appends a row. Missing cells are empty, and surplus cells are dropped.
    package mutating func append(_ cells: [String]) {
        rows.append(
            columns.indices.map { index in
                index < cells.count ? TerminalText.sanitized(cells[index]) : ""
            })
    }

    /// Returns the header and the rows. Each line ends with a line feed.
    ///
    /// - Parameters:
    ///   - width: the columns of the terminal, or `nil` to cut nothing.
    ///   - unicode: whether the ellipsis may be `…`.
    ///   - header: whether to include the header. Omit it to continue a table.
    package func rendered(width: Int? = nil, unicode: Bool = true, header: Bool = true) -> String {
        let body = columns.indices.map { index in alignedCells(of: index) }
        let headers = columns.map { TerminalText.sanitized($0.header) }
        let natural = columns.indices.map { index in
            body[index].reduce(TerminalText.width(headers[index])) { max($0, TerminalText.width($1)) }
        }
        let widths = fitted(natural, to: width)
        let ellipsis = unicode ? "…" : "~"
        var text = header ? line(headers, widths: widths, ellipsis: ellipsis) : ""
        for row in rows.indices {
            text += line(body.map { $0[row] }, widths: widths, ellipsis: ellipsis)
        }
        return text
    }

    /// Returns the cells of a column. Decimal cells are padded on the right, so that their points line up when they are aligned right.
    private func alignedCells(of column: Int) -> [String] {
        let cells = rows.map { $0[column] }
        guard columns[column].alignment == .decimal else { return cells }
        let fractions = cells.map { cell in cell.firstIndex(of: ".").map { TerminalText.width(cell[$0...]) } ?? 0 }
        let maximumWidth = fractions.max() ?? 0
        return zip(cells, fractions).map { $0 + Self.spaces(maximumWidth - $1) }
    }

    /// Narrows the widest cuttable column until all columns fit, or no column can be cut further.
    private func fitted(_ natural: [Int], to limit: Int?) -> [Int] {
        guard let limit else { return natural }
        var widths = natural
        var excess = widths.reduce(0, +) + 2 * max(0, widths.count - 1) - limit
        while excess > 0 {
            let candidates = widths.indices.filter { columns[$0].alignment == .left && widths[$0] > columns[$0].minimumWidth }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private func line(_ cells: [String], widths: [Int], ellipsis: String) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            if index > 0 { line += "  " }
            let shown =
                columns[index].alignment == .left ? TerminalText.truncated(cell, to: widths[index], ellipsis: ellipsis) : cell
            let padding = Self.spaces(widths[index] - TerminalText.width(shown))
            line += columns[index].alignment == .left ? shown + padding : padding + shown
        }
        // Trailing spaces would wrap in a terminal that is too narrow.
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }

    private static func spaces(_ count: Int) -> String {
        String(repeating: " ", count: max(0, count))
    }

    /// Returns a bar that fills a fraction of a width, in steps of an eighth of a column, padded with spaces.
    ///
    /// Without Unicode the steps are whole columns of `#`. NaN and negative numbers give an empty bar.
    package static func bar(_ fraction: Double, width: Int, unicode: Bool = true) -> String {
        let width = max(0, width)
        let part = fraction.isNaN ? 0 : min(1, max(0, fraction))
        guard unicode else {
            let full = Int((part * Double(width)).rounded())
            return String(repeating: "#", count: full) + spaces(width - full)
        }
        let eighths = Int((part * Double(width) * 8).rounded())
        let full = String(repeating: "█", count: eighths / 8)
        guard eighths % 8 > 0 else { return full + spaces(width - eighths / 8) }
        let steps: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return full + String(steps[eighths % 8 - 1]) + spaces(width - eighths / 8 - 1)
    }
}
