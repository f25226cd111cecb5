import Glibc
import HealthModel
import Pipeline

/// Reads a file of delimited text, such as CSV, row by row. Memory does not grow with the file.
///
///     let source = try DelimitedFileSource(InputFile(path: "weight.csv"), delimiter: UInt8(ascii: ";"), received: now)
///     try source.forEachFrame { frame in … }   // .row(TextRow), or .malformed(reason) where a row breaks the rules
///
/// The place of a row is the physical line on which it starts, from 1. An invalid row does not stop the others.
package final class DelimitedFileSource: FrameSource {
    /// The maximum length of a row in bytes. A longer row is rejected and skipped without being kept.
    package static let maximumRow = 1 << 20

    /// Assumptions about the text, for stderr and the ledger. They are complete after the file was read.
    package private(set) var notes: [String] = []

    private let open: () -> any ByteInput
    private let delimiter: UInt8?
    private let received: Instant

    /// Reads an open file.
    ///
    /// - Parameters:
    ///   - delimiter: the delimiter of the matching profile, or `nil` to detect it in the first line.
    ///   - received: the time of the import by the hub's clock.
    package convenience init(_ file: InputFile, delimiter: UInt8? = nil, received: Instant, meter: ReadMeter? = nil) {
        self.init(delimiter: delimiter, received: received) { FileInput(file, meter: meter) }
    }

    /// Reads rows from memory, for vectors and tests.
    package convenience init(bytes: [UInt8], delimiter: UInt8? = nil, received: Instant) {
        self.init(delimiter: delimiter, received: received) { MemoryInput(bytes) }
    }

    /// Reads a stream, such as a pipe.
    init(delimiter: UInt8?, received: Instant, open: @escaping () -> any ByteInput) {
        self.open = open
        self.delimiter = delimiter
        self.received = received
    }

    /// Passes each row to `handle`, in file order.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let buffer = try TextBuffer(open(), maximum: Self.maximumRow)
        notes = buffer.encoding == .utf8 ? [] : ["the text is \(buffer.encoding.rawValue)"]
        let head = UnsafeRawBufferPointer(start: buffer.base + buffer.start, count: buffer.end - buffer.start)
        var scanner = RowScanner(delimiter: delimiter ?? DelimiterSniffer.delimiter(of: head))
        var legacy = LegacyText()
        let row = TextRow()
        var cells: [UnsafeRawBufferPointer] = []
        cells.reserveCapacity(64)
        var line = 1 + buffer.skippedLines
        while true {
            if buffer.start == buffer.end {
                guard try buffer.refill() else { break }
                continue
            }
            let outcome = scanner.scan(
                buffer.base, from: buffer.start, end: buffer.end, isLast: buffer.atEnd, into: &cells)
            switch outcome {
            case .row(let next, let lines):
                if buffer.mayHaveHighBytes, legacy.convert(&cells, line: line), notes.last != legacy.note {
                    notes.append(legacy.note)
                }
                // The row borrows the array during the call, which avoids copies.
                swap(&row.cells, &cells)
                defer { swap(&row.cells, &cells) }
                var frame = RawFrame(payload: .row(row), place: Place(.line, line), received: received)
                frame.isProvisional = next == buffer.end && Self.isOpen(buffer)
                try handle(frame)
                buffer.start = next
                line += lines
            case .needsMore:
                if try buffer.refill() { continue }
                // The row or a quoted cell is too long.
                let (reason, skipped) = try Self.skipOverlong(buffer)
                try handle(RawFrame(payload: .malformed(reason), place: Place(.line, line), received: received))
                line += skipped
            case .malformed(let reason, let next):
                try handle(RawFrame(payload: .malformed(reason), place: Place(.line, line), received: received))
                buffer.start = next
                line += 1
            }
        }
    }

    /// Whether the text ends without a line break. The last row may then be incomplete, because most tables have a line break after each
    /// row.
    private static func isOpen(_ buffer: TextBuffer) -> Bool {
        let last = buffer.base[buffer.end - 1]
        return buffer.atEnd && last != 0x0A && last != 0x0D
    }

    /// The index of the first line break, or of the newline after the buffer. It uses the C library, because lines may be long.
    private static func lineEnd(_ buffer: TextBuffer, from start: Int) -> Int {
        let lineFeed = memchr(buffer.base + start, 0x0A, buffer.end + 1 - start).map { $0 - UnsafeMutableRawPointer(buffer.base) }
        let end = lineFeed ?? buffer.end
        return memchr(buffer.base + start, 0x0D, end - start).map { $0 - UnsafeMutableRawPointer(buffer.base) } ?? end
    }

    /// Skips to the line after the current one, however long it is.
    ///
    /// - Returns: the error in the row, and the number of skipped lines.
    private static func skipOverlong(_ buffer: TextBuffer) throws(SourceError) -> (reason: String, lines: Int) {
        var searched = buffer.start
        var retained = true
        while true {
            let index = lineEnd(buffer, from: searched)
            if index + 1 == buffer.end, buffer.base[index] == 0x0D, !buffer.atEnd {
                // It is not known yet whether a line feed follows.
                buffer.start = index
                guard try buffer.refill() else { break }
                searched = buffer.start
                continue
            }
            if index < buffer.end {
                let isCRLF = buffer.base[index] == 0x0D && buffer.base[index + 1] == 0x0A && index + 1 < buffer.end
                buffer.start = index + (isCRLF ? 2 : 1)
                return (
                    retained
                        ? "a quotation mark is not closed within \(maximumRow) bytes"
                        : "it is longer than \(maximumRow) bytes",
                    1
                )
            }
            // Everything read so far belongs to this line and is dropped.
            retained = false
            buffer.start = buffer.end
            guard try buffer.refill() else { return ("it is longer than \(maximumRow) bytes", 1) }
            searched = buffer.start
        }
        return ("it is longer than \(maximumRow) bytes", 1)
    }
}

/// Converts rows that are not UTF-8 from Windows-1252, which old exports and spreadsheets use.
private struct LegacyText {
    private let owner = Owner()
    private(set) var note = ""

    private final class Owner {
        var memory: UnsafeMutableBufferPointer<UInt8>?
        deinit { memory?.deallocate() }
    }

    /// - Returns: whether the row was converted.
    mutating func convert(_ cells: inout [UnsafeRawBufferPointer], line: Int) -> Bool {
        guard cells.contains(where: { !isASCII($0) && !UTF8Text.isValid($0) }) else { return false }
        let needed = cells.reduce(0) { $0 + $1.count * 3 }
        if (owner.memory?.count ?? 0) < needed {
            owner.memory?.deallocate()
            owner.memory = .allocate(capacity: needed)
        }
        guard let base = owner.memory?.baseAddress else { return false }
        var offset = 0
        for index in cells.indices {
            let length = Windows1252.convert(cells[index], into: base + offset)
            cells[index] = UnsafeRawBufferPointer(start: base + offset, count: length)
            offset += length
        }
        if note.isEmpty { note = "text that is not UTF-8 is read as Windows-1252 (first on line \(line))" }
        return true
    }
}
