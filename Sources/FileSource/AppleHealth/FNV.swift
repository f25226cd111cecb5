/// The 64-bit hash FNV-1a. Its result is the same on every machine and in every version.
struct FNV {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    mutating func combine(_ text: String) { for byte in text.utf8 { combine(byte) } }

    /// Combines the eight bytes of a number, lowest first.
    mutating func combine(_ number: Int64) {
        for shift in stride(from: 0, to: 64, by: 8) { combine(UInt8(truncatingIfNeeded: number >> Int64(shift))) }
    }

    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = FNV()
        for byte in bytes { hash.combine(byte) }
        return hash.value
    }
}
