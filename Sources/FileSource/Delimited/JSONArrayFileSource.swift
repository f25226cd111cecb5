import HealthModel
import Pipeline

/// Reads a file of JSON objects element by element. The file is an array, an object that contains an array, or a sequence of objects (one
/// a line, as `mongoexport` writes them). Memory does not grow with the file.
///
///     let file = try InputFile(path: "heart_rate-2023-11-03.json")
///     let source = JSONArrayFileSource(file, paths: ["dateTime", "value.bpm"], received: now)
///
/// Each element is a row with one cell for each path, numbered from 1. A malformed element is rejected, and the next one is read. If the
/// array itself is malformed, the rest cannot be read.
package final class JSONArrayFileSource: FrameSource {
    /// The maximum length of an element in bytes.
    package static let maximumElement = 1 << 20

    /// Assumptions about the text, for the user.
    package private(set) var notes: [String] = []
    /// Members with values that no path reads.
    package private(set) var unread = Unread()

    private let open: () -> any ByteInput
    private let paths: [[UInt8]]
    /// The member that contains the array, or `nil` if the file is the array.
    private let rows: [UInt8]?
    /// Paths that are not counted as unread.
    private let ignored: [[UInt8]]
    /// Whether the objects are a sequence without an array around them.
    private var isSequence = false
    private let received: Instant

    /// Reads an open file.
    ///
    /// - Parameters:
    ///   - paths: the members that become cells, such as `value.bpm` or `values[0].bpm`.
    ///   - rows: the member of the file's object that contains the array, or `nil` if the file is the array.
    ///   - ignored: members that are not counted as unread. A path with `.*` includes everything in a member.
    package convenience init(
        _ file: InputFile, paths: [String], rows: String? = nil, ignored: [String] = [], received: Instant,
        meter: ReadMeter? = nil
    ) {
        self.init(paths: paths, rows: rows, ignored: ignored, received: received) { FileInput(file, meter: meter) }
    }

    /// Reads elements from memory, for vectors and tests.
    package convenience init(
        bytes: [UInt8], paths: [String], rows: String? = nil, ignored: [String] = [], received: Instant
    ) {
        self.init(paths: paths, rows: rows, ignored: ignored, received: received) { MemoryInput(bytes) }
    }

    /// Reads a stream, such as a pipe.
    init(
        paths: [String], rows: String? = nil, ignored: [String] = [], received: Instant, open: @escaping () -> any ByteInput
    ) {
        self.ignored = ignored.map { Array($0.utf8) }
        self.rows = rows.map { Array($0.utf8) }
        self.open = open
        self.paths = paths.map { Array($0.utf8) }
        self.received = received
    }

    /// Passes each element to `handle`, in file order.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let buffer = try TextBuffer(open(), maximum: Self.maximumElement)
        notes = buffer.encoding == .utf8 ? [] : ["the text is \(buffer.encoding.rawValue)"]
        var members = UnreadMembers(ignored: ignored)
        defer { unread = members.unread }
        if let rows { try findList(rows, buffer, &members) }
        let opening = try buffer.nextOfJSON()
        isSequence = rows == nil && opening == UInt8(ascii: "{")
        guard isSequence || opening == UInt8(ascii: "[") else { throw SourceError(.malformed, "not a JSON array") }
        if !isSequence { buffer.start += 1 }
        let row = TextRow()
        var cells: [UnsafeRawBufferPointer] = []
        var number = 0
        while let byte = try buffer.nextOfJSON() {
            if byte == UInt8(ascii: "]"), !isSequence {
                buffer.start += 1
                if rows != nil { return try finishObject(buffer, number, &members) }
                guard try buffer.nextOfJSON() == nil else { throw SourceError(.malformed, "there is text after the array") }
                return
            }
            if isSequence {
                guard byte == UInt8(ascii: "{") else { throw broken("an element is not an object", number) }
            } else if number > 0 {
                guard byte == UInt8(ascii: ",") else { throw broken("a comma is missing between elements", number) }
                buffer.start += 1
                guard try buffer.nextOfJSON() != nil else { break }
            }
            number += 1
            let place = Place(.record, number)
            let length = try elementLength(buffer, number)
            let first = buffer.start
            do throws(JSONElementScanner.Failure) {
                guard buffer.base[first] == UInt8(ascii: "{") else { throw .init(reason: "it is not an object") }
                let element = UnsafeRawBufferPointer(start: buffer.base + first, count: length)
                guard !buffer.mayHaveHighBytes || UTF8Text.isValid(element) else {
                    throw .init(reason: "it is not UTF-8")
                }
                var scanner = JSONElementScanner(buffer.base, from: first, to: first + length, paths: paths)
                try scanner.scan(into: &cells, unread: &members)
            } catch {
                try handle(RawFrame(payload: .malformed(error.reason), place: place, received: received))
                buffer.start = first + length
                continue
            }
            swap(&row.cells, &cells)
            defer { swap(&row.cells, &cells) }
            try handle(RawFrame(payload: .row(row), place: place, received: received))
            buffer.start = first + length
        }
        if isSequence { return }
        throw broken("the array is never closed", number)
    }

    /// Advances to the array in the file's object, past the members before it.
    private func findList(_ name: [UInt8], _ buffer: TextBuffer, _ members: inout UnreadMembers) throws(SourceError) {
        guard try buffer.nextOfJSON() == UInt8(ascii: "{") else { throw SourceError(.malformed, "not a JSON object") }
        buffer.start += 1
        while let byte = try buffer.nextOfJSON(), byte == UInt8(ascii: "\"") {
            let member = try memberName(buffer, 1)
            if member == name {
                _ = try buffer.nextOfJSON()
                return
            }
            guard try buffer.nextOfJSON() != nil else { break }
            members.note(member)
            buffer.start += try elementLength(buffer, 1)
            guard try buffer.nextOfJSON() == UInt8(ascii: ",") else { break }
            buffer.start += 1
        }
        throw SourceError(.malformed, "it does not contain the list of rows")
    }

    /// Reads the members after the array, to the end of the file.
    private func finishObject(_ buffer: TextBuffer, _ number: Int, _ members: inout UnreadMembers) throws(SourceError) {
        while let byte = try buffer.nextOfJSON() {
            if byte == UInt8(ascii: "}") {
                buffer.start += 1
                guard try buffer.nextOfJSON() == nil else { throw SourceError(.malformed, "there is text after the object") }
                return
            }
            guard byte == UInt8(ascii: ",") else { break }
            buffer.start += 1
            guard try buffer.nextOfJSON() == UInt8(ascii: "\"") else { break }
            members.note(try memberName(buffer, number))
            guard try buffer.nextOfJSON() != nil else { break }
            buffer.start += try elementLength(buffer, number)
        }
        throw broken("the object around the array is never closed", number)
    }

    /// Reads the name that begins here, and its colon.
    private func memberName(_ buffer: TextBuffer, _ number: Int) throws(SourceError) -> [UInt8] {
        let length = try elementLength(buffer, number, end: UInt8(ascii: ":"))
        let text = UnsafeRawBufferPointer(start: buffer.base + buffer.start + 1, count: length - 1)
        defer { buffer.start += length + 1 }
        return Array(text.prefix { $0 != UInt8(ascii: "\"") })
    }

    private func broken(_ reason: String, _ number: Int) -> SourceError {
        SourceError(.malformed, reason, at: Place(.record, max(number, 1)))
    }

    /// Reads until the element that starts here is complete in the buffer.
    private func elementLength(
        _ buffer: TextBuffer, _ number: Int, end: UInt8 = UInt8(ascii: ",")
    ) throws(SourceError) -> Int {
        var offset = 0
        var nesting = JSONNesting()
        while true {
            while buffer.start + offset < buffer.end {
                let byte = buffer.base[buffer.start + offset]
                if !nesting.isInString {
                    let isCloser = byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
                    // The bracket that closes the array also ends a primitive element.
                    if nesting.depth == 0, isCloser || byte == end { return offset }
                    if nesting.depth == 1, isCloser { return offset + 1 }
                    if byte == 0 { throw broken("it contains a NUL byte", number) }
                }
                nesting.pass(byte)
                offset += 1
            }
            guard try buffer.refill() else {
                throw broken(
                    buffer.atEnd
                        ? (isSequence ? "the last object is never closed" : "the array is never closed")
                        : "an element is longer than \(Self.maximumElement) bytes", number)
            }
        }
    }
}
