extension [UInt8] {
    /// Appends a number with seven bits per byte, the lowest first. The highest bit is set if another byte follows.
    package mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

/// Reads numbers with seven bits per byte.
package struct VarintReader {
    /// The bytes that are not read yet.
    package var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The next number, or `nil` if it is truncated or larger than 64 bits.
    package mutating func next() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            number |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return shift == 63 && byte > 1 ? nil : number }
        }
        return nil
    }
}
