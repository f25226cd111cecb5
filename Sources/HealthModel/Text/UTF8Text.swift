/// Validates UTF-8.
public enum UTF8Text {
    /// The index of the first invalid byte (Unicode, table 3-7), or `nil` if all are valid.
    public static func firstFault(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 0
        while index < bytes.count {
            if index + 8 <= bytes.count,
                bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                index += 8
                continue
            }
            let first = bytes[index]
            if first < 0x80 {
                index += 1
                continue
            }
            let length: Int
            var second: ClosedRange<UInt8> = 0x80...0xBF
            switch first {
            case 0xC2...0xDF: length = 2
            case 0xE0: (length, second) = (3, 0xA0...0xBF)
            case 0xED: (length, second) = (3, 0x80...0x9F)
            case 0xE1...0xEF: length = 3
            case 0xF0: (length, second) = (4, 0x90...0xBF)
            case 0xF1...0xF3: length = 4
            case 0xF4: (length, second) = (4, 0x80...0x8F)
            default: return index
            }
            guard index + length <= bytes.count, second.contains(bytes[index + 1]) else { return index }
            if length > 2, bytes[index + 2] & 0xC0 != 0x80 { return index }
            if length > 3, bytes[index + 3] & 0xC0 != 0x80 { return index }
            index += length
        }
        return nil
    }

    /// Whether all bytes are valid.
    public static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool { firstFault(bytes) == nil }
}
