import CompressionKit
import HealthModel

/// Writes changes as a block: the bytes that a hub sends to a collector.
///
/// Series and units are written once, when a change first uses them. Times are differences from the change before. A UUID is left out if
/// the collector can compute it from the reading (``Sample/identityOrdinal(shift:)``).
///
///     | count, a varint | each change | , compressed with zlib (RFC 1950)
public struct BlockWriter {
    private var writer = OctetWriter()
    private var origins: [Origin: Int] = [:]
    private var units: [Unit: Int] = [:]
    private var (lastStart, lastReceived) = (Int64(0), Int64(0))

    /// Returns the block of some changes.
    public static func block(of changes: [SampleChange]) -> [UInt8] { compressed(plain(of: changes)) }

    static func compressed(_ octets: [UInt8]) -> [UInt8] { BufferCompressor.compress(octets, .zlib) }

    static func plain(of changes: [SampleChange]) -> [UInt8] {
        var block = BlockWriter()
        block.writer.write(UInt64(changes.count))
        for change in changes { block.append(change) }
        return block.writer.octets
    }

    private mutating func append(_ change: SampleChange) {
        let sample = change.sample
        let ordinal = sample.identityOrdinal()
        let duration = sample.end.microseconds &- sample.start.microseconds
        var flags = BlockFlags()
        if case .deleted(let deletion) = change {
            flags.insert(.isDeletion)
            if deletion.replacedBy != nil { flags.insert(.hasReplacement) }
        }
        if ordinal == nil { flags.insert(.hasUUID) }
        if duration != 0 { flags.insert(.hasDuration) }
        if sample.nominalStart != sample.start.microseconds { flags.insert(.hasNominalStart) }
        if sample.zone != nil { flags.insert(.hasZone) }
        if sample.group != nil { flags.insert(.hasGroup) }
        if sample.metadata != nil { flags.insert(.hasMetadata) }
        if sample.record != nil { flags.insert(.hasRecord) }
        if sample.body != nil { flags.insert(.hasBody) }
        if sample.ordinal != nil { flags.insert(.hasOrdinal) }
        if sample.timeResolution != 1 { flags.insert(.hasResolution) }
        if sample.convertedValue?.bitPattern != sample.value.bitPattern { flags.insert(.hasValue) }
        writer.write(UInt64(flags.rawValue))
        append(sample.origin)
        writer.write(signed: sample.start.microseconds &- lastStart)
        lastStart = sample.start.microseconds
        if duration != 0 { writer.write(signed: duration) }
        if flags.contains(.hasNominalStart) { writer.write(signed: sample.nominalStart &- sample.start.microseconds) }
        writer.write(UInt64(sample.timeOrigin.rawValue))
        writer.write(signed: sample.received.microseconds &- lastReceived)
        lastReceived = sample.received.microseconds
        if let zone = sample.zone { writer.write(signed: Int64(zone.seconds)) }
        writer.write(sample.numeral.text)
        append(sample.unit)
        if flags.contains(.hasValue) { writer.write(sample.value) }
        if ordinal == nil { append(sample.identity) }
        if let ordinal = sample.ordinal { writer.write(UInt64(ordinal)) }
        if flags.contains(.hasResolution) { writer.write(signed: Int64(sample.timeResolution)) }
        if let group = sample.group { writer.write(group) }
        if let metadata = sample.metadata { writer.write(metadata.json) }
        if let record = sample.record {
            writer.write(record.id)
            writer.write(signed: record.version)
        }
        if let body = sample.body { writer.write(body.octets) }
        if case .deleted(let deletion) = change, let replacement = deletion.replacedBy { writer.write(replacement) }
    }

    private mutating func append(_ identity: SampleIdentity) {
        writer.write(identity.milliseconds)
        writer.write(UInt64(identity.high))
        writer.write(identity.low)
    }

    private mutating func append(_ origin: Origin) {
        if let known = origins[origin] { return writer.write(UInt64(known)) }
        writer.write(UInt64(origins.count))
        origins[origin] = origins.count
        writer.write(origin.subject)
        writer.write(origin.type.id)
        writer.write(UInt64(origin.kind.rawValue))
        writer.write(origin.source.id)
        writer.write(origin.source.name)
        writer.write(origin.source.version)
        writer.write(origin.device?.key)
        guard let device = origin.device else { return }
        for text in [
            device.name, device.manufacturer, device.model, device.serial, device.hardware, device.firmware, device.software,
            device.udi,
        ] { writer.write(text) }
    }

    private mutating func append(_ unit: Unit) {
        if let known = units[unit] { return writer.write(UInt64(known)) }
        writer.write(UInt64(units.count))
        units[unit] = units.count
        writer.write(unit.code)
        writer.write(unit.molarMass ?? 0)
    }
}

/// The parts that a change in a block has.
struct BlockFlags: OptionSet {
    let rawValue: UInt16

    static let isDeletion = BlockFlags(rawValue: 1 << 0)
    static let hasReplacement = BlockFlags(rawValue: 1 << 1)
    static let hasUUID = BlockFlags(rawValue: 1 << 2)
    static let hasDuration = BlockFlags(rawValue: 1 << 3)
    static let hasNominalStart = BlockFlags(rawValue: 1 << 4)
    static let hasZone = BlockFlags(rawValue: 1 << 5)
    static let hasGroup = BlockFlags(rawValue: 1 << 6)
    static let hasMetadata = BlockFlags(rawValue: 1 << 7)
    static let hasRecord = BlockFlags(rawValue: 1 << 8)
    static let hasBody = BlockFlags(rawValue: 1 << 9)
    static let hasOrdinal = BlockFlags(rawValue: 1 << 10)
    static let hasResolution = BlockFlags(rawValue: 1 << 11)

    static let hasValue = BlockFlags(rawValue: 1 << 12)

    static let all: UInt16 = (1 << 13) - 1
}

extension Sample {
    /// The numeral in the type's canonical unit, or `nil` if its unit cannot be converted.
    var convertedValue: Double? { (try? origin.type.conversion(from: unit))?.convert(numeral) }
}
