/// A string in a JSON text: the range of its bytes between the quotation marks.
@frozen public struct JSONString: Hashable, Sendable {
    public var range: Range<Int>
    /// Whether it has escapes.
    public var isEscaped: Bool

    @inlinable public init(_ range: Range<Int>, isEscaped: Bool) { (self.range, self.isEscaped) = (range, isEscaped) }

    /// The string with its escapes resolved.
    ///
    /// - Parameter bytes: the whole text, whose escapes are valid.
    public func text(in bytes: UnsafeRawBufferPointer) -> String {
        let written = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard isEscaped else { return String(decoding: written, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: written.count) { room in
            room.baseAddress.map { Self.unescape(written, into: $0).count } ?? 0
        }
    }

    /// Writes the bytes of a string without its escapes. Half of a surrogate pair becomes U+FFFD.
    ///
    /// - Parameters:
    ///   - written: the bytes between the quotation marks, whose escapes are valid.
    ///   - target: room for as many bytes. It may be the place of `written` itself.
    /// - Returns: the number of bytes, and whether there is half of a pair.
    public static func unescape(
        _ written: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<UInt8>
    ) -> (count: Int, hasHalf: Bool) {
        var (index, count, hasHalf) = (0, 0, false)
        while index < written.count {
            let byte = written[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < written.count else {
                target[count] = byte
                count += 1
                continue
            }
            let letter = written[index]
            index += 1
            if letter == UInt8(ascii: "u") {
                let scalar = Self.scalar(written, &index)
                if scalar == nil { hasHalf = true }
                for byte in UTF8.encode(scalar ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter {
                    target[count] = byte
                    count += 1
                }
            } else {
                target[count] = Self.character(letter)
                count += 1
            }
        }
        return (count, hasHalf)
    }

    private static func character(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        default: letter
        }
    }

    /// The character of the digits at an index and of a second escape, or `nil` if there is half of a pair.
    private static func scalar(_ written: UnsafeRawBufferPointer, _ index: inout Int) -> Unicode.Scalar? {
        let first = codeUnit(written, &index)
        guard first >> 10 == 0x36 else { return Unicode.Scalar(first) }
        guard index + 6 <= written.count, written[index] == UInt8(ascii: "\\"), written[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        index += 2
        let second = codeUnit(written, &index)
        return second >> 10 == 0x37 ? Unicode.Scalar(0x1_0000 + (first & 0x3FF) << 10 + second & 0x3FF) : nil
    }

    private static func codeUnit(_ written: UnsafeRawBufferPointer, _ index: inout Int) -> UInt32 {
        let end = min(index + 4, written.count)
        defer { index = end }
        return written[index..<end].reduce(0) { $0 << 4 | (hexadecimal($1) ?? 0) }
    }

    @inlinable static func hexadecimal(_ byte: UInt8) -> UInt32? {
        if byte &- UInt8(ascii: "0") < 10 { return UInt32(byte - UInt8(ascii: "0")) }
        let letter = byte | 0x20
        return letter &- UInt8(ascii: "a") < 6 ? UInt32(letter - UInt8(ascii: "a") + 10) : nil
    }
}
