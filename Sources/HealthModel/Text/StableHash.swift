/// The 64-bit hash FNV-1a, the same on every machine and in every run, for stored data and for tables of names. Do not use it for keys
/// from attackers, who could force collisions.
///
///     StableHash.hash("bodyMass")
///
/// http://www.isthe.com/chongo/tech/comp/fnv/
@frozen public struct StableHash: Sendable {
    /// The hash of everything combined so far.
    public var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash of nothing.
    @inlinable public init() {}

    /// Combines a byte.
    @inlinable public mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0100_0000_01B3 }

    /// Combines the UTF-8 of a text.
    @inlinable public mutating func combine(_ text: String) { for byte in text.utf8 { combine(byte) } }

    /// Combines the eight bytes of a number, lowest first.
    @inlinable public mutating func combine(_ number: Int64) {
        for shift in stride(from: 0, to: 64, by: 8) { combine(UInt8(truncatingIfNeeded: number >> Int64(shift))) }
    }

    /// The hash of bytes.
    @inlinable public static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = StableHash()
        for byte in bytes { hash.combine(byte) }
        return hash.value
    }

    /// The hash of the UTF-8 of a text.
    @inlinable public static func hash(_ text: String) -> UInt64 { hash(text.utf8) }
}
