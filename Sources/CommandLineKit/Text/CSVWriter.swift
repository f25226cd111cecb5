/// Rows of comma-separated values, quoted as RFC 4180 says.
///
/// A cell that begins with `=`, `+`, `-` or `@` is written as it is: these are data, and `-0.4` is a value. Who opens the file
/// in a spreadsheet tells it that the columns are text.
public struct CSVWriter: Sendable {
    public enum LineEnding: Sendable, Equatable {
        /// What programs on Linux cut lines at.
        case lineFeed
        /// What RFC 4180 asks of `text/csv` on the wire.
        case carriageReturnLineFeed
    }

    private let ending: [UInt8]

    public init(lineEnding: LineEnding = .lineFeed) {
        ending = lineEnding == .lineFeed ? [0x0A] : [0x0D, 0x0A]
    }

    /// Appends one row and its line ending, as UTF-8.
    public func append(row: some Sequence<String>, to buffer: inout [UInt8]) {
        let start = buffer.count
        var isFirst = true
        for cell in row {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            Self.append(cell: cell, to: &buffer)
        }
        // One empty cell would be an empty line, which most readers skip.
        if !isFirst, buffer.count == start { buffer.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: "\"")]) }
        buffer.append(contentsOf: ending)
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
