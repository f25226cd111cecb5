import Glibc
import HealthModel
import Pipeline

/// Reads a file of delimited text (CSV and its kin) row by row, in memory that does not grow with the file.
///
///     let source = try DelimitedFileSource(path: "weight.csv", delimiter: UInt8(ascii: ";"), received: now)
///     try source.forEachFrame { frame in … }   // .row(TextRow), or .malformed(reason) where a row breaks the rules
///
/// Rows come with the number of the physical line they start on, from 1. A bad row never stops the rest.
public final class DelimitedFileSource: FrameSource {
    /// Longest row in bytes; a longer one is refused and skipped to its end without being kept.
    public static let maximumRow = 1 << 20

    /// What was assumed about the text, for a person: to be shown on stderr and kept in the ledger. Complete once the file is
    /// read.
    public private(set) var notes: [String] = []

    private enum Origin {
        case path(String)
        case file(InputFile)
        case input(() -> any ByteInput)
    }

    private let origin: Origin
    private let delimiter: UInt8?
    private let received: Instant
    private let meter: ReadMeter?

    /// - Parameters:
    ///   - delimiter: the one the matching profile found; sniffed from the first line where there is none.
    ///   - received: when the file was read, by the hub's clock.
    public init(path: String, delimiter: UInt8? = nil, received: Instant, meter: ReadMeter? = nil) {
        self.meter = meter
        origin = .path(path)
        self.delimiter = delimiter
        self.received = received
    }

    /// Reads a file that is open.
    public init(_ file: InputFile, delimiter: UInt8? = nil, received: Instant, meter: ReadMeter? = nil) {
        self.meter = meter
        origin = .file(file)
        self.delimiter = delimiter
        self.received = received
    }

    /// Reads rows from memory; for vectors and tests.
    public convenience init(bytes: [UInt8], delimiter: UInt8? = nil, received: Instant) {
        self.init(delimiter: delimiter, received: received) { MemoryInput(bytes) }
    }

    /// Reads what comes in pieces, as from a pipe.
    init(delimiter: UInt8?, received: Instant, open: @escaping () -> any ByteInput) {
        meter = nil
        origin = .input(open)
        self.delimiter = delimiter
        self.received = received
    }

    /// Gives each row to `body`, in the order of the file.
    public func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        meter?.bytes = 0
        let input: any ByteInput
        switch origin {
        case .path(let path): input = FileInput(try InputFile(path: path), meter: meter)
        case .file(let file): input = FileInput(file, meter: meter)
        case .input(let open): input = open()
        }
        let buffer = try TextBuffer(input, maximum: Self.maximumRow)
        notes = buffer.encoding == .utf8 ? [] : ["the text is \(buffer.encoding.rawValue)"]
        let head = UnsafeRawBufferPointer(start: buffer.base + buffer.start, count: buffer.end - buffer.start)
        var scanner = RowScanner(delimiter: delimiter ?? DelimiterSniffer.delimiter(of: head))
        var legacy = LegacyText()
        let row = TextRow()
        var cells: [UnsafeRawBufferPointer] = []
        cells.reserveCapacity(64)
        var line = 1
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
                // The row borrows the array for the call, so that filling it stays free of copies.
                swap(&row.cells, &cells)
                defer { swap(&row.cells, &cells) }
                var frame = RawFrame(payload: .row(row), place: Place(.line, line), received: received)
                frame.isProvisional = next == buffer.end && Self.isOpen(buffer)
                try handle(frame)
                buffer.start = next
                line += lines
            case .needsMore:
                if try buffer.refill() { continue }
                // No more can be had: the row is too long, or a stretch in quotes is.
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

    /// Whether the text ends without a line break. A table does not say where it ends, and most are written with one after each row.
    private static func isOpen(_ buffer: TextBuffer) -> Bool {
        let last = buffer.base[buffer.end - 1]
        return buffer.atEnd && last != 0x0A && last != 0x0D
    }

    /// Where the line ends, or the buffer: the newline that stands behind it. With the C library, since the line may be a long one.
    private static func lineEnd(_ buffer: TextBuffer, from start: Int) -> Int {
        let lineFeed = memchr(buffer.base + start, 0x0A, buffer.end + 1 - start).map { $0 - UnsafeMutableRawPointer(buffer.base) }
        let end = lineFeed ?? buffer.end
        return memchr(buffer.base + start, 0x0D, end - start).map { $0 - UnsafeMutableRawPointer(buffer.base) } ?? end
    }

    /// Goes to the line behind the one that starts here, however far that is.
    ///
    /// - Returns: what is wrong with the row, and how many lines were passed.
    private static func skipOverlong(_ buffer: TextBuffer) throws(SourceError) -> (reason: String, lines: Int) {
        var searched = buffer.start
        var kept = true
        while true {
            let index = lineEnd(buffer, from: searched)
            if index + 1 == buffer.end, buffer.base[index] == 0x0D, !buffer.atEnd {
                // Whether a line feed follows is not known yet.
                buffer.start = index
                guard try buffer.refill() else { break }
                searched = buffer.start
                continue
            }
            if index < buffer.end {
                let isCRLF = buffer.base[index] == 0x0D && buffer.base[index + 1] == 0x0A && index + 1 < buffer.end
                buffer.start = index + (isCRLF ? 2 : 1)
                return (
                    kept
                        ? "a quotation mark is opened and not closed within \(maximumRow) bytes"
                        : "it is longer than \(maximumRow) bytes",
                    1
                )
            }
            // Everything read so far is of this line: let go of it.
            kept = false
            buffer.start = buffer.end
            guard try buffer.refill() else { return ("it is longer than \(maximumRow) bytes", 1) }
            searched = buffer.start
        }
        return ("it is longer than \(maximumRow) bytes", 1)
    }
}

/// Reads rows that are not UTF-8 as Windows-1252, which old exports and spreadsheets write.
private struct LegacyText {
    private let owner = Owner()
    private(set) var note = ""

    private final class Owner {
        var memory: UnsafeMutableBufferPointer<UInt8>?
        deinit { memory?.deallocate() }
    }

    /// - Returns: whether the row had to be converted.
    mutating func convert(_ cells: inout [UnsafeRawBufferPointer], line: Int) -> Bool {
        guard cells.contains(where: { !isASCII($0) && !isUTF8($0) }) else { return false }
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
