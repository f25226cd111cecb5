import HealthModel
import Pipeline

/// Interprets CDA documents (HL7, release 2). Each becomes a sample of the type `cda` with its title, the names in its header, and its
/// unchanged bytes.
///
///     let interpreter = DocumentInterpreter(registry: registry, schema: DocumentSchema(folders: folders), keepsInvalid: false)
///     try interpreter.interpret(frame, into: &readings)   // a frame of ``ResourceRow/cda``
///
/// - A document must be valid by HL7's schema, with or without the SDTC extensions. An invalid one is rejected with its line and the
///   reason. If the user allows it, it is kept and marked as invalid.
/// - Start and end are the effective time. Without one, the document starts when it arrived.
/// - A digest of the bytes distinguishes documents of the same time, so the same document is stored once.
/// - The Health app's own `export_cda.xml` is not a clinical document. It repeats the samples of `export.xml` and is counted as
///   `exportCDA`.
package final class DocumentInterpreter: FrameInterpreter {
    private let registry: OriginRegistry
    private let schema: DocumentSchema
    private let keepsInvalid: Bool
    private let isOwnExport: Bool

    /// - Parameters:
    ///   - keepsInvalid: whether to keep documents that the schema rejects.
    ///   - isOwnExport: whether the file has the name of the Health app's own export.
    package init(registry: OriginRegistry, schema: DocumentSchema, keepsInvalid: Bool, isOwnExport: Bool = false) {
        (self.registry, self.schema) = (registry, schema)
        (self.keepsInvalid, self.isOwnExport) = (keepsInvalid, isOwnExport)
    }

    /// Reads one document.
    ///
    /// - Throws: ``Refusal`` with the first invalid line.
    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        let content: UnsafeRawBufferPointer
        var source = ""
        switch frame.payload {
        case .malformed(let reason): throw Refusal(reason, at: frame.place)
        case .bytes(let bytes): content = bytes
        case .row(let row): (content, source) = (row[ResourceRow.bytes], row.text(ResourceRow.source))
        }
        if isOwnExport || Self.isOwnExport(content) { return .skipped(Self.ownExport) }
        guard content.count <= ResourceRow.maximumLength else {
            throw Refusal("the document is longer than \(ResourceRow.maximumLength >> 20) MiB", at: frame.place)
        }
        let read: DocumentReader.Reading
        let problem: DocumentReader.Problem?
        do throws(DocumentReader.Problem) {
            read = try DocumentReader.read(content)
            guard read.root == DocumentReader.root else {
                throw DocumentReader.Problem(line: 1, reason: "its root element is not a ClinicalDocument of HL7's CDA")
            }
            problem = try validate(content)
        } catch {
            throw Refusal("the document is not read: \(error.reason)", at: Place(.line, error.line))
        }
        if let problem {
            if read.header.hasBareEntry { return .skipped(Self.ownExport) }
            guard keepsInvalid else {
                throw Refusal("the document is not valid: \(problem.reason)", at: Place(.line, problem.line))
            }
        }
        readings.append(try reading(read.header, problem, content, source, frame))
        return .readings
    }

    /// Returns `nil` if one of the schemas accepts the document, else the problem reported by the schema with extensions.
    private func validate(_ content: UnsafeRawBufferPointer) throws(DocumentReader.Problem) -> DocumentReader.Problem? {
        guard let extended = schema.schema(.extended) else {
            throw DocumentReader.Problem(
                line: 1, reason: "HL7's schema is missing: put the folder CDASchema next to the device profiles")
        }
        guard let problem = try DocumentReader.validate(content, extended) else { return nil }
        guard let normative = schema.schema(.normative), try DocumentReader.validate(content, normative) == nil else {
            return problem
        }
        return nil
    }

    private func reading(
        _ header: DocumentHeader, _ problem: DocumentReader.Problem?, _ content: UnsafeRawBufferPointer, _ source: String,
        _ frame: RawFrame
    ) throws(Refusal) -> Reading {
        guard let type = SampleType("cda") else { throw Refusal("the catalogue has no documents", at: frame.place) }
        let reason = problem.map { "line \($0.line): \($0.reason)" }
        let document = ClinicalDocument(
            title: header.title, patient: header.patient, custodian: header.custodian,
            author: header.authors.joined(separator: ", "), valid: reason == nil, reason: reason)
        let digest = Digest.sha256(Array(content))
        let ordinal = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let (time, resolution) = try time(header.effectiveTime, frame)
        let body: SampleBody
        do {
            body = try SampleBody(encoding: document, content: PackedContent(content))
        } catch {
            throw Refusal("the document cannot be stored: \(error)", at: frame.place)
        }
        // The custodian of a document is its source.
        let name = source.isEmpty ? header.custodian : source
        return Reading(
            origin: registry.origin(
                type: type,
                source: SourceRevision(
                    id: name.isEmpty ? "cda" : "cda/\(name)", name: name.isEmpty ? "Clinical documents" : name, version: nil),
                device: nil),
            numeral: Numeral(coefficient: 0), unit: .one, time: time, ordinal: ordinal, body: body, timeResolution: resolution,
            place: frame.place)
    }

    private func time(_ text: String?, _ frame: RawFrame) throws(Refusal) -> (ReadingTime, Int32) {
        guard let text, !text.isEmpty else { return (.added(frame.received, nominal: Normaliser.earliest), 1) }
        guard let (moment, resolution) = DocumentTime.time(text) else {
            throw Refusal("the document's effectiveTime is not written as HL7 writes times", at: frame.place)
        }
        switch moment {
        case .instant(let instant, let offset): return (.instants(start: instant, end: instant, offset: offset), resolution)
        case .wall(let wall): return (.wall(start: wall, end: wall, ticks: nil), resolution)
        }
    }

    private static let ownExport = SkipKind("exportCDA")

    /// Whether the document has the identifier of the Health app's own export.
    static func isOwnExport(_ content: UnsafeRawBufferPointer) -> Bool {
        let beginning = content.prefix(16 << 10)
        guard let mark = beginning.firstIndex(of: UInt8(ascii: "H")) else { return false }
        return String(decoding: beginning[mark...], as: UTF8.self).contains("Health Export CDA")
    }
}
