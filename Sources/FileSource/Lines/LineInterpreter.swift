import HealthModel
import Pipeline

/// Interprets our own lines. Each is a sample of any kind, or a deletion, which is counted and not executed.
///
/// - A completely exported line contains the parts of its UUID (`identity`). The UUID is computed again, and a line with another `uuid`
///   is rejected. So is a line of another form, such as the output of `query`, if its UUID does not follow from its contents.
/// - A line without `uuid`, as people write it, gets its identity from its contents.
/// - `me` is the person of the import. If another person's store wrote the line, the sample gets another UUID, because a series belongs
///   to a person.
/// - The UUID of a repaired sample follows from a sample that no longer exists. It is read as a separate reading.
/// - If a line contains a number both as measured and converted, the two must agree.
package final class LineInterpreter: FrameInterpreter {
    let registry: OriginRegistry
    /// The number of repaired samples that got new UUIDs.
    private var repaired = 0
    /// New identities of samples that others refer to, if another person's store wrote the lines.
    private var renamed: [SampleIdentity: SampleIdentity] = [:]

    /// The client that sends the lines. They may not name another source.
    private let sender: SourceRevision?

    /// - Parameter registry: the registry of the person who is `me`.
    package init(registry: OriginRegistry) { (self.registry, sender) = (registry, nil) }

    /// Creates an interpreter for lines that a client sends. The client is their source.
    init(registry: OriginRegistry, sender: SourceRevision) { (self.registry, self.sender) = (registry, sender) }

    /// Fields that a client may not set, because they follow from the client.
    private static let reservedFields = ["uuid", "identity", "source", "group", "seq", "ingest", "deleted"]

    /// Returns the reading of a line that a client sends.
    func sent(_ line: LineObject, at place: Place) throws(LineFault) -> Reading {
        if let name = Self.reservedFields.first(where: { line.has($0) }) {
            throw LineFault("\(name): the hub sets it for a client: remove it from the line")
        }
        return try reading(line, at: place)
    }

    /// Notes for the user. They are complete after the file was read.
    package var notes: [String] {
        guard repaired > 0 else { return [] }
        return ["\(repaired) of its samples had been repaired: they have UUIDs of their own here"]
    }

    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        switch frame.payload {
        case .malformed(let reason): throw Refusal(reason, at: frame.place)
        case .row: throw Refusal("it is not a line", at: frame.place)
        case .bytes(let bytes):
            guard bytes.contains(where: { $0 > 0x20 }) else { return .notData }
            do throws(LineFault) {
                guard UTF8Text.isValid(bytes) else { throw LineFault("the line is not UTF-8") }
                let line = try LineObject(bytes)
                guard !line.has("deleted") || line.has("start") else { return .skipped(SkipKind("deletion")) }
                readings.append(try reading(line, at: frame.place))
                return .readings
            } catch {
                throw Refusal(error.reason, at: frame.place)
            }
        }
    }

    // MARK: Lines of another person's store

    /// The maximum number of referenced samples, such as a workout's routes or a correlation's samples.
    private static let maximumNames = 1_000_000

    /// Reads the whole file before the import. If `me` was another person when it was written, the samples that a correlation, a workout
    /// or a route refers to have other UUIDs here.
    ///
    /// - Throws: ``SourceError`` if the file cannot be read.
    package func survey(_ source: some FrameSource) throws {
        var names: Set<SampleIdentity> = []
        guard try isAnotherPersons(source) else { return }
        try source.forEachFrame { frame in
            guard case .bytes(let bytes) = frame.payload, let line = try? LineObject(bytes) else { return }
            guard names.count < Self.maximumNames else { return }
            for name in LineBody.names(line) { names.insert(name) }
        }
        guard !names.isEmpty else { return }
        try source.forEachFrame { frame in
            guard case .bytes(let bytes) = frame.payload, let line = try? LineObject(bytes),
                let uuid = (try? line.text("uuid")).flatMap({ SampleIdentity($0) }), names.contains(uuid),
                let reading = try? reading(line, at: frame.place), case .complete(let reported) = reading.time
            else { return }
            let (series, start) = (reading.origin.seriesKey, reported.nominal.lowerBound)
            renamed[uuid] =
                reading.record.map {
                    SampleIdentity(series: series, start: start, record: $0, numeral: reading.numeral, unit: reading.unit)
                }
                ?? SampleIdentity(
                    series: series, start: start, end: reported.nominal.upperBound, numeral: reading.numeral, unit: reading.unit,
                    ordinal: reading.ordinal, method: reading.metadata?.method ?? [])
        }
        repaired = 0
    }

    private struct Found: Error {}

    /// Whether the first complete line is from another person's store.
    private func isAnotherPersons(_ source: some FrameSource) throws -> Bool {
        var isAnother = false
        do {
            try source.forEachFrame { frame in
                guard case .bytes(let bytes) = frame.payload, let line = try? LineObject(bytes), !line.has("deleted"),
                    let person = try? line.object("identity")?.text("subject")
                else { return }
                isAnother = (try? line.text("subject")) == "me" && person != registry.person
                throw Found()
            }
        } catch is Found {}
        return isAnother
    }

    // MARK: The sample

    private func reading(_ line: LineObject, at place: Place) throws(LineFault) -> Reading {
        let type = try type(line)
        let identity = try line.object("identity")
        let (reported, person) = try (times(line, identity), self.person(line, identity))
        let value = try LineNumber(line, identity, type)
        let body = try LineBody(line, type, start: reported.start) { [renamed] in renamed[$0] ?? $0 }.body
        let source = if let sender { sender } else { try Self.source(line) }
        let device = try Self.device(line)
        let origin = registry.origin(type: type, source: source, device: device, person: person.here)
        var metadata = try Self.metadata(line)
        var record = try Self.record(identity)
        if sender != nil, let declared = metadata { (record, metadata) = try Self.edition(declared) }
        let uuid = try line.text("uuid")
        let isRepaired = try identity?.flag("repaired") ?? false
        var ordinal = UInt32(0)
        if let number = try identity?.integer("ordinal") {
            guard let exact = UInt32(exactly: number) else { throw LineFault("identity: ordinal: it is out of range") }
            ordinal = exact
        } else if value.isUnknown {
            ordinal = value.mark
        } else if record == nil, let body {
            // As in other readers, a hash of the body distinguishes samples of the same time.
            ordinal = UInt32(truncatingIfNeeded: StableHash.hash(body.bytes)) & 0x7FFF_FFFF
        }
        if let uuid, !isRepaired {
            guard let known = SampleIdentity(uuid) else { throw LineFault("uuid: it is not the UUID of a sample") }
            // Computes the identity as the other store did, with its person and its key of the device.
            let series = SeriesKey(person: person.there, type: type, source: source.id, device: device?.key ?? "")
            let start = reported.nominal.lowerBound
            func isNamed(_ ordinal: UInt32) -> Bool {
                SampleIdentity(
                    series: series, start: start, end: reported.nominal.upperBound, numeral: value.numeral, unit: value.unit,
                    ordinal: ordinal, method: metadata?.method ?? []) == known
            }
            if let record {
                let named = SampleIdentity(series: series, start: start, record: record, numeral: value.numeral, unit: value.unit)
                guard named == known else { throw Self.otherIdentity }
            } else if identity?.has("ordinal") == true {
                guard isNamed(ordinal) else { throw Self.otherIdentity }
            } else {
                guard let found = ([ordinal] + Self.defaultOrdinals).first(where: isNamed) else { throw Self.otherIdentity }
                ordinal = found
            }
        }
        if isRepaired { repaired += 1 }
        return Reading(
            origin: origin, numeral: value.numeral, unit: value.unit, time: .complete(reported), ordinal: ordinal,
            group: try Self.group(line), metadata: metadata, record: record, body: body,
            timeResolution: try Self.resolution(identity), place: place)
    }

    /// The ordinals of frames, also for the second pass of an hour that occurs twice.
    private static let defaultOrdinals = (0...255).flatMap { [UInt32($0), UInt32($0) | 0x8000_0000] }

    private static let otherIdentity = LineFault(
        "uuid: it does not match the line: remove uuid and identity from a line that was changed"
    )

    private func type(_ line: LineObject) throws(LineFault) -> SampleType {
        guard let id = try line.text("type") else { throw LineFault("type: it is missing") }
        // A type that a client names is not registered, and the answer does not reveal which types are.
        guard sender == nil || SampleType(known: id) != nil else { throw LineFault("type: this version does not know it") }
        guard let name = try line.text("kind") else {
            guard let type = SampleType(id) else {
                throw LineFault("type: this version has no such type (a category needs its kind)")
            }
            return type
        }
        guard let kind = SampleKind(named: name) else { throw LineFault("kind: this version does not know it") }
        guard let type = SampleType(id, kind: kind) else { throw LineFault("type: there is no such type of this kind") }
        return type
    }

    /// Returns the person in this store, or `nil` if the line names none, and the person in the store that wrote the line.
    private func person(_ line: LineObject, _ identity: LineObject?) throws(LineFault) -> (here: String?, there: String) {
        let reported = try line.text("subject") ?? "me"
        let there = try identity?.text("subject")
        for name in [reported, there ?? "me"] where name != "me" && name != Origin.unassigned && !Self.isUUID(name) {
            throw LineFault("subject: it is neither me, unassigned nor a UUID")
        }
        guard reported != "me" else { return (line.has("subject") ? registry.person : nil, there ?? registry.person) }
        guard (there ?? reported) == reported else { throw LineFault("subject: the line has two") }
        return (reported, reported)
    }

    private static func isUUID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 36
            && bytes.indices.allSatisfy { place in
                [8, 13, 18, 23].contains(place)
                    ? bytes[place] == UInt8(ascii: "-") : bytes[place] &- 0x30 < 10 || bytes[place] &- 0x61 < 6
            }
    }

    // MARK: When

    /// The maximum distance of related times from the start, a century.
    static let reach = Sample.reach

    private func times(_ line: LineObject, _ identity: LineObject?) throws(LineFault) -> CompleteTime {
        guard let start = try Self.time(line, "start") else { throw LineFault("start: it is missing") }
        let end = try Self.time(line, "end") ?? start
        var zone = start.offset
        if line.has("zone") {
            zone = nil
            if let text = try line.text("zone") {
                guard let offset = ZoneOffset(text) else { throw LineFault("zone: it is not an offset such as +01:00") }
                zone = offset
            }
        }
        guard end.instant >= start.instant else { throw LineFault("end: it is before the start") }
        let (first, last) = (start.instant.microseconds, end.instant.microseconds)
        let nominal = (try identity?.integer("nominalStart") ?? first, try identity?.integer("nominalEnd") ?? last)
        guard nominal.1 >= nominal.0, nominal.0.subtractingReportingOverflow(first).partialValue.magnitude <= Self.reach,
            nominal.1.subtractingReportingOverflow(last).partialValue.magnitude <= Self.reach
        else { throw LineFault("identity: its nominal times are not those of a sample") }
        var origin = TimeOrigin.device
        if let name = try line.object("time")?.text("origin") {
            guard let known = TimeOrigin.allCases.first(where: { $0.name == name }) else {
                throw LineFault("time: origin: this version does not know it")
            }
            origin = known
        }
        return CompleteTime(start: start.instant, end: end.instant, zone: zone, nominal: nominal.0...nominal.1, origin: origin)
    }

    /// Returns a time with its offset. `Z` has no offset, because it names no local time.
    static func time(
        _ object: LineObject, _ name: String
    ) throws(LineFault) -> (instant: Instant, offset: ZoneOffset?)? {
        guard let text = try object.text(name) else { return nil }
        guard let time = try? Timestamp(iso8601: text), let instant = time.instant else {
            throw object.fault(name, "it is not written as 2026-11-20T06:31:00+01:00")
        }
        return (instant, text.last == "Z" || text.last == "z" ? nil : time.offset)
    }
}

