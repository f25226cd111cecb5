import Formats
import HTTPClientKit
import HealthModel

/// A clinical record or document as a DocumentReference with its unchanged bytes: 6.30 stays 6.30.
///
/// The content is not stored under its own id because that belongs to its source, and another resource may have it on this
/// server. Its references, such as to the patient, do not exist here either. So the content is unchanged, and the
/// DocumentReference names the patient on this server.
struct DocumentResource {
    static let type = "DocumentReference"
    static let kinds: Set<SampleKind> = [.clinicalRecord, .document]

    private let sample: Sample
    private let contentType: String
    private let title: String
    private let data: [UInt8]

    static func hasPlace(for sample: Sample) -> Bool { kinds.contains(sample.origin.kind) && sample.body?.content != nil }

    /// - Throws: ``ContentError`` if the stored content is damaged.
    init(_ sample: Sample) throws(ContentError) {
        self.sample = sample
        if sample.origin.kind == .clinicalRecord {
            let record = try? sample.body?.decoded(as: ClinicalRecord.self)
            // hl7.org/fhir/R4/http.html, "FHIR Version Parameter".
            contentType = "application/fhir+json; fhirVersion=\(record?.version == "DSTU2" ? "1.0" : "4.0")"
            title = record?.displayName ?? ""
        } else {
            contentType = "text/xml"
            title = (try? sample.body?.decoded(as: ClinicalDocument.self))?.title ?? ""
        }
        guard let content = sample.body?.content else { throw .damaged }
        data = try content.bytes()
    }

    /// Appends the resource. A deleted sample has no content.
    func append(id: String?, state: ObservationEncoder.SampleState, _ encoder: ObservationEncoder, to bytes: inout [UInt8]) {
        bytes += "{\"resourceType\":\"\(Self.type)\",".utf8
        if let id { ObservationEncoder.append(id: id, to: &bytes) }
        bytes += "\(ObservationCodes.meta(profileURL: nil)),\"identifier\":[{\"system\":\"\(ObservationCodes.uri)\",".utf8
        bytes += "\"value\":\"urn:uuid:\(sample.identity)\"}],".utf8
        var isLive = false
        if case .live = state { isLive = true }
        bytes += "\"status\":\"\(isLive ? "current" : "entered-in-error")\",\"type\":".utf8
        let type = sample.origin.type
        let coding = ObservationCodes.Coding(
            system: ObservationCodes.healthKit, code: type.healthKitIdentifier ?? type.id, display: type.displayName)
        ObservationCodes.append([coding], text: nil, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        encoder.appendSubject(of: sample.origin, to: &bytes)
        bytes += "\"date\":\"\(sample.received)\",\"content\":[{\"attachment\":{\"contentType\":\"\(contentType)\"".utf8
        if isLive {
            bytes += ",\"data\":\"\(Base64.text(data))\",\"size\":\(data.count)".utf8
            if !title.isEmpty {
                bytes += ",\"title\":".utf8
                JSONText.append(string: title, to: &bytes)
            }
        }
        bytes += "}}]".utf8
        if case .deleted(let next?) = state { ObservationEncoder.append(replacedBy: next, type: Self.type, to: &bytes) }
        bytes.append(UInt8(ascii: "}"))
    }
}
