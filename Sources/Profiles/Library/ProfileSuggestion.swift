import HealthModel

/// Drafts a profile from a file's first lines. `vitalgate profile suggest FILE` prints it.
///
/// Guesses from a column's name are marked with a comment for confirmation. A unit that the file does not show stays open, so the draft is
/// refused until the user has filled it in. No value of the file is copied.
///
/// If the file has no header, the columns get names by their content (`time`, `column2`), and ``addedHeader`` is the line that the user
/// has to insert. A profile recognizes files by their header.
package struct ProfileSuggestion {
    private let names: [String]
    private let rows: [[String]]
    private let delimiter: UInt8
    private let headerLine: Int
    private let id: String
    /// The header that the file lacks, or `nil` if it has one.
    package let addedHeader: String?

    /// - Parameters:
    ///   - text: the start of the file.
    ///   - id: the new profile's id.
    package init(firstLines text: String, id: String) {
        delimiter = HeadRows.delimiter(of: text, width: Self.width)
        let rows = HeadRows.rows(of: text, delimiter: delimiter, limit: 40)
        // The header is the first row that is as wide as the table.
        let width = Self.width(rows)
        let wide = rows.firstIndex { $0.count == width } ?? 0
        let first = rows.indices.contains(wide) ? rows[wide].map { HeaderPattern.trimmed($0) } : []
        self.id = id
        guard !first.isEmpty, !HeadRows.isHeader(first) else {
            (names, headerLine) = (first, wide)
            self.rows = Array(rows.dropFirst(wide + 1).filter { $0.count == width })
            addedHeader = nil
            return
        }
        // The first rows may be shorter than the table, so all of them are values.
        headerLine = 0
        let values = rows.filter { $0.count == width }
        self.rows = values
        let cells = first.indices.map { index in values.map { HeaderPattern.trimmed($0[index]) }.filter { !$0.isEmpty } }
        let times = DraftTime(columns: cells).columns
        names = first.indices.map { index in
            guard let place = times.firstIndex(of: index) else { return "column\(index + 1)" }
            return times.count == 1 ? "time" : place == 0 ? "date" : "time"
        }
        addedHeader = names.joined(separator: String(UnicodeScalar(delimiter)))
    }

    /// Returns the most common number of columns.
    private static func width(_ rows: [[String]]) -> Int {
        var counts: [Int: Int] = [:]
        for row in rows { counts[row.count, default: 0] += 1 }
        return counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key ?? 0
    }

    /// Whether the file is a table of several columns, for which a profile can be drafted.
    package var isTable: Bool { names.count > 1 }

    /// The draft, as commented JSON5.
    package var json5: String {
        let time = DraftTime(columns: names.indices.map(column))
        let readings = names.indices.filter { !time.columns.contains($0) }.compactMap(reading)
        var lines = [
            "// A draft made from the file's header. Confirm every line marked CONFIRM, fill in every \(Self.open), and remove the",
            "// columns that you do not need: docs/how-to/write-a-profile.md explains how.", "{", "  id: \(quoted(id)),",
            "  name: \(quoted(id)),  // CONFIRM",
            "  version: \"1\",", "  channels: [", "    {", "      channel: \"csv\",",
        ]
        if let addedHeader {
            lines.insert(
                "// The file has no header, which a profile needs. Insert this line at its beginning: \(addedHeader)", at: 2)
        }
        if delimiter != UInt8(ascii: ",") { lines.append("      delimiters: [\(quoted(String(UnicodeScalar(delimiter))))],") }
        if headerLine > 0 { lines.append("      headerWithin: \(headerLine + 1),") }
        if rows.contains(where: { $0.contains(where: Self.hasDecimalComma) }) {
            lines.append("      decimal: \"auto\",  // the file has numbers with a comma")
        }
        lines.append("      // CONFIRM: a file without a column that has no `required: false` is not read by this profile.")
        lines.append("      columns: {")
        let required = time.columns + readings.filter { $0.type != Self.open }.map(\.column)
        for (index, name) in names.enumerated() {
            let optional = required.contains(index) ? "" : ", required: false"
            lines.append("        \(key(index)): { names: [\(quoted(name))]\(optional) },")
        }
        lines.append("      },")
        let keys = time.columns.isEmpty ? [Self.open] : time.columns.map(key)
        lines += [
            "      // CONFIRM: the column of the time, how it is written, and the zone: local, UTC or written.",
            "      times: [{ columns: [\(list(keys))], patterns: [\(list(time.patterns))], zone: \"local\" }],",
        ]
        if readings.contains(where: { SampleType($0.type)?.isCountedOverTime ?? false }) {
            lines += [
                "      // CONFIRM: how long a row lasts. If the file contains the end of each row, see end in the documentation.",
                "      end: { after: 1, in: \(quoted(Self.open)) },",
            ]
        }
        lines.append("      readings: [")
        lines += readings.map(line)
        lines += ["      ],", "    },", "  ],"]
        lines += vector(readings.filter { $0.type != Self.open })
        lines += ["}", ""]
        return lines.joined(separator: "\n")
    }

    /// The placeholder that the user has to replace.
    static let open = "FILL-IN"

    private struct Draft {
        var column: Int
        var type: String
        var unit: String
    }

    /// Returns a draft of the reading in a column, or nil if the column is neither numeric nor known by name.
    private func reading(_ index: Int) -> Draft? {
        let guess = ColumnName(names[index])
        guard guess.type != nil || isNumeric(index) else { return nil }
        return Draft(column: index, type: guess.type ?? Self.open, unit: guess.unit ?? Self.open)
    }

    private func line(_ draft: Draft) -> String {
        let rule = "{ column: \(quoted(key(draft.column))), type: \(quoted(draft.type)), unit: \(quoted(draft.unit)) },"
        if draft.type == Self.open { return "        // \(rule)" }
        return "        \(rule)  // CONFIRM type\(draft.unit == Self.open ? " (the header contains no unit)" : " and unit")"
    }

    /// Returns a vector with the file's header. It contains no row, because rows are a person's values.
    private func vector(_ readings: [Draft]) -> [String] {
        let separator = String(UnicodeScalar(delimiter))
        let header = names.map { name in
            name.contains(separator) || name.contains("\"") ? "\"\(name.replacing("\"", with: "\"\""))\"" : name
        }
        let row = headerLine + 2
        let texts = Array(repeating: "", count: headerLine) + [header.joined(separator: separator), Self.open]
        var lines = [
            "  // A row as the device writes it, with invented values, and the expected readings.", "  vectors: [", "    {",
            "      source: \(quoted(Self.open)),", "      lines: [\(list(texts))],", "      readings: [",
        ]
        for draft in readings {
            lines.append(
                "        { row: \(row), type: \(quoted(draft.type)), value: \(quoted(Self.open)), unit: \(quoted(draft.unit)), "
                    + "start: \(quoted(Self.open)) },")
        }
        return lines + ["      ],", "    },", "  ],"]
    }

    private func list(_ texts: [String]) -> String { texts.map(quoted).joined(separator: ", ") }

    private func quoted(_ text: String) -> String { JSON5Text.quoted(text) }

    private func column(_ index: Int) -> [String] { rows.map { HeaderPattern.trimmed($0[index]) }.filter { !$0.isEmpty } }

    private func isNumeric(_ index: Int) -> Bool {
        let cells = column(index)
        return !cells.isEmpty && cells.allSatisfy { (try? Numeral($0)) != nil || Self.hasDecimalComma($0) }
    }

    private func key(_ index: Int) -> String {
        let letters = names[index].lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        guard let first = letters.first, first.isLetter else { return "column\(index + 1)" }
        let same = names[..<index].contains { $0.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) } == letters }
        return String(letters.prefix(24)) + (same ? "\(index + 1)" : "")
    }

    private static func hasDecimalComma(_ cell: String) -> Bool {
        let bytes = Array(cell.utf8)
        return !bytes.isEmpty && bytes.withUnsafeBytes { (try? Numeral(parsing: $0, decimalSeparator: UInt8(ascii: ","))) != nil }
            && cell.contains(",")
    }
}
