import CompressionKit
import HealthModel

/// Reads a block that a hub sent. The bytes come from outside, so every number, length, and text is checked.
package struct BlockReader {
    package static let maximumChanges = 4096
    /// The maximum length of a block after decompression, in bytes.
    package static let maximumLength = 40 << 20
    /// The length after decompression up to which a short message is read, in bytes: 2 KiB for each change. Bodies are compressed already,
    /// so a longer block is about as long as its message. Otherwise a message of 600 kB could need a gigabyte of memory.
    static let maximumShortLength = 8 << 20

    private var reader: FleetByteReader
    private var origins: [Origin] = []
    private var units: [Unit] = []
    private var conversions = UnitConversions()
    private var (lastStart, lastReceived) = (Int64(0), Int64(0))

    /// Returns the changes of a block, in its order. Their ledger entries and numbers are 0, because only the hub knows them.
    package static func changes(of block: ArraySlice<UInt8>) throws(BlockFault) -> [SampleChange] {
        try self.block(block).changes
    }

    /// Returns the changes of a block and its length after decompression.
    static func block(_ block: ArraySlice<UInt8>) throws(BlockFault) -> (changes: [SampleChange], length: Int) {
        let plain = try decompressed(block)
        return (try changes(ofPlain: plain), plain.count)
    }

    static func changes(ofPlain bytes: [UInt8]) throws(BlockFault) -> [SampleChange] {
        var block = BlockReader(reader: FleetByteReader(bytes[...]))
        let count = try block.reader.number(below: maximumChanges + 1)
        var changes: [SampleChange] = []
        changes.reserveCapacity(count)
        for _ in 0..<count { changes.append(try block.change()) }
        guard block.reader.isAtEnd else { throw .invalid("there are bytes after the last change") }
        return changes
    }

    private init(reader: FleetByteReader) { self.reader = reader }

    private static func decompressed(_ block: ArraySlice<UInt8>) throws(BlockFault) -> [UInt8] {
        guard let stream = InflateStream(.zlib) else { throw .invalid("no memory") }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var position = block.startIndex
        let maximumLength = min(maximumLength, maximumShortLength + 4 * block.count)
        while true {
            let step = chunk.withUnsafeMutableBytes { room in
                block[position...].withUnsafeBytes { stream.decompress($0, into: room) }
            }
            position += step.read
            bytes += chunk.prefix(step.written)
            guard bytes.count <= maximumLength else { throw .tooLong }
            switch step.state {
            case .ended:
                guard position == block.endIndex else { throw .invalid("there are bytes after it") }
                return bytes
            case .damaged: throw .invalid("its compression is damaged")
            default: guard step.written > 0 || step.read > 0 else { throw .truncated }
            }
        }
    }

    private mutating func change() throws(BlockFault) -> SampleChange {
        let flags = BlockFlags(rawValue: UInt16(try reader.number(below: Int(BlockFlags.all) + 1)))
        let series = try origin()
        let origin = origins[series]
        lastStart = lastStart &+ (try reader.signed())
        let duration = flags.contains(.hasDuration) ? try reader.signed() : 0
        let nominalStart = flags.contains(.hasNominalStart) ? lastStart &+ (try reader.signed()) : lastStart
        guard let timeOrigin = TimeOrigin(rawValue: UInt8(try reader.number(below: 3))) else { throw .invalid("a time's origin") }
        lastReceived = lastReceived &+ (try reader.signed())
        for time in [lastStart, lastStart &+ duration, nominalStart, lastReceived] where !Self.times.contains(time) {
            throw .invalid("a time is out of range")
        }
        let zone = flags.contains(.hasZone) ? ZoneOffset(seconds: try reader.seconds()) : nil
        let numeral: Numeral
        do { numeral = try Numeral(try reader.text()) } catch let fault as BlockFault { throw fault } catch {
            throw .invalid("a numeral")
        }
        let measured = try unit()
        let unit = units[measured]
        let value = flags.contains(.hasValue) ? try reader.double() : nil
        let identity = flags.contains(.hasUUID) ? try identity() : nil
        let ordinal = flags.contains(.hasOrdinal) ? UInt32(try reader.number(below: Int(UInt32.max) + 1)) : nil
        let resolution = flags.contains(.hasResolution) ? try reader.signed() : 1
        guard resolution > 0, let resolution = Int32(exactly: resolution) else { throw .invalid("a time's resolution") }
        var sample = Sample(
            origin: origin, identity: identity ?? SampleIdentity(milliseconds: 0, high: 0, low: 0), nominalStart: nominalStart,
            start: Instant(microseconds: lastStart), end: Instant(microseconds: lastStart &+ duration), value: 0,
            numeral: numeral,
            unit: unit, zone: zone, timeOrigin: timeOrigin, received: Instant(microseconds: lastReceived),
            timeResolution: resolution,
            ordinal: ordinal)
        sample.value = try Self.value(conversions[series, measured, of: sample], declared: value)
        if flags.contains(.hasGroup) { sample.group = try reader.number() }
        if flags.contains(.hasMetadata) { sample.metadata = try metadata() }
        if flags.contains(.hasRecord) { sample.record = try record() }
        if flags.contains(.hasBody) { sample.body = SampleBody(bytes: Array(try reader.bytes())) }
        if identity == nil {
            guard let ordinal else { throw .invalid("a change has neither a UUID nor an ordinal") }
            sample.identity = sample.identity(ordinal: ordinal)
        }
        guard flags.contains(.isDeletion) else { return .added(StoredSample(sample: sample, ingest: 0, seq: 0)) }
        let replacement = flags.contains(.hasReplacement) ? try reader.text() : nil
        guard replacement.map({ SampleIdentity($0) != nil }) != false else { throw .invalid("a replacement is not a UUID") }
        return .deleted(StoredDeletion(sample: sample, replacedBy: replacement, ingest: 0, seq: 0))
    }

    /// The years 1 to 9999, in microseconds since 1970.
    private static let times = Int64(-62_135_596_800_000_000)...253_402_300_799_999_999

    /// The value in the canonical unit. It must agree with the numeral and its unit.
    private static func value(_ converted: Double?, declared: Double?) throws(BlockFault) -> Double {
        guard let converted, converted.isFinite else { throw .invalid("a value has the wrong unit") }
        guard let declared else { return converted }
        // Only the last digits may differ, and the sign of zero.
        guard abs(declared - converted) <= 1e-9 * abs(converted) else {
            throw .invalid("a value does not agree with its numeral and unit")
        }
        return declared
    }

    private mutating func identity() throws(BlockFault) -> SampleIdentity {
        let (milliseconds, high, low) = (try reader.number(), try reader.number(), try reader.number())
        guard milliseconds < 1 << 48, high < 1 << 12, low < 1 << 62 else { throw .invalid("a UUID") }
        return SampleIdentity(milliseconds: milliseconds, high: UInt16(high), low: low)
    }

    /// A record's id and version. No hub can send a version that is higher than all later ones of the source.
    private mutating func record() throws(BlockFault) -> RecordIdentifier {
        let record = RecordIdentifier(id: try reader.text(), version: try reader.signed())
        guard Self.versions.contains(record.version) else { throw .invalid("a record's version is out of range") }
        return record
    }

    /// The versions of records: integers that a JSON number represents exactly.
    private static let versions = Int64(-1 << 53)...Int64(1 << 53)

    private mutating func metadata() throws(BlockFault) -> Metadata {
        let json = try reader.text()
        do { return try Metadata(json: json) } catch { throw .invalid("metadata") }
    }

    /// The index of the next change's series.
    private mutating func origin() throws(BlockFault) -> Int {
        let index = try reader.number(below: origins.count + 1)
        if index < origins.count { return index }
        let (person, id) = (try reader.text(), try reader.text())
        guard let kind = SampleKind(rawValue: Int64(try reader.number(below: 256))), let type = SampleType(id, kind: kind) else {
            throw .invalid("a type that this version does not know: update the collector")
        }
        let source = SourceRevision(id: try reader.text(), name: try reader.text(), version: try reader.optionalText())
        var device: Device?
        if let key = try reader.optionalText() {
            device = Device(
                key: key, name: try reader.optionalText(), manufacturer: try reader.optionalText(),
                model: try reader.optionalText(),
                serial: try reader.optionalText(), hardware: try reader.optionalText(), firmware: try reader.optionalText(),
                software: try reader.optionalText(), udi: try reader.optionalText())
        }
        let origin = Origin(person: person, type: type, source: source, device: device)
        origins.append(origin)
        return index
    }

    /// The index of the next change's unit.
    private mutating func unit() throws(BlockFault) -> Int {
        let index = try reader.number(below: units.count + 1)
        if index < units.count { return index }
        let (code, molarMass) = (try reader.text(), try reader.double())
        guard var unit = try? Unit(ucum: code), molarMass.isFinite, molarMass >= 0 else { throw .invalid("a unit") }
        if molarMass > 0 { unit = unit.with(molarMass: molarMass) }
        units.append(unit)
        return index
    }
}

extension FleetByteReader {
    /// The seconds of a zone, less than a day.
    fileprivate mutating func seconds() throws(BlockFault) -> Int32 {
        let seconds = try signed()
        guard (-86_399...86_399).contains(seconds) else { throw .invalid("a zone") }
        return Int32(seconds)
    }
}