// Sources, devices, and metadata.
extension LineInterpreter {
    private static func source(_ line: LineObject) throws(LineFault) -> SourceRevision {
        guard let object = try line.object("source") else { return SourceRevision(id: "lines", name: "Lines") }
        guard let id = try name(object, "id") else { throw LineFault("source: id: it is missing") }
        return SourceRevision(id: id, name: try name(object, "name") ?? id, version: try name(object, "version"))
    }

    private static func device(_ line: LineObject) throws(LineFault) -> Device? {
        guard let object = try line.object("device") else { return nil }
        let called = try name(object, "name")
        guard let key = try name(object, "key") ?? called else { throw LineFault("device: key: it is missing") }
        return Device(
            key: key, name: called, manufacturer: try name(object, "manufacturer"),
            model: try name(object, "model"), serial: try name(object, "serial"), hardware: try name(object, "hardware"),
            firmware: try name(object, "firmware"), software: try name(object, "software"), udi: try name(object, "udi"))
    }

    private static let maximumNameLength = 16 << 10

    private static func name(_ object: LineObject, _ field: String) throws(LineFault) -> String? {
        guard let text = try object.text(field, atMost: maximumNameLength) else { return nil }
        // A line feed ends a part of the series key.
        guard !text.utf8.contains(0x0A), !text.utf8.contains(0) else { throw object.fault(field, "it has a line break") }
        return text
    }

