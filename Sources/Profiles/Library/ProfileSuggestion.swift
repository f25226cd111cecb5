import HealthModel

/// Drafts a profile from a file's first lines. `vitalgate profile suggest FILE` prints it.
///
/// Guesses from a column's name are marked with a comment for confirmation. A unit that the file does not show stays open, so the draft is
/// refused until the user has filled it in. No value of the file is copied.
public struct ProfileSuggestion {
    private let names: [String]
    private let rows: [[String]]
    private let delimiter: UInt8
    private let headerLine: Int
    private let id: String

    /// - Parameters:
    ///   - text: the start of the file.
    ///   - id: the new profile's id.
    public init(firstLines text: String, id: String) {
        let best = TableChannel.allDelimiters.map { ($0, HeadRows.rows(of: text, delimiter: $0, limit: 40)) }
            .max { Self.width($0.1) < Self.width($1.1) }
        let rows = best?.1 ?? []
        delimiter = best?.0 ?? UInt8(ascii: ",")
        // The header is the first row that is as wide as the table.
        let width = Self.width(rows)
        headerLine = rows.firstIndex { $0.count == width } ?? 0
        names = rows.indices.contains(headerLine) ? rows[headerLine].map { HeaderPattern.trimmed($0) } : []
        self.rows = Array(rows.dropFirst(headerLine + 1).filter { $0.count == width })
        self.id = id
    }

    /// Returns the most common number of columns.
    private static func width(_ rows: [[String]]) -> Int {
        var counts: [Int: Int] = [:]
        for row in rows { counts[row.count, default: 0] += 1 }
        return counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key ?? 0
    }

    /// Whether the first row contains names. If it contains numbers, they are a person's values, and nothing can be drafted.
    public var hasHeader: Bool {
        names.count > 1 && !names.contains { $0.contains { $0.isNumber } && !$0.contains { $0.isLetter } }
    }

    /// The draft, as commented JSON5.
    public var json5: String {
        let time = DraftTime(columns: names.indices.map(column))
        let readings = names.indices.filter { !time.columns.contains($0) }.compactMap(reading)
        var lines = [
            "// A draft made from the file's header. Confirm every line marked CONFIRM, fill in every \(Self.open), and remove the",
            "// columns that you do not need: docs/how-to/write-a-profile.md explains how.", "{", "  id: \(quoted(id)),",
            "  name: \(quoted(id)),  // CONFIRM",
            "  version: \"1\",", "  channels: [", "    {", "      channel: \"csv\",",
        ]
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
