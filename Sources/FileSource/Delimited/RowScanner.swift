import Pipeline

/// Splits a row of delimited text into cells. It follows RFC 4180 and also accepts any delimiter, LF, CRLF or CR, and blank lines.
struct RowScanner {
    enum Outcome {
        /// A complete row. The next one starts at `next`, `lines` physical lines later.
        case row(next: Int, lines: Int)
        /// The buffer ends before the row does.
        case needsMore
        /// The row is invalid. The line after its first line starts at `next`.
        case malformed(reason: String, next: Int)
    }

    /// The maximum number of columns. A row with more is not from an export.
    static let maximumColumns = 4096

    private enum Class {
        static let plain: UInt8 = 0
        static let delimiter: UInt8 = 1
        static let lineFeed: UInt8 = 2
        static let carriageReturn: UInt8 = 3
        static let nul: UInt8 = 4
        static let quote: UInt8 = 5
    }

    private let classes: [UInt8]
    private let delimiter: UInt8
    private static let nulReason = "it contains a NUL byte"
    private static let quote = UInt8(ascii: "\"")
    /// Cells with doubled quotes. They are replaced once the row is complete.
    private var doubled: [Int] = []

    init(delimiter: UInt8) {
        self.delimiter = delimiter
        var classes = [UInt8](repeating: Class.plain, count: 256)
        classes[0] = Class.nul
        classes[0x0A] = Class.lineFeed
        classes[0x0D] = Class.carriageReturn
        classes[Int(Self.quote)] = Class.quote
        classes[Int(delimiter)] = Class.delimiter
        self.classes = classes
    }

    /// Splits the row that starts at `start`.
    ///
    /// - Parameters:
    ///   - base: the bytes. The caller has put a newline at `end`.
    ///   - isLast: whether nothing follows `end`.
    mutating func scan(
        _ base: UnsafeMutablePointer<UInt8>, from start: Int, end: Int, isLast: Bool, into cells: inout [UnsafeRawBufferPointer]
    ) -> Outcome {
        cells.removeAll(keepingCapacity: true)
        if !doubled.isEmpty { doubled.removeAll(keepingCapacity: true) }
        return classes.withUnsafeBufferPointer { classes in
            var index = start
            var lines = 1
            while true {
                let first = index
                var last: Int
                var kind: UInt8
                if base[index] == Self.quote, index < end {
                    guard let close = Self.closingQuote(base, from: index + 1, end: end, lines: &lines) else {
                        return isLast
                            ? malformed("a quotation mark is never closed", base, start, end, isLast) : .needsMore
                    }
                    // Another quotation mark may follow and continue the cell.
                    if close.index + 1 == end, !isLast { return .needsMore }
                    if close.hasNUL { return malformed(Self.nulReason, base, start, end, isLast) }
                    if close.hasDoubled { doubled.append(cells.count) }
                    last = close.index
                    index = close.index + 1
                    // Files edited by hand may have blanks after the closing quote. They have no meaning.
                    while base[index] == UInt8(ascii: " "), index < end { index += 1 }
                    kind = classes[Int(base[index])]
                    guard kind == Class.delimiter || kind == Class.lineFeed || kind == Class.carriageReturn else {
                        return malformed("there is text after a closing quotation mark", base, start, end, isLast)
                    }
                    if index == end, !isLast { return .needsMore }
                    cells.append(UnsafeRawBufferPointer(start: base + first + 1, count: last - first - 1))
                } else {
                    repeat {
                        while true {
                            kind = classes[Int(base[index])]
                            if kind != Class.plain { break }
                            index &+= 1
                        }
                        // A quotation mark inside an unquoted cell is a normal character.
                        if kind == Class.quote { index &+= 1 }
                    } while kind == Class.quote
                    if index == end, !isLast { return .needsMore }
                    if kind == Class.nul { return malformed(Self.nulReason, base, start, end, isLast) }
                    last = index
                    cells.append(UnsafeRawBufferPointer(start: base + first, count: last - first))
                }
                switch kind {
                case Class.delimiter:
                    guard cells.count < Self.maximumColumns else {
                        return malformed("it has more than \(Self.maximumColumns) columns", base, start, end, isLast)
                    }
                    index &+= 1
                case Class.carriageReturn:
                    // CRLF is one line end. At the end of the buffer it is not known whether a line feed follows.
                    if index + 1 >= end, !isLast { return .needsMore }
                    index += index + 1 < end && base[index + 1] == 0x0A ? 2 : 1
                    return finish(next: index, lines: lines, &cells)
                default:
                    return finish(next: min(index + 1, end), lines: lines, &cells)
                }
            }
        }
    }

    /// Returns the index of the quotation mark that ends a quoted cell, and counts the lines of the cell.
    private static func closingQuote(
        _ base: UnsafeMutablePointer<UInt8>, from start: Int, end: Int, lines: inout Int
    ) -> (index: Int, hasDoubled: Bool, hasNUL: Bool)? {
        var index = start
        var hasDoubled = false
        var hasNUL = false
        while index < end {
            let byte = base[index]
            if byte == quote {
                // At the end of the buffer a newline follows. The caller checks whether more input can follow.
                guard base[index + 1] == quote, index + 1 < end else { return (index, hasDoubled, hasNUL) }
                hasDoubled = true
                index += 2
                continue
            }
            if byte == 0 { hasNUL = true }
            if byte == 0x0A || (byte == 0x0D && base[index + 1] != 0x0A) { lines += 1 }
            index += 1
        }
        return nil
    }

    private mutating func finish(next: Int, lines: Int, _ cells: inout [UnsafeRawBufferPointer]) -> Outcome {
        for cell in doubled { cells[cell] = Self.single(cells[cell]) }
        return .row(next: next, lines: lines)
    }

    /// Replaces doubled quotation marks in place, because the text only gets shorter.
    private static func single(_ cell: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer(mutating: cell)
        var length = 0
        var index = 0
        while index < bytes.count {
            bytes[length] = bytes[index]
            length += 1
            index += bytes[index] == quote ? 2 : 1
        }
        return UnsafeRawBufferPointer(rebasing: cell[..<length])
    }

    /// Skips to the end of the first line, which must be in the buffer, so that its rest is not read as another row.
    private func malformed(
        _ reason: String, _ base: UnsafeMutablePointer<UInt8>, _ start: Int, _ end: Int, _ isLast: Bool
    ) -> Outcome {
        var index = start
        while base[index] != 0x0A, base[index] != 0x0D { index += 1 }
        if !isLast, index == end || (index + 1 == end && base[index] == 0x0D) { return .needsMore }
        if index < end, base[index] == 0x0D, base[index + 1] == 0x0A { index += 1 }
        return .malformed(reason: reason, next: min(index + 1, end))
    }
}
