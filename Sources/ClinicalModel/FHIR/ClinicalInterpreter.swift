import HealthModel
import Pipeline

/// Interprets FHIR resources. Each valid resource with a clinical type in HealthKit becomes one reading with unchanged bytes. Others are
/// counted by type.
///
///     let interpreter = ClinicalInterpreter(registry: registry)
///     try interpreter.interpret(frame, into: &readings)   // a frame of ``ResourceRow/fhir``
///
/// - A resource must be valid in DSTU2 or R4 (``ReleaseChoice``): known elements, required elements, types, cardinalities, required
///   codes, and the form of references. An invalid one is rejected with the path of the error.
/// - Source, type and id identify a resource. Its version is `meta.lastUpdated`, else the time when it was added, else now. A later
///   version replaces the record. The same or an earlier one is a duplicate.
/// - Start and end are the time when it was added. Its identity uses `meta.lastUpdated` if present, so that it is the same on every hub.
/// - The resources that records refer to, such as a Medication, are stored without validation.
/// - A resource without an id is identified by a digest of its bytes, so the same bytes are the same resource.
package final class ClinicalInterpreter: FrameInterpreter {
    private let registry: OriginRegistry
    /// The release of all resources, if the user has chosen one.
    private let release: FHIRRelease?
    private var choice = ReleaseChoice()
    private var room: [JSONTape.Node] = []
    private var origins: [OriginKey: Origin] = [:]

    private struct OriginKey: Hashable {
        var type: SampleType
        var source: RecordSource
    }

    /// - Parameter release: the release of all resources, if the user has chosen one.
    package init(registry: OriginRegistry, release: FHIRRelease? = nil) {
        self.registry = registry
        self.release = release
    }

    /// Reads one resource.
    ///
    /// - Throws: ``Refusal`` with the path of the error.
    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        switch frame.payload {
        case .malformed(let reason): throw Refusal(reason, at: frame.place)
        case .bytes(let bytes): return try interpret(bytes, nil, frame, &readings)
        case .row(let row): return try interpret(row[ResourceRow.bytes], row, frame, &readings)
        }
    }

    private func interpret(
        _ bytes: UnsafeRawBufferPointer, _ row: TextRow?, _ frame: RawFrame, _ readings: inout [Reading]
    ) throws(Refusal) -> FrameOutcome {
        guard bytes.count <= ResourceRow.maximumLength else {
            throw Refusal("the resource is longer than \(ResourceRow.maximumLength >> 20) MiB", at: frame.place)
        }
        // An entry of a Bundle without a resource, such as a deletion or the outcome of a search.
        guard !bytes.isEmpty else { return .skipped(SkipKind("fhir.entry-without-resource")) }
        do throws(ResourceFault) {
            let used = room
            room = []
            let tape = try JSONTape(bytes, reusing: used)
            defer { room = tape.nodes.count <= Self.retainedRoom ? tape.nodes : [] }
            guard tape.nodes[0].kind == .object else { throw ResourceFault("", "is not a resource: not a JSON object") }
            guard let type = tape.text("resourceType", of: 0) else {
                throw ResourceFault("resourceType", tape.member("resourceType", of: 0) == nil ? "is missing" : "is not a text")
            }
            guard ResourceTypes.all.contains(type) else { throw ResourceFault("resourceType", "is not a resource type of FHIR") }
            switch ClinicalKind(type, tape) {
            case .none(let kind):
                // Some observations are stored, so an invalid one is rejected instead of skipped.
                if type == "Observation" {
                    try choice.check(tape, type: type, source: row?.text(ResourceRow.source) ?? "", declared: release)
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

    /// The maximum number of nodes whose memory is reused for the next resource.
    private static let retainedRoom = 4096

    private func reading(
        _ sampleType: SampleType, _ type: String, _ tape: borrowing JSONTape, _ row: TextRow?, _ frame: RawFrame
    ) throws(ResourceFault) -> Reading {
        let declared = release ?? row.flatMap { FHIRRelease($0.text(ResourceRow.version)) }
        let sourceName = row?.text(ResourceRow.source) ?? ""
        let isReferenced = ClinicalRecord.referencedResources.contains(type)
        let release =
            isReferenced
            ? choice.release(ofReferenced: tape, type: type, source: sourceName, declared: declared)
            : try choice.release(of: tape, type: type, source: sourceName, declared: declared)
        let address = row?.text(ResourceRow.sourceURL) ?? ""
        let identifier = identifier(tape, row, address)
        let source = RecordSource.of(tape, type: type, declared: sourceName, address: address)
        let name = DisplayName(of: type, tape)
        let updated = tape.member("lastUpdated", of: tape.member("meta", of: 0))
        let record = ClinicalRecord(
            displayName: name.name, resourceType: type, identifier: identifier, version: release.rawValue,
            sourceURL: address.isEmpty ? nil : address, lastUpdated: updated.map { tape.text($0) },
            dates: RecordDates.dates(of: type, tape), codes: name.codes, result: RecordResult.result(of: type, tape),
            references: RecordReferences.references(of: tape))
        let added = try added(row, frame)
        var nominal = added
        if let updated {
            guard let instant = DateForms.instant(tape.bytes(of: updated)), instant >= Normaliser.earliest else {
                throw ResourceFault("\(type).meta.lastUpdated", "lies before 1971")
            }
            guard instant.microseconds <= frame.received.microseconds + Calendar.day else {
                throw ResourceFault("\(type).meta.lastUpdated", "is in the future")
            }
            nominal = instant
        }
        let content: PackedContent
        do throws(ContentError) {
            content = try PackedContent(tape.bytes)
        } catch {
            throw ResourceFault(type, "cannot be stored: \(error)")
        }
        // Without a source, two clinics may use the same id for two drugs.
        let isUnclear = isReferenced && source == .unknown
        return Reading(
            origin: origin(sampleType, source), numeral: Numeral(coefficient: 0), unit: .one,
            time: .added(added, nominal: nominal),
            record: RecordIdentifier(
                id: "\(type)/\(identifier)" + (isUnclear ? "/" + Self.digest(tape) : ""),
                version: nominal.microseconds.flooredQuotientAndRemainder(dividingBy: 1_000_000).quotient),
            body: SampleBody(json: record.json, content: content), place: frame.place)
    }

    private func origin(_ type: SampleType, _ source: RecordSource) -> Origin {
        let key = OriginKey(type: type, source: source)
        if let origin = origins[key] { return origin }
        // Limits memory. A file with a thousand sources is not a real one.
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

    /// Returns the resource's id, else the one from its context, else the end of a `urn:uuid:` or `urn:oid:` address, else a digest.
    private func identifier(_ tape: borrowing JSONTape, _ row: TextRow?, _ address: String) -> String {
        if let id = tape.text("id", of: 0), !id.isEmpty { return id }
        if let declared = row?.text(ResourceRow.identifier), !declared.isEmpty {
            return String(declared.prefix(Self.maximumIdentifierLength))
        }
        if address.hasPrefix("urn:uuid:") || address.hasPrefix("urn:oid:") {
            return String(address.split(separator: ":", maxSplits: 2).last ?? "").prefix(Self.maximumIdentifierLength).description
        }
        return Self.digest(tape)
    }

    private static func digest(_ tape: borrowing JSONTape) -> String {
        let digits = Digest.sha256(Array(tape.bytes)).prefix(16).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "sha256-" + digits.joined()
    }

    private static let maximumIdentifierLength = 128
}
