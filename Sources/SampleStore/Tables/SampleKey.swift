import HealthModel

/// The key of a sample's row: series, start in microseconds since 1970, and the 74 bits of its UUID's hash. It is stored without an
/// allocation.
struct SampleKey: Hashable {
    var series: Int64
    var start: Int64
    /// The upper 12 bits of the hash.
    var high: UInt16
    /// The lower 62 bits of the hash.
    var low: UInt64

    init(series: Int64, start: Int64, high: UInt16, low: UInt64) {
        self.series = series
        self.start = start
        self.high = high
        self.low = low
    }

    init(series: Int64, start: Int64, of identity: SampleIdentity) {
        self.init(series: series, start: start, high: identity.high, low: identity.low)
    }

    /// Creates a key from a hash as it is stored.
    ///
    /// - Throws: ``StoreError`` of the kind `corrupt` if the hash is invalid. Otherwise the key could match another sample.
    init(series: Int64, start: Int64, hash: UnsafeRawBufferPointer) throws(StoreError) {
        let (high, low) = try HashBytes.read(hash)
        self.init(series: series, start: start, high: high, low: low)
    }

    init(series: Int64, start: Int64, hash: [UInt8]) throws(StoreError) {
        let result = hash.withUnsafeBytes { bytes in Result { () throws(StoreError) in try HashBytes.read(bytes) } }
        let (high, low) = try result.get()
        self.init(series: series, start: start, high: high, low: low)
    }

    /// Few rows have the same start and lower bits, so the rest is not hashed.
    func hash(into hasher: inout Hasher) {
        hasher.combine(start)
        hasher.combine(low)
    }

    /// Returns the UUID.
    ///
    /// - Parameter skew: The microseconds that the nominal start is ahead of the start.
    func identity(skew: Int64) -> SampleIdentity { SampleIdentity(nominalStart: start &+ skew, high: high, low: low) }

    /// The hash as it is stored.
    var hash: [UInt8] { HashBytes(high: high, low: low).bytes }
}

extension SampleIdentity {
    /// The hash as it is stored.
    var storedHash: [UInt8] { HashBytes(high: high, low: low).bytes }
}

/// A hash as it is stored: ten bytes, most significant first.
struct HashBytes {
    static let count = 10
    private var high: UInt16
    // Words of two bytes avoid padding.
    private var middle: (UInt16, UInt16, UInt16, UInt16)

    init(high: UInt16, low: UInt64) {
        self.high = high.bigEndian
        middle = (
            UInt16(truncatingIfNeeded: low >> 48).bigEndian, UInt16(truncatingIfNeeded: low >> 32).bigEndian,
            UInt16(truncatingIfNeeded: low >> 16).bigEndian, UInt16(truncatingIfNeeded: low).bigEndian
        )
    }

    var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }

    /// Decodes a hash from the form that ``bytes`` returns.
    ///
    /// - Throws: ``StoreError`` of the kind `corrupt` if the blob has another length.
    static func read(_ blob: UnsafeRawBufferPointer) throws(StoreError) -> (high: UInt16, low: UInt64) {
        guard blob.count == count else { throw StoreError(.corrupt, "a sample's hash has \(blob.count) bytes") }
        return (
            UInt16(bigEndian: blob.loadUnaligned(as: UInt16.self)),
            UInt64(bigEndian: blob.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
        )
    }
}
