/// Rows of comma-separated values, quoted as RFC 4180 says.
///
/// A cell that begins with `=`, `+`, `-` or `@` is written as it is: these are data. For a spreadsheet, which would take it for a formula, a
/// writer that is made safe puts `'` before it, unless it is a number or a zone's offset.
public struct CSVWriter: Sendable {
    /// What ends a row.
    public enum LineEnding: Sendable, Equatable {
        /// What programs on Linux cut lines at.
        case lineFeed
        /// What RFC 4180 asks of `text/csv` on the wire.
        case carriageReturnLineFeed
    }

    private let ending: [UInt8]
    private let isSafe: Bool

    /// - Parameter safe: for a spreadsheet; what it would take for a formula gets a `'` before it.
    public init(lineEnding: LineEnding = .lineFeed, safe: Bool = false) {
        isSafe = safe
        ending = lineEnding == .lineFeed ? [0x0A] : [0x0D, 0x0A]
    }

    /// Appends one row and its line ending, as UTF-8.
    public func append(row: some Sequence<String>, to buffer: inout [UInt8]) {
        let start = buffer.count
        var isFirst = true
        for cell in row {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            Self.append(cell: isSafe ? Self.safe(cell) : cell, to: &buffer)
        }
        // One empty cell would be an empty line, which most readers skip.
        if !isFirst, buffer.count == start { buffer.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: "\"")]) }
        buffer.append(contentsOf: ending)
    }

    private static func safe(_ cell: String) -> String {
        guard let first = cell.utf8.first, "=+-@\t\r".utf8.contains(first), Double(cell) == nil, !isOffset(cell)
        else { return cell }
        return "'" + cell
    }

    /// Such as `+01:00`.
    private static func isOffset(_ cell: String) -> Bool {
        let octets = Array(cell.utf8)
        return octets.count == 6 && octets[3] == UInt8(ascii: ":")
            && [1, 2, 4, 5].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octets[$0]) }
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
