import HealthModel

/// A sample that a target has.
public struct HeldSample: Hashable, Sendable {
    /// Its UUID.
    public var identity: SampleIdentity
    /// A hash of what the target has of it, comparable with ``ComparableExporter/print(of:)``; `nil` where only UUIDs are compared.
    public var print: UInt64?

    /// A UUID, and a hash where there is one.
    public init(_ identity: SampleIdentity, print: UInt64? = nil) { (self.identity, self.print) = (identity, print) }
}

/// A hash of a sample's content, of 64 bits (FNV-1a): for comparisons, not for secrets.
public struct ContentPrint {
    /// The hash of what was added.
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Of nothing yet.
    public init() {}

    /// Adds a text, kept apart from the next one.
    public mutating func add(_ text: String) {
        for octet in text.utf8 { mix(octet) }
        mix(0)
    }

    /// Adds a number by its bits.
    public mutating func add(_ number: Double) {
        withUnsafeBytes(of: number.bitPattern.littleEndian) { for octet in $0 { mix(octet) } }
    }

    private mutating func mix(_ octet: UInt8) { value = (value ^ UInt64(octet)) &* 0x100_0000_01B3 }
}
