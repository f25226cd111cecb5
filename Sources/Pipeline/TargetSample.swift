import HealthModel

/// A sample that a target contains.
public struct TargetSample: Hashable, Sendable {
    /// Its UUID.
    public var identity: SampleIdentity
    /// A hash of the target's content, comparable with ``ComparableExporter/print(of:)``, or `nil` if only UUIDs are compared.
    public var print: UInt64?

    /// A UUID, and a hash if there is one.
    public init(_ identity: SampleIdentity, print: UInt64? = nil) { (self.identity, self.print) = (identity, print) }
}

/// A 64-bit hash of a sample's content (FNV-1a), for comparisons and not for secrets.
public struct ContentPrint {
    /// The hash of everything added so far.
    public var value: UInt64 { hash.value }
    private var hash = StableHash()

    /// The hash of nothing.
    public init() {}

    /// Adds a text and a separator.
    public mutating func add(_ text: String) {
        hash.combine(text)
        hash.combine(UInt8(0))
    }

    /// Adds a number by its bits.
    public mutating func add(_ number: Double) {
        hash.combine(Int64(bitPattern: number.bitPattern))
    }
}
