/// The first rows of a file as texts, to find its header. The whole file is cut by its source, not here.
enum HeadRows {
    /// Cuts up to `limit` rows; the last one may be cut short where the text is.
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
        for byte in text.utf8.starts(with: [0xEF, 0xBB, 0xBF]) ? text.utf8.dropFirst(3) : text.utf8[...] {
            defer { previous = byte }
            if byte == UInt8(ascii: "\"") {
                if quoted {
                    quoted = false
                    closed = true
                } else if closed, previous == byte {
                    // A second mark right behind a closing one is a mark of the text.
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

    /// How well a channel's header fits the rows, and which column it has twice; nothing where it is not there.
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

    /// Of a file that has nothing in it.
    static let nothing = "it is empty"

    /// What a person needs to see of a file that no profile reads: its delimiter and the names in its header, and no values.
    static func description(of text: String) -> String {
        let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if start.isEmpty { return Self.nothing }
        if start.first == "[" || start.first == "{" { return "it is JSON" }
        if start.first == "<" { return "it is XML" }
        let best = TableChannel.allDelimiters.map { ($0, rows(of: text, delimiter: $0, limit: 1).first ?? []) }
            .max { $0.1.count < $1.1.count }
        guard let (delimiter, names) = best, names.count > 1 else { return "its first line has no , ; | or tab" }
        // A first line with numbers is a row, not a header; its cells are values.
        let isHeader = !names.contains { $0.contains { $0.isNumber } && !$0.contains { $0.isLetter } }
        let sign = delimiter == 9 ? "tab" : "'\(Character(UnicodeScalar(delimiter)))'"
        guard isHeader else { return "\(names.count) columns between \(sign), and its first line is no header" }
        let shown = names.prefix(8).map { String($0.prefix(40).filter { !$0.isNewline }) }
        return "\(names.count) columns between \(sign): \(shown.joined(separator: ", "))\(names.count > 8 ? ", …" : "")"
    }
}
