import Glibc

/// Replaces characters that XML 1.0 forbids but exports contain. A single `U+000B` in an app's name would stop any parser. They become
/// blanks before parsing, and the length of the text does not change.
enum ForbiddenCharacters {
    /// The maximum length of a character reference, `&#x0010FFFF;` with room for zeros.
    static let maximumReferenceLength = 16

    /// Replaces control characters other than tab and line breaks, and references to characters that XML forbids.
    static func scrub(_ bytes: UnsafeMutableRawBufferPointer) {
        scrubBytes(bytes)
        scrubReferences(bytes)
    }

    /// The number of bytes at the end that may be the beginning of a reference.
    static func unfinishedReference(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
        for length in 1...maximumReferenceLength where length <= bytes.count {
            switch bytes[bytes.count - length] {
            case UInt8(ascii: "&"): return length == 1 || bytes[bytes.count - length + 1] == UInt8(ascii: "#") ? length : 0
            case UInt8(ascii: ";"), UInt8(ascii: " "), UInt8(ascii: "<"): return 0
            default: continue
            }
        }
        return 0
    }

    private static func scrubBytes(_ bytes: UnsafeMutableRawBufferPointer) {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = 0
        // Eight bytes at a time: the high bit of (x - 0x20) & ~x is set if a byte is below 0x20.
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if (word &- 0x20 &* ones) & ~word & (0x80 &* ones) != 0 { scrub(bytes, index..<index + 8) }
            index += 8
        }
        scrub(bytes, index..<bytes.count)
    }

    private static func scrub(_ bytes: UnsafeMutableRawBufferPointer, _ range: Range<Int>) {
        for index in range where bytes[index] < 0x20 {
            if bytes[index] != 0x09 && bytes[index] != 0x0A && bytes[index] != 0x0D { bytes[index] = 0x20 }
        }
    }

    private static func scrubReferences(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        var index = 1
        while index < bytes.count, let found = memchr(base + index, Int32(UInt8(ascii: "#")), bytes.count - index) {
            index = base.distance(to: found)
            if bytes[index - 1] == UInt8(ascii: "&") { scrubReference(bytes, hash: index) }
            index += 1
        }
    }

    private static func scrubReference(_ bytes: UnsafeMutableRawBufferPointer, hash: Int) {
        var index = hash + 1
        let isHexadecimal = index < bytes.count && bytes[index] == UInt8(ascii: "x")
        if isHexadecimal { index += 1 }
        let first = index
        var scalar: UInt32 = 0
        while index < bytes.count, let digit = digit(bytes[index], isHexadecimal) {
            scalar = min(scalar * (isHexadecimal ? 16 : 10) + digit, 0x11_0000)
            index += 1
        }
        guard index > first, index < bytes.count, bytes[index] == UInt8(ascii: ";"), isForbidden(scalar) else { return }
        // Keeps the length: `&#11;` becomes `&#32;`, `&#x0B;` becomes `&#032;`, and `&#1;` has only room for a tab.
        for position in hash + 1..<index { bytes[position] = UInt8(ascii: "0") }
        if index - hash > 2 {
            bytes[index - 2] = UInt8(ascii: "3")
            bytes[index - 1] = UInt8(ascii: "2")
        } else {
            bytes[index - 1] = UInt8(ascii: "9")
        }
    }

    private static func digit(_ byte: UInt8, _ isHexadecimal: Bool) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46 where isHexadecimal: UInt32(byte - 0x41 + 10)
        case 0x61...0x66 where isHexadecimal: UInt32(byte - 0x61 + 10)
        default: nil
        }
    }

    private static func isForbidden(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x09, 0x0A, 0x0D: false
        case 0x20...0xD7FF, 0xE000...0xFFFD, 0x1_0000...0x10_FFFF: false
        default: true
        }
    }
}
