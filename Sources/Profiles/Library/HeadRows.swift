import HealthModel

/// The first rows of a file as texts, for finding its header. The file source splits the whole file.
enum HeadRows {
    /// Splits up to `limit` rows. The last row may be truncated at the end of the text.
    static func rows(of text: String, delimiter: UInt8, limit: Int) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var cell: [UInt8] = []
        var quoted = false
        var closed = false
        var previous: UInt8 = 0
        func endCell() {
            row.append(String(decoding: cell, as: UTF8.self))
            cell.removeAll(keepingCapacity: true)
            closed = false
        }
        for byte in text.utf8.dropFirst(ByteOrderMark.lengthUTF8(text.utf8)) {
            defer { previous = byte }
            if byte == UInt8(ascii: "\"") {
                if quoted {
                    quoted = false
                    closed = true
                } else if closed, previous == byte {
                    // A quotation mark directly after a closing one is part of the text.
                    cell.append(byte)
                    quoted = true
                } else if cell.isEmpty {
                    quoted = true
                } else {
                    cell.append(byte)
                }
            } else if quoted {
                cell.append(byte)
            } else if byte == delimiter {
                endCell()
            } else if byte == 0x0A || byte == 0x0D {
                if byte == 0x0A, previous == 0x0D { continue }
                endCell()
                rows.append(row)
                row = []
                if rows.count == limit { return rows }
            } else {
                cell.append(byte)
            }
        }
        if !cell.isEmpty || !row.isEmpty {
            endCell()
            rows.append(row)
        }
        return rows
    }

    /// Returns the number of columns that fit and the name of a duplicate column, or nil if the rows do not contain the header.
    static func score(_ table: TableChannel, _ rows: [[String]]) -> (score: Int, doubled: String?)? {
        var rest = rows[...]
        var score = 0
        if let summary = table.summary {
            guard let first = rest.first, let bound = HeaderBinding(summary.columns, header: first, spellings: []) else {
                return nil
            }
            score = bound.score
            rest = rest.dropFirst(2)
        }
        for row in rest.prefix(table.headerWithin) {
            if let binding = HeaderBinding(table.columns, header: row, spellings: Array(table.units.keys)),
                table.times.contains(where: binding.has)
            {
                return (score + binding.score, binding.doubled)
            }
        }
        return nil
    }

    /// Whether a row contains names. A first line with numbers is a row, and its cells are a person's values.
    static func isHeader(_ cells: [String]) -> Bool {
        !cells.contains { $0.contains { $0.isNumber } && !$0.contains { $0.isLetter } }
    }

    /// The delimiter with the largest width. If several have it, a comma is probably a decimal sign.
    static func delimiter(of text: String, width: ([[String]]) -> Int) -> UInt8 {
        let comma = UInt8(ascii: ",")
        let widths = TableChannel.allDelimiters.map { ($0, width(rows(of: text, delimiter: $0, limit: 40))) }
        return widths.max { ($0.1, $0.0 == comma ? 0 : 1) < ($1.1, $1.0 == comma ? 0 : 1) }.flatMap { $0.1 > 1 ? $0.0 : nil }
            ?? comma
    }

    /// The description of an empty file.
    static let emptyReason = "it is empty"

    /// Describes a file that no profile reads, by its delimiter and the names in its header. It contains no values.
    static func description(of text: String) -> String {
        let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if start.isEmpty { return Self.emptyReason }
        if start.first == "[" || start.first == "{" { return "it is JSON" }
        if start.first == "<" { return "it is XML" }
        let delimiter = delimiter(of: text) { $0.first?.count ?? 0 }
        let names = rows(of: text, delimiter: delimiter, limit: 1).first ?? []
        guard names.count > 1 else { return "its first line has no , ; | or tab" }
        let sign = delimiter == 9 ? "tab" : "'\(Character(UnicodeScalar(delimiter)))'"
        guard isHeader(names) else { return "\(names.count) columns between \(sign), and its first line is not a header" }
        let shown = names.prefix(8).map { String($0.prefix(40).filter { !$0.isNewline }) }
        return "\(names.count) columns between \(sign): \(shown.joined(separator: ", "))\(names.count > 8 ? ", …" : "")"
    }
}