    private static func record(_ identity: LineObject?) throws(LineFault) -> RecordIdentifier? {
        guard let object = try identity?.object("record") else { return nil }
        guard let id = try object.text("id", atMost: maximumNameLength), let version = try object.integer("version") else {
            throw LineFault("identity: record: its id or version is missing")
        }
        return RecordIdentifier(id: id, version: version)
    }

    /// Returns the record that a client's metadata names with both of HealthKit's keys, and the remaining metadata.
    private static func edition(_ metadata: Metadata) throws(LineFault) -> (RecordIdentifier?, Metadata?) {
        let named = metadata.entries.map { (MetadataKey(rawKey: $0.key)?.name ?? $0.key, $0.value) }
        do throws(UnpairedSyncKey) {
            let (record, rest) = try RecordIdentifier.taken(from: Metadata(named))
            return (record, rest.isEmpty ? nil : rest)
        } catch {
            throw LineFault("metadata: \(error)")
        }
    }

    private static func resolution(_ identity: LineObject?) throws(LineFault) -> Int32 {
        guard let number = try identity?.integer("resolution") else { return 1 }
        guard let seconds = Int32(exactly: number), (1...86_400).contains(seconds) else {
            throw LineFault("identity: resolution: it is out of range")
        }
        return seconds
    }

