/// Writes rows of comma-separated values, quoted as in RFC 4180.
///
/// By default, a cell that begins with `=`, `+`, `-` or `@` is written unchanged, since it is data. A spreadsheet would treat it as a
/// formula. A safe writer therefore prefixes it with `'`, unless it is a number or a zone's offset.
package struct CSVWriter: Sendable {
    package enum LineEnding: Sendable, Equatable {
        /// The usual line ending on Linux.
        case lineFeed
        /// The line ending that RFC 4180 requires for `text/csv`.
        case carriageReturnLineFeed
    }

    private let ending: [UInt8]
    private let isSafe: Bool

    /// - Parameter safe: Whether cells that a spreadsheet would treat as formulas get a `'` prefix.
    package init(lineEnding: LineEnding = .lineFeed, safe: Bool = false) {
        isSafe = safe
        ending = lineEnding == .lineFeed ? [0x0A] : [0x0D, 0x0A]
    }

    /// Appends one row and its line ending, as UTF-8.
    package func append(row: some Sequence<String>, to buffer: inout [UInt8]) {
        let start = buffer.count
        var isFirst = true
        for cell in row {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            Self.append(cell: isSafe ? Self.safe(cell) : cell, to: &buffer)
        }
        // A single empty cell would be an empty line, which most readers skip.
        if !isFirst, buffer.count == start { buffer.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: "\"")]) }
        buffer.append(contentsOf: ending)
    }

    private static func safe(_ cell: String) -> String {
        guard let first = cell.utf8.first, "=+-@\t\r".utf8.contains(first), Double(cell) == nil, !isOffset(cell)
        else { return cell }
        return "'" + cell
    }

    /// Whether a cell is an offset such as `+01:00`.
    private static func isOffset(_ cell: String) -> Bool {
        let bytes = Array(cell.utf8)
        return bytes.count == 6 && bytes[3] == UInt8(ascii: ":")
            && [1, 2, 4, 5].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[$0]) }
    }

    private static func append(cell: String, to buffer: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let needsQuotes = cell.utf8.contains { [quote, UInt8(ascii: ","), 0x0A, 0x0D].contains($0) }
        guard needsQuotes else {
            buffer.append(contentsOf: cell.utf8)
            return
        }
        buffer.append(quote)
        for byte in cell.utf8 {
            if byte == quote { buffer.append(quote) }
            buffer.append(byte)
        }
        buffer.append(quote)
    }
}
