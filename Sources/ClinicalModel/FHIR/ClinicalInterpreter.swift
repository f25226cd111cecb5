import HealthModel
import Pipeline

/// What FHIR resources mean: each that HealthKit has a clinical type for and that is valid is one reading, octet for octet as it came; the
/// others are counted by their types.
///
///     let interpreter = ClinicalInterpreter(registry: registry)
///     try interpreter.interpret(frame, into: &readings)   // a frame of ``ResourceRow/fhir``
///
/// - Valid is what DSTU2 or R4 allows (``ReleaseChoice``): known elements, those that have to be there, their types, how many there may be,
///   codes of the lists that HL7 demands, the form of references. What is not is refused with the path that is wrong.
/// - A resource is identified by source, type and id for its life. Its version is `meta.lastUpdated`, else when it was added, else now: a later
///   one replaces the record, the same or an older one is a duplicate.
/// - Start and end are when it was added; its identity counts from `meta.lastUpdated` where it has one, so that it is the same on every hub.
/// - One without an id, and with none around it, goes by a digest of its octets: the same again is the same, another is another.
public final class ClinicalInterpreter: FrameInterpreter {
    private let registry: OriginRegistry
    /// Of which release all resources are, where a person says so.
    private let release: FHIRRelease?
    private var choice = ReleaseChoice()
    private var room: [JSONTape.Node] = []
    private var origins: [OriginKey: Origin] = [:]

    private struct OriginKey: Hashable {
        var type: SampleType
        var source: RecordSource
    }

    /// - Parameter release: of which release all resources are, where a person says so.
    public init(registry: OriginRegistry, release: FHIRRelease? = nil) {
        self.registry = registry
        self.release = release
    }

    /// Reads one resource.
    ///
    /// - Throws: ``Refusal`` with the path that is wrong.
    public func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        switch frame.payload {
        case .malformed(let reason): throw Refusal(reason, at: frame.place)
        case .bytes(let octets): return try interpret(octets, nil, frame, &readings)
        case .row(let row): return try interpret(row[ResourceRow.octets], row, frame, &readings)
        }
    }

    private func interpret(
        _ octets: UnsafeRawBufferPointer, _ row: TextRow?, _ frame: RawFrame, _ readings: inout [Reading]
    ) throws(Refusal) -> FrameOutcome {
        guard octets.count <= ResourceRow.maximumLength else {
            throw Refusal("the resource is longer than \(ResourceRow.maximumLength >> 20) MiB", at: frame.place)
        }
        // An entry of a Bundle that says what to delete, or what a search came to.
        guard !octets.isEmpty else { return .skipped(SkipKind("fhir.entry-without-resource")) }
        do throws(ResourceFault) {
            let used = room
            room = []
            let tape = try JSONTape(octets, reusing: used)
            defer { room = tape.nodes.count <= Self.keptRoom ? tape.nodes : [] }
            guard tape.nodes[0].kind == .object else { throw ResourceFault("", "is no resource: not a JSON object") }
            guard let type = tape.text("resourceType", of: 0) else {
                throw ResourceFault("resourceType", tape.member("resourceType", of: 0) == nil ? "is missing" : "is not a text")
            }
            guard ResourceTypes.all.contains(type) else { throw ResourceFault("resourceType", "is no resource type of FHIR") }
            switch ClinicalKind(type, tape) {
            case .none(let kind):
                // Of observations some come into the store, so that one which is none at all is refused and not passed over.
                if type == "Observation" {
                    try choice.check(tape, type: type, source: row?.text(ResourceRow.source) ?? "", told: release)
                }
                return .skipped(kind)
            case .type(let sampleType):
                readings.append(try reading(sampleType, type, tape, row, frame))
                return .readings
            }
        } catch {
            throw Refusal(error.description, at: frame.place)
        }
    }

    /// Values whose room is kept for the next resource.
    private static let keptRoom = 4096

    private func reading(
        _ sampleType: SampleType, _ type: String, _ tape: borrowing JSONTape, _ row: TextRow?, _ frame: RawFrame
    ) throws(ResourceFault) -> Reading {
        let told = release ?? row.flatMap { FHIRRelease($0.text(ResourceRow.version)) }
        let toldSource = row?.text(ResourceRow.source) ?? ""
        let release = try choice.release(of: tape, type: type, source: toldSource, told: told)
        let address = row?.text(ResourceRow.sourceURL) ?? ""
        let identifier = identifier(tape, row, address)
        let source = RecordSource.of(tape, type: type, told: toldSource, address: address)
        let name = DisplayName(of: type, tape)
        let updated = tape.member("lastUpdated", of: tape.member("meta", of: 0))
        let record = ClinicalRecord(
            displayName: name.name, resourceType: type, identifier: identifier, version: release.rawValue,
            sourceURL: address.isEmpty ? nil : address, lastUpdated: updated.map { tape.text($0) },
            dates: RecordDates.dates(of: type, tape), codes: name.codes)
        let added = try added(row, frame)
        var nominal = added
        if let updated {
            guard let instant = DateForms.instant(tape.octets(of: updated)), instant >= Normaliser.earliest else {
                throw ResourceFault("\(type).meta.lastUpdated", "lies before 1971")
            }
            guard instant.microseconds <= frame.received.microseconds + Calendar.day else {
                throw ResourceFault("\(type).meta.lastUpdated", "lies in the future")
            }
            nominal = instant
        }
        let content: PackedContent
        do throws(ContentError) {
            content = try PackedContent(tape.octets)
        } catch {
            throw ResourceFault(type, "cannot be kept: \(error)")
        }
        return Reading(
            origin: origin(sampleType, source), numeral: Numeral(coefficient: 0), unit: .one,
            time: .added(added, nominal: nominal),
            record: RecordIdentifier(
                id: "\(type)/\(identifier)",
                version: nominal.microseconds.flooredQuotientAndRemainder(dividingBy: 1_000_000).quotient),
            body: SampleBody(json: record.json, content: content), place: frame.place)
    }

    private func origin(_ type: SampleType, _ source: RecordSource) -> Origin {
        let key = OriginKey(type: type, source: source)
        if let origin = origins[key] { return origin }
        // A file of a thousand sources is one that was made to have them.
        if origins.count > 1000 { origins.removeAll() }
        let origin = registry.origin(type: type, source: SourceRevision(id: source.id, name: source.name))
        origins[key] = origin
        return origin
    }

    private func added(_ row: TextRow?, _ frame: RawFrame) throws(ResourceFault) -> Instant {
        guard let row, !row[ResourceRow.received].isEmpty else { return frame.received }
        guard let instant = (try? Timestamp(iso8601: row[ResourceRow.received]))?.instant else {
            throw ResourceFault("", "the time at which it was added is not written as ISO 8601 with a zone")
        }
        return instant
    }

    /// The resource's id; else the one that its surroundings give; else the end of its address; else a digest of it.
    private func identifier(_ tape: borrowing JSONTape, _ row: TextRow?, _ address: String) -> String {
        if let id = tape.text("id", of: 0), !id.isEmpty { return id }
        if let told = row?.text(ResourceRow.identifier), !told.isEmpty { return String(told.prefix(Self.longestIdentifier)) }
        if address.hasPrefix("urn:uuid:") || address.hasPrefix("urn:oid:") {
            return String(address.split(separator: ":", maxSplits: 2).last ?? "").prefix(Self.longestIdentifier).description
        }
        let digits = Digest.sha256(Array(tape.octets)).prefix(16).map { octet in
            (octet < 16 ? "0" : "") + String(octet, radix: 16)
        }
        return "sha256-" + digits.joined()
    }

    private static let longestIdentifier = 128
}
