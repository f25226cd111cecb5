import HealthModel

/// Computes hashes of the content of samples, by which a store and a target are compared. Not for secrets. Used by one thread.
///
/// The UUID is part of it, and the time of receipt is not, because it differs between hubs.
public final class SamplePrinter {
    private var latest: (origin: Origin, print: UInt64)?
    private var latestMetadata: (metadata: Metadata, print: UInt64)?
    private var latestUnits: (received: Unit, written: Unit, print: UInt64)?

    /// A printer that knows no sample yet.
    public init() {}

    /// The hash of a sample with the value and unit that the target has. It is never 0.
    public func print(of sample: Sample, value: Double, unit: Unit) -> UInt64 {
        let words = sample.identity.words
        var hash = Self.mix(Self.mix(0, words.upper), words.lower)
        for word in [sample.start.microseconds, sample.end.microseconds, sample.numeral.coefficient] {
            hash = Self.mix(hash, UInt64(bitPattern: word))
        }
        hash = Self.mix(hash, value.bitPattern)
        let zone = sample.zone.map { UInt64(UInt32(bitPattern: $0.seconds)) | 1 << 32 } ?? 0
        hash = Self.mix(
            hash, zone | UInt64(sample.timeOrigin.rawValue) << 40 | UInt64(UInt16(bitPattern: sample.numeral.exponent)) << 48)
        hash = Self.mix(hash, UInt64(UInt32(bitPattern: sample.timeResolution)))
        hash = Self.mix(hash, sample.group ?? 0)
        hash = Self.mix(hash, print(of: sample.origin))
        hash = Self.mix(hash, print(of: sample.unit, unit))
        if let metadata = sample.metadata { hash = Self.mix(hash, print(of: metadata)) }
        if let body = sample.body { hash = Self.mix(hash, StableHash.hash(body.bytes)) }
        return hash == 0 ? 1 : hash
    }

    @inline(__always)
    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word ^ 0x2545_F491_4F6C_DD1D) &* 0x9E37_79B9_7F4A_7C15
        return product ^ product >> 29
    }

    /// What the target has of a series.
    private func print(of origin: Origin) -> UInt64 {
        if let latest, latest.origin === origin { return latest.print }
        var hash = StableHash()
        let device = origin.device
        for text in [
            origin.person, origin.type.id, origin.source.id, origin.source.name, origin.source.version, device?.key,
            device?.name,
            device?.manufacturer, device?.model, device?.serial,
        ] {
            hash.combine(text ?? "")
            // The separator tells no text from an empty one.
            hash.combine(UInt8(text == nil ? 1 : 0))
        }
        latest = (origin, hash.value)
        return hash.value
    }

    private func print(of received: Unit, _ written: Unit) -> UInt64 {
        if let latestUnits, latestUnits.received == received, latestUnits.written == written { return latestUnits.print }
        var hash = StableHash()
        hash.combine("\(received.code) \(received.molarMass ?? 0) \(written.code)")
        latestUnits = (received, written, hash.value)
        return hash.value
    }

    private func print(of metadata: Metadata) -> UInt64 {
        if let latestMetadata, latestMetadata.metadata === metadata { return latestMetadata.print }
        let print = StableHash.hash(metadata.json)
        latestMetadata = (metadata, print)
        return print
    }
}
