import CompressionKit
import HealthModel

/// Writes changes as a block: the bytes that a hub sends to a collector.
///
/// Series and units are written once, when a change first uses them. Times are differences from the change before. A UUID is left out if
/// the collector can compute it from the reading (``Sample/identityOrdinal(shift:)``).
///
///     | count, a varint | each change | , compressed with zlib (RFC 1950)
package struct BlockWriter {
    private var writer = FleetByteWriter()
    private var origins: [Origin: Int] = [:]
    /// The index of the series before, which is often the next one too.
    private var latest: (origin: Origin, index: Int)?
    private var conversions = UnitConversions()
    private var units: [Unit: Int] = [:]
    private var (lastStart, lastReceived) = (Int64(0), Int64(0))

    package static func block(of changes: [SampleChange]) -> [UInt8] { compressed(plain(of: changes)) }

    static func compressed(_ bytes: [UInt8]) -> [UInt8] { BufferCompressor.compress(bytes, .zlib) }

    static func plain(of changes: [SampleChange]) -> [UInt8] {
        var block = BlockWriter()
        block.writer.write(UInt64(changes.count))
        for change in changes { block.append(change) }
        return block.writer.bytes
    }

    private mutating func append(_ change: SampleChange) {
        let sample = change.sample
        let ordinal = sample.identityOrdinal()
        let (series, measured) = (index(of: sample.origin), units[sample.unit] ?? units.count)
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
        if conversions[series, measured, of: sample]?.bitPattern != sample.value.bitPattern { flags.insert(.hasValue) }
        writer.write(UInt64(flags.rawValue))
        append(sample.origin, series)
        writer.write(signed: sample.start.microseconds &- lastStart)
        lastStart = sample.start.microseconds
        if duration != 0 { writer.write(signed: duration) }
        if flags.contains(.hasNominalStart) { writer.write(signed: sample.nominalStart &- sample.start.microseconds) }
        writer.write(UInt64(sample.timeOrigin.rawValue))
        writer.write(signed: sample.received.microseconds &- lastReceived)
        lastReceived = sample.received.microseconds
        if let zone = sample.zone { writer.write(signed: Int64(zone.seconds)) }
        writer.write(sample.numeral.text)
        append(sample.unit, measured)
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
        if let body = sample.body { writer.write(body.bytes) }
        if case .deleted(let deletion) = change, let replacement = deletion.replacedBy { writer.write(replacement) }
    }

    private mutating func append(_ identity: SampleIdentity) {
        writer.write(identity.milliseconds)
        writer.write(UInt64(identity.high))
        writer.write(identity.low)
    }

    /// The index of a series, which is the next one if the series is new.
    private func index(of origin: Origin) -> Int {
        if let latest, latest.origin === origin { return latest.index }
        return origins[origin] ?? origins.count
    }

    private mutating func append(_ origin: Origin, _ index: Int) {
        latest = (origin, index)
        writer.write(UInt64(index))
        guard index == origins.count else { return }
        origins[origin] = index
        writer.write(origin.person)
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

    private mutating func append(_ unit: Unit, _ index: Int) {
        writer.write(UInt64(index))
        guard index == units.count else { return }
        units[unit] = index
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

/// The conversions of a block, by the indexes of a series and of a unit.
struct UnitConversions {
    private struct Pair: Hashable {
        let series: Int
        let unit: Int
    }

    private var known: [Pair: UnitConversion?] = [:]

    /// The numeral of a sample in its type's canonical unit, or `nil` if its unit cannot be converted.
    subscript(series: Int, unit: Int, of sample: Sample) -> Double? {
        mutating get {
            let pair = Pair(series: series, unit: unit)
            if let conversion = known[pair] { return conversion?.convert(sample.numeral) }
            let conversion = try? sample.origin.type.conversion(from: sample.unit)
            known[pair] = .some(conversion)
            return conversion?.convert(sample.numeral)
        }
    }
}

extension Sample {
    /// The numeral in the type's canonical unit, or `nil` if its unit cannot be converted.
    var convertedValue: Double? { (try? origin.type.conversion(from: unit))?.convert(numeral) }
}
