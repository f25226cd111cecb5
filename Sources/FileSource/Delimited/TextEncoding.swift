import HealthModel

package enum TextEncoding: String, Hashable, Sendable {
    /// Also used for a file without a byte order mark that is plain ASCII.
    case utf8 = "UTF-8"
    /// UTF-16 with the lower byte first, as spreadsheets on Windows write it.
    case utf16LittleEndian = "UTF-16LE"
    /// UTF-16 with the higher byte first.
    case utf16BigEndian = "UTF-16BE"

    /// Detects the encoding from a file's first bytes: by its byte order mark, or else by the positions of NUL bytes.
    ///
    /// - Returns: the encoding, and the length of the mark in bytes.
    static func detect(_ bytes: UnsafeRawBufferPointer) -> (encoding: TextEncoding, mark: Int) {
        switch ByteOrderMark(bytes) {
        case .utf8: return (.utf8, 3)
        case .utf16LittleEndian: return (.utf16LittleEndian, 2)
        case .utf16BigEndian: return (.utf16BigEndian, 2)
        case nil: break
        }
        // In UTF-16, text in a Latin script has a NUL in every other byte.
        let sample = min(bytes.count, 512) & ~1
        var even = 0
        var odd = 0
        for index in 0..<sample where bytes[index] == 0 {
            if index & 1 == 0 { even += 1 } else { odd += 1 }
        }
        if sample >= 8, odd * 5 >= sample * 2, even == 0 { return (.utf16LittleEndian, 0) }
        if sample >= 8, even * 5 >= sample * 2, odd == 0 { return (.utf16BigEndian, 0) }
        return (.utf8, 0)
    }
}

/// Converts UTF-16 to UTF-8 in pieces.
struct UTF16Transcoder {
    let bigEndian: Bool
    private var pending: UInt8?
    private var highSurrogate: UInt32?

    init(bigEndian: Bool) { self.bigEndian = bigEndian }

    /// Converts a piece. An incomplete unit waits for the next piece. It writes at most 3 bytes for 2, plus 4.
    mutating func convert(_ source: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<UInt8>) -> Int {
        var length = 0
        for byte in source {
            guard let first = pending else {
                pending = byte
                continue
            }
            pending = nil
            let unit = bigEndian ? UInt32(first) << 8 | UInt32(byte) : UInt32(byte) << 8 | UInt32(first)
            switch unit {
            case 0xD800..<0xDC00:
                if highSurrogate != nil { length += putUTF8(0xFFFD, target + length) }
                highSurrogate = unit
            case 0xDC00..<0xE000:
                let scalar = highSurrogate.map { 0x10000 + ($0 - 0xD800) << 10 + (unit - 0xDC00) }
                highSurrogate = nil
                length += putUTF8(scalar ?? 0xFFFD, target + length)
            default:
                if highSurrogate != nil { length += putUTF8(0xFFFD, target + length) }
                highSurrogate = nil
                length += putUTF8(unit, target + length)
            }
        }
        return length
    }
}

/// Windows-1252, which includes the printable part of Latin-1.
enum Windows1252 {
    /// The characters of 0x80 to 0x9F in the WHATWG encoding standard. The five unused ones stay control characters.
    private static let upper: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
        0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E,
        0x0178,
    ]

    /// Writes the bytes as UTF-8, at most 3 for 1, and returns the number of bytes written.
    static func convert(_ source: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<UInt8>) -> Int {
        var length = 0
        for byte in source {
            let scalar = (0x80..<0xA0).contains(byte) ? UInt32(upper[Int(byte) - 0x80]) : UInt32(byte)
            length += putUTF8(scalar, target + length)
        }
        return length
    }
}

/// Writes one scalar as UTF-8 and returns its length.
func putUTF8(_ scalar: UInt32, _ target: UnsafeMutablePointer<UInt8>) -> Int {
    func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | (scalar >> shift & 0x3F)) }
    switch scalar {
    case 0..<0x80:
        target[0] = UInt8(truncatingIfNeeded: scalar)
        return 1
    case 0x80..<0x800:
        target[0] = UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
        target[1] = tail(0)
        return 2
    case 0x800..<0x10000:
        target[0] = UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
        target[1] = tail(6)
        target[2] = tail(0)
        return 3
    default:
        target[0] = UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
        target[1] = tail(12)
        target[2] = tail(6)
        target[3] = tail(0)
        return 4
    }
}

/// Whether no byte is above 0x7F.
func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    var seen: UInt64 = 0
    while index + 8 <= bytes.count {
        seen |= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        index += 8
    }
    while index < bytes.count {
        seen |= UInt64(bytes[index])
        index += 1
    }
    return seen & 0x8080_8080_8080_8080 == 0
}
