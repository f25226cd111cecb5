import Pipeline

/// Reads a JSON text from front to back. Values are skipped or kept, and memory only grows with those that are kept. It only recognizes
/// strings and brackets. The interpreter validates the values.
final class ResourceText {
    /// The reason why a value is incomplete.
    enum Break: Error {
        case end
        /// A line ends that must contain the complete value.
        case lineEnd
        /// A byte with which no value can begin.
        case byte
        case input(SourceError)
    }

    private let input: any ByteInput
    private let buffer: UnsafeMutableRawBufferPointer
    private var position = 0
    private var filled = 0
    /// The number of bytes before the buffer.
    private var passed = 0
    /// The line of the next byte, from 1.
    private(set) var line = 1
    /// The kept bytes of the current value, if ``isKeeping``.
    private(set) var copied: [UInt8] = []
    private(set) var isKeeping = false
    /// The index in the buffer up to which bytes were kept.
    private var copiedEnd = 0
    /// Whether the kept value would exceed ``ResourceRow/maximumLength``.
    private(set) var isTooLong = false
    /// Whether a value must end on its line.
    var endsAtLine = false
    /// The last byte that is not a blank.
    private var last: UInt8 = 0

    private static let block = 256 << 10

    init(_ input: any ByteInput) {
        self.input = input
        buffer = .allocate(byteCount: Self.block, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// The index of the next byte in the file, from 0.
    var offset: Int { passed + position }

    // MARK: Keeping

    func keep() {
        copied.removeAll(keepingCapacity: copied.capacity <= Self.block)
        isKeeping = true
        isTooLong = false
        copiedEnd = position
    }

    func stopCopying() {
        copySkipped()
        isKeeping = false
    }

    /// Keeps the bytes that were skipped and are still in the buffer.
    private func copySkipped() {
        guard isKeeping, !isTooLong else { return }
        let range = copiedEnd..<position
        copiedEnd = position
        guard copied.count + range.count <= ResourceRow.maximumLength else {
            isTooLong = true
            copied = []
            return
        }
        copied.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[range]))
    }

    // MARK: Octets

    private func refill() throws(Break) -> Bool {
        guard position == filled else { return true }
        copySkipped()
        passed += filled
        (position, filled, copiedEnd) = (0, 0, 0)
        do throws(SourceError) {
            filled = try input.read(into: buffer)
        } catch {
            throw .input(error)
        }
        return filled > 0
    }

    /// Returns the next byte without skipping it, or `nil` at the end.
    func peek() throws(Break) -> UInt8? { try refill() ? buffer[position] : nil }

    /// Skips one byte.
    func pass() {
        if buffer[position] == 0x0A { line += 1 }
        if buffer[position] > 0x20 { last = buffer[position] }
        position += 1
    }

    /// Skips blanks and returns the next byte without skipping it.
    func next() throws(Break) -> UInt8 {
        while let byte = try peek() {
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            if byte == 0x0A, endsAtLine { throw .lineEnd }
            if byte == 0x0A, line == firstLine { try readAfterFirstLine() } else { pass() }
        }
        throw .end
    }

    /// The line on which the first value begins, while it is being read.
    var firstLine = 0

    /// Detects a truncated line before complete ones: no value may begin after a byte other than `{ [ , :`.
    private func readAfterFirstLine() throws(Break) {
        let before = last
        pass()
        guard let byte = try peek(), byte == UInt8(ascii: "{") else { return }
        let openers: [UInt8] = [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: ":")]
        if !openers.contains(before) { throw .lineEnd }
    }

    func passLine() throws(Break) {
        while let byte = try peek() {
            pass()
            if byte == 0x0A { return }
        }
    }

    /// Skips a byte that must come next.
    func pass(_ byte: UInt8) throws(Break) {
        guard try next() == byte else { throw .byte }
        pass()
    }

    // MARK: Values

    /// Returns a short string, such as a name, or `nil` if it is longer than `limit` or has escapes.
    func string(limit: Int) throws(Break) -> String? {
        try pass(UInt8(ascii: "\""))
        var text: [UInt8] = []
        var isShort = true
        while let byte = try peek() {
            if byte == 0x0A { throw endsAtLine || line == firstLine ? .lineEnd : .byte }
            pass()
            if byte == UInt8(ascii: "\"") { return isShort ? String(decoding: text, as: UTF8.self) : nil }
            if byte == UInt8(ascii: "\\") {
                isShort = false
                guard try peek() != nil else { throw .end }
                pass()
            } else if text.count < limit {
                text.append(byte)
            } else {
                isShort = false
            }
        }
        throw .end
    }

    /// Skips a complete value.
    func value() throws(Break) {
        switch try next() {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): try nested()
        case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"): throw .byte
        default:
            while let byte = try peek(), byte > 0x20, byte != UInt8(ascii: ","), byte != UInt8(ascii: "}"),
                byte != UInt8(ascii: "]")
            {
                pass()
            }
        }
    }

    /// Skips an object, an array, or a string. The loop uses local variables, which are faster than properties.
    private func nested() throws(Break) {
        var nesting = JSONNesting()
        // The last byte that is not a blank.
        var last: UInt8 = 0
        while try refill() {
            var index = position
            var end = filled
            let buffer = buffer
            while index < end {
                let byte = buffer[index]
                guard byte != 0x0A else {
                    position = index
                    if endsAtLine || (nesting.isInString && line == firstLine) { throw .lineEnd }
                    if nesting.isInString { throw .byte }
                    if last != 0 { self.last = last }
                    if line == firstLine { try readAfterFirstLine() } else { pass() }
                    (index, end) = (position, filled)
                    continue
                }
                index += 1
                if byte > 0x20 { last = byte }
                nesting.pass(byte)
                if nesting.depth == 0, !nesting.isInString {
                    position = index
                    self.last = last
                    return
                }
            }
            position = index
        }
        throw .end
    }
}
