import Pipeline

/// Reads a JSON text from front to back. Values are skipped or kept, and memory only grows with those that are kept. It only recognizes
/// strings and brackets. The interpreter validates the values.
final class ResourceText {
    /// The reason why a value is incomplete.
    enum Break: Error {
        /// The text ends.
        case end
        /// A line ends that must contain the complete value.
        case lineEnd
        /// A byte with which no value can begin.
        case octet
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
    private(set) var kept: [UInt8] = []
    private(set) var isKeeping = false
    /// The index in the buffer up to which bytes were kept.
    private var keptUntil = 0
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
        kept.removeAll(keepingCapacity: kept.capacity <= Self.block)
        isKeeping = true
        isTooLong = false
        keptUntil = position
    }

    func keepNoMore() {
        keepPassed()
        isKeeping = false
    }

    /// Keeps the bytes that were skipped and are still in the buffer.
    private func keepPassed() {
        guard isKeeping, !isTooLong else { return }
        let range = keptUntil..<position
        keptUntil = position
        guard kept.count + range.count <= ResourceRow.maximumLength else {
            isTooLong = true
            kept = []
            return
        }
        kept.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[range]))
    }

    // MARK: Octets

    private func refill() throws(Break) -> Bool {
        guard position == filled else { return true }
        keepPassed()
        passed += filled
        (position, filled, keptUntil) = (0, 0, 0)
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
        while let octet = try peek() {
            guard octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 else { return octet }
            if octet == 0x0A, endsAtLine { throw .lineEnd }
            if octet == 0x0A, line == firstLine { try lookBehindFirstLine() } else { pass() }
        }
        throw .end
    }

    /// The line on which the first value begins, while it is being read.
    var firstLine = 0

    /// Detects a truncated line before complete ones: no value may begin after a byte other than `{ [ , :`.
    private func lookBehindFirstLine() throws(Break) {
        let before = last
        pass()
        guard let octet = try peek(), octet == UInt8(ascii: "{") else { return }
        let openers: [UInt8] = [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: ":")]
        if !openers.contains(before) { throw .lineEnd }
    }

    func passLine() throws(Break) {
        while let octet = try peek() {
            pass()
            if octet == 0x0A { return }
        }
    }

    /// Skips a byte that must come next.
    func pass(_ octet: UInt8) throws(Break) {
        guard try next() == octet else { throw .octet }
        pass()
    }

    // MARK: Values

    /// Returns a short string, such as a name, or `nil` if it is longer than `limit` or has escapes.
    func string(limit: Int) throws(Break) -> String? {
        try pass(UInt8(ascii: "\""))
        var text: [UInt8] = []
        var isShort = true
        while let octet = try peek() {
            if octet == 0x0A { throw endsAtLine || line == firstLine ? .lineEnd : .octet }
            pass()
            if octet == UInt8(ascii: "\"") { return isShort ? String(decoding: text, as: UTF8.self) : nil }
            if octet == UInt8(ascii: "\\") {
                isShort = false
                guard try peek() != nil else { throw .end }
                pass()
            } else if text.count < limit {
                text.append(octet)
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
        case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"): throw .octet
        default:
            while let octet = try peek(), octet > 0x20, octet != UInt8(ascii: ","), octet != UInt8(ascii: "}"),
                octet != UInt8(ascii: "]")
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
                let octet = buffer[index]
                guard octet != 0x0A else {
                    position = index
                    if endsAtLine || (nesting.isInString && line == firstLine) { throw .lineEnd }
                    if nesting.isInString { throw .octet }
                    if last != 0 { self.last = last }
                    if line == firstLine { try lookBehindFirstLine() } else { pass() }
                    (index, end) = (position, filled)
                    continue
                }
                index += 1
                if octet > 0x20 { last = octet }
                nesting.pass(octet)
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
