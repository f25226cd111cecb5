import HealthModel
import Pipeline

/// Reads a large JSON text (RFC 8259) from front to back. Only one value of it is in memory at a time.
///
///     let stream = try JSONStream(FileInput(file), maximumValue: 16 << 20)
///     try stream.forEachMember { name in
///         if let value = try stream.value() { print(name, value.count) }
///     }
///
/// The first fault ends the text with a ``SourceError``.
package final class JSONStream {
    /// The maximum depth of a value. The check of a value is recursive, and real files are flatter.
    static let maximumDepth = 32
    /// The maximum length of a name in bytes.
    private static let maximumName = 256

    private let buffer: TextBuffer
    /// The index of the next byte in the text.
    private(set) var offset: Int

    /// - Parameter maximumValue: the maximum length of a value that is kept in memory.
    init(_ input: any ByteInput, maximumValue: Int) throws(SourceError) {
        buffer = try TextBuffer(input, maximum: maximumValue)
        offset = buffer.start
    }

    func fault(_ reason: String) -> SourceError { SourceError(.malformed, reason, at: Place(.byte, offset)) }

    private var earlyEnd: SourceError { fault("it ends early") }

    private func skip(_ count: Int) {
        buffer.start += count
        offset += count
    }

    /// Returns the next byte that is not a blank, or `nil` at the end of the text.
    func next() throws(SourceError) -> UInt8? {
        try buffer.nextOfJSON { offset += 1 }
    }

    /// Skips a byte and the blanks before it if it is the next one. Returns whether it is.
    func take(_ character: Unicode.Scalar) throws(SourceError) -> Bool {
        guard let byte = try next() else { throw earlyEnd }
        guard byte == UInt8(ascii: character) else { return false }
        skip(1)
        return true
    }

    /// Whether the next value begins with this character.
    func begins(with character: Unicode.Scalar) throws(SourceError) -> Bool {
        guard let byte = try next() else { throw earlyEnd }
        return byte == UInt8(ascii: character)
    }

    /// Passes the name of each member of the object that begins here. The body has to read the value.
    func forEachMember(_ body: (String) throws -> Void) throws {
        guard try take("{") else { throw fault("it is not an object") }
        if try take("}") { return }
        while true {
            guard try begins(with: "\"") else { throw fault("a name is missing") }
            guard let name = try text() else { throw fault("a name is longer than \(Self.maximumName) bytes") }
            guard try take(":") else { throw fault("a colon is missing after a name") }
            try body(name)
            if try take("}") { return }
            guard try take(",") else { throw fault("a comma is missing") }
        }
    }

    /// Calls the body at each element of the array that begins here. It has to read the element.
    func forEachElement(_ body: () throws -> Void) throws {
        guard try take("[") else { throw fault("it is not a list") }
        if try take("]") { return }
        while true {
            try body()
            if try take("]") { return }
            guard try take(",") else { throw fault("a comma is missing") }
        }
    }

    /// Reads a string. Returns `nil` if the value is not a string, or is longer than a name may be.
    func text() throws(SourceError) -> String? {
        guard let value = try value(), value.first == UInt8(ascii: "\""), value.count <= Self.maximumName else { return nil }
        return JSONString(1..<value.count - 1, isEscaped: true).text(in: value)
    }

    /// Reads a value with its inner blanks, and checks it. The bytes are valid until the next call.
    ///
    /// - Returns: `nil` if the value is longer than the maximum. It is then skipped, and only its brackets are checked.
    func value() throws(SourceError) -> UnsafeRawBufferPointer? {
        guard let first = try next() else { throw earlyEnd }
        let isPlain = first != UInt8(ascii: "{") && first != UInt8(ascii: "[") && first != UInt8(ascii: "\"")
        var (length, nesting) = (0, JSONNesting())
        while true {
            while buffer.start + length < buffer.end {
                let byte = buffer.base[buffer.start + length]
                if isPlain {
                    if Self.endsPlainValue(byte) { return try checked(length) }
                    length += 1
                } else {
                    nesting.pass(byte)
                    length += 1
                    if !nesting.isInString, nesting.depth <= 0 { return try checked(length) }
                }
            }
            if try buffer.refill() { continue }
            guard !buffer.atEnd else {
                guard isPlain, length > 0 else { throw earlyEnd }
                return try checked(length)
            }
            guard !isPlain else { throw fault("it is not JSON") }
            try skipRest(of: &nesting)
            return nil
        }
    }

    private static func endsPlainValue(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }

    /// Skips the rest of a value that does not fit into memory.
    private func skipRest(of nesting: inout JSONNesting) throws(SourceError) {
        skip(buffer.end - buffer.start)
        while try buffer.refill() {
            while buffer.start < buffer.end {
                nesting.pass(buffer.base[buffer.start])
                skip(1)
                if !nesting.isInString, nesting.depth <= 0 { return }
            }
        }
        throw earlyEnd
    }

    /// Skips a value in the buffer and returns its bytes.
    private func checked(_ length: Int) throws(SourceError) -> UnsafeRawBufferPointer {
        let value = UnsafeRawBufferPointer(start: buffer.base + buffer.start, count: length)
        guard !buffer.mayHaveHighBytes || UTF8Text.isValid(value) else { throw fault("it is not UTF-8") }
        var reader = JSONReader<JSONFault>(value, checks: .characters, maximumDepth: Self.maximumDepth)
        do throws(JSONFault) {
            _ = try reader.value()
            guard reader.isAtEnd else { throw reader.fault(.value) }
        } catch {
            throw SourceError(.malformed, error.reason, at: Place(.byte, offset + error.index))
        }
        skip(length)
        return value
    }
}