    private static func group(_ line: LineObject) throws(LineFault) -> Reading.Group {
        guard let text = try line.text("group") else { return .none }
        guard text.utf8.count == 16, let number = UInt64(text, radix: 16) else {
            throw LineFault("group: it is not a number of 16 hexadecimal digits")
        }
        return .shared(number)
    }

    /// Returns metadata from a flat object of texts, numbers, booleans and amounts.
    static func metadata(_ line: LineObject) throws(LineFault) -> Metadata? {
        guard let object = try line.object("metadata"), !object.members.isEmpty else { return nil }
        var entries: [(String, MetadataValue)] = []
        for (name, place) in object.members {
            switch object.bytes[place.lowerBound] {
            case UInt8(ascii: "\""): entries.append((name, .string(try LineScanner.text(of: object.bytes, place))))
            case UInt8(ascii: "t"): entries.append((name, .boolean(true)))
            case UInt8(ascii: "f"): entries.append((name, .boolean(false)))
            case UInt8(ascii: "{"):
                guard let amount = try LineBody.amount(object, name), let unit = amount.unit else {
                    throw LineFault("metadata: an amount has no value or no unit")
                }
                entries.append((name, .quantity(amount.numeral, unit)))
            default:
                guard let number = LineScanner.number(of: object.bytes, place) else {
                    throw LineFault("metadata: an entry is neither text, number, yes, no nor an amount")
                }
                entries.append((name, .number(number)))
            }
        }
        return Metadata(entries)
    }
}
