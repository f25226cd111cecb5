import Pipeline

/// The octets of a JSON text from front to back: values are passed over or kept whole, in memory that grows with what is kept alone. What
/// stands in them is the interpreter's to judge; here only strings and brackets are told apart.
final class ResourceText {
    /// Why a value has no end.
    enum Break: Error {
        /// The text ends.
        case end
        /// A line ends that has to hold the value whole.
        case lineEnd
        /// An octet that no value begins with.
        case octet
        case input(SourceError)
    }

    private let input: any ByteInput
    private let buffer: UnsafeMutableRawBufferPointer
    private var position = 0
    private var filled = 0
    /// Octets in front of the buffer.
    private var passed = 0
    /// Of the place that is read next, from 1.
    private(set) var line = 1
    /// What is kept of what is passed over; nothing while it is `nil`.
    private(set) var kept: [UInt8] = []
    private(set) var isKeeping = false
    /// Up to which octet of the buffer it is kept.
    private var keptUntil = 0
    /// Whether more was to be kept than ``ResourceRow/maximumLength``.
    private(set) var isTooLong = false
    /// Whether a value may go over the end of a line.
    var endsAtLine = false
    /// The last octet that is no blank.
    private var last: UInt8 = 0

    private static let block = 256 << 10

    init(_ input: any ByteInput) {
        self.input = input
        buffer = .allocate(byteCount: Self.block, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Of the octet that is read next, from 0.
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

    /// Keeps what was passed over and is still in the buffer.
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

    /// The next octet, which stays; `nil` at the end.
    func peek() throws(Break) -> UInt8? { try refill() ? buffer[position] : nil }

    /// Passes over one octet.
    func pass() {
        if buffer[position] == 0x0A { line += 1 }
        if buffer[position] > 0x20 { last = buffer[position] }
        position += 1
    }

    /// The next octet that is no blank.
    func next() throws(Break) -> UInt8 {
        while let octet = try peek() {
            guard octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 else { return octet }
            if octet == 0x0A, endsAtLine { throw .lineEnd }
            if octet == 0x0A, line == firstLine { try lookBehindFirstLine() } else { pass() }
        }
        throw .end
    }

    /// On which line the first value began, as long as it is read.
    var firstLine = 0

    /// A line that is cut off in front of others that are whole: behind what is no `{ [ , :` no value may begin.
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

    /// Passes over an octet that has to be there.
    func pass(_ octet: UInt8) throws(Break) {
        guard try next() == octet else { throw .octet }
        pass()
    }

    // MARK: Values

    /// A short string, such as a name; `nil` where it is longer than `limit`, or has escapes.
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

    /// Passes over a value whole.
    func value() throws(Break) {
        switch try next() {
        case UInt8(ascii: "{"), UInt8(ascii: "["): try nested()
        case UInt8(ascii: "\""): try passString()
        case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"): throw .octet
        default:
            while let octet = try peek(), octet > 0x20, octet != UInt8(ascii: ","), octet != UInt8(ascii: "}"),
                octet != UInt8(ascii: "]")
            {
                pass()
            }
        }
    }

    // The loops below look at every octet: they count in variables of their own, which cost less than those of an object.

    private func passString() throws(Break) {
        pass()
        var isEscaped = false
        while try refill() {
            let (end, buffer) = (filled, buffer)
            var index = position
            while index < end {
                let octet = buffer[index]
                if octet == 0x0A {
                    position = index
                    throw endsAtLine || line == firstLine ? .lineEnd : .octet
                }
                index += 1
                if isEscaped {
                    isEscaped = false
                } else if octet == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if octet == UInt8(ascii: "\"") {
                    position = index
                    last = octet
                    return
                }
            }
            position = index
        }
        throw .end
    }

    private func nested() throws(Break) {
        var depth = 0
        // Between two strings, of the octets that are no blanks the last.
        var last: UInt8 = 0
        while try refill() {
            var index = position
            var end = filled
            let buffer = buffer
            while index < end {
                let octet = buffer[index]
                if octet == UInt8(ascii: "\"") || octet == 0x0A {
                    position = index
                    if octet == 0x0A {
                        if endsAtLine { throw .lineEnd }
                        if last != 0 { self.last = last }
                        if line == firstLine { try lookBehindFirstLine() } else { pass() }
                    } else {
                        try passString()
                        last = octet
                    }
                    (index, end) = (position, filled)
                    continue
                }
                index += 1
                if octet > 0x20 { last = octet }
                if octet == UInt8(ascii: "{") || octet == UInt8(ascii: "[") {
                    depth += 1
                } else if octet == UInt8(ascii: "}") || octet == UInt8(ascii: "]") {
                    depth -= 1
                    if depth == 0 {
                        position = index
                        self.last = last
                        return
                    }
                }
            }
            position = index
        }
        throw .end
    }
}
