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

    /// The resource. A deleted sample has no content.
    func resource(id: String?, state: ObservationEncoder.SampleState, _ encoder: ObservationEncoder) -> JSONObject {
        let (type, isLive) = (sample.origin.type, state.isLive)
        let coding = Coding(
            system: ObservationCodes.healthKit, code: type.healthKitIdentifier ?? type.id, display: type.displayName)
        let attachment: JSONObject = [
            "contentType": contentType, "data": ifPresent(isLive ? Base64.text(data) : nil),
            "size": ifPresent(isLive ? data.count : nil), "title": ifPresent(isLive && !title.isEmpty ? title : nil),
        ]
        return [
            "resourceType": Self.type, "id": ifPresent(id), "meta": ObservationCodes.meta(),
            "identifier": [ObservationEncoder.identifier(of: sample.identity)],
            "status": isLive ? "current" : "entered-in-error", "type": ObservationCodes.concept([coding]),
            "subject": encoder.patient(of: sample.origin), "date": "\(sample.received)",
            "content": [JSONObject(["attachment": attachment])],
            "extension": ifPresent(state.replacement.map { [ObservationEncoder.replaced(by: $0, type: Self.type)] }),
        ]
    }
}
