import Formats
import HealthModel
import Pipeline

/// Encodes a sample as a FHIR R4 Observation in JSON.
package final class ObservationEncoder {
    /// The side that chooses resource ids: the client, with the sample's UUID, or the server.
    package enum IDs: String, Sendable, CaseIterable {
        /// `PUT Observation/{UUID}`: a repeated reading is stored once.
        case client
        /// Resources are found by their identifier.
        case server
    }

    enum SampleState {
        case live
        /// Deleted, or replaced by the sample with this UUID.
        case deleted(replacedBy: String?)

        var isLive: Bool { if case .live = self { true } else { false } }
        /// The UUID of the sample that replaces it.
        var replacement: String? { if case .deleted(let next) = self { next } else { nil } }
    }

    let ids: IDs
    let quantities: QuantityText
    private var times = ZonedTimeText()
    private let patients: [String: String]

    /// - Parameters:
    ///   - patients: references such as `Patient/7` by subject.
    package init(_ context: ExportContext, patients: [String: String], ids: IDs) {
        self.patients = patients
        self.ids = ids
        quantities = QuantityText(context)
    }

    /// Whether the sample can be represented: it is about a person who has a patient on the server.
    package func hasPlace(for sample: Sample) -> Bool {
        let origin = sample.origin
        guard patients[origin.person] != nil else { return false }
        if DocumentResource.kinds.contains(origin.kind) { return DocumentResource.hasPlace(for: sample) }
        return origin.kind == .quantity ? ObservationCodes.isAboutAPerson(origin.type) : ObjectObservation(sample) != nil
    }

    /// A sample's Observation. A blood pressure is a component of ``BloodPressurePanel``.
    ///
    /// - Parameter id: the resource's id, or `nil` if the server chooses it.
    func resource(of sample: Sample, id: String?, state: SampleState) -> JSONObject {
        if sample.origin.kind != .quantity, let object = ObjectObservation(sample) {
            return resource(of: object, sample, id: id, state: state)
        }
        let type = sample.origin.type
        let profile = ObservationCodes.profile(of: type)
        return observation(
            of: sample, id: id, profile: profile, identifiers: [Self.identifier(of: sample.identity)], state: state,
            categories: profile == nil ? [] : [ObservationCodes.vitalSign],
            code: ObservationCodes.concept(ObservationCodes.codings(of: type), text: type.displayName),
            ["valueQuantity": quantities.quantity(sample)])
    }

    /// An Observation.
    ///
    /// - Parameters:
    ///   - sample: a sample with its subject, times and device.
    ///   - content: the fields with the value.
    func observation(
        of sample: Sample, id: String?, profile: String?, identifiers: [JSONObject], state: SampleState,
        categories: [Coding], code: JSONObject, _ content: KeyValuePairs<String, (any JSONRepresentable)?>
    ) -> JSONObject {
        var object: JSONObject = [
            "resourceType": "Observation", "id": ifPresent(id), "meta": ObservationCodes.meta(profile: profile),
            "identifier": identifiers, "status": state.isLive ? "final" : "entered-in-error",
            "category": ifPresent(categories.isEmpty ? nil : categories.map { ObservationCodes.concept([$0]) }), "code": code,
            "subject": patient(of: sample.origin),
        ]
        // In local time, with the original precision.
        let (start, end) = (time(sample.start, sample.zone), time(sample.end, sample.zone))
        if sample.start == sample.end {
            object.set("effectiveDateTime", start)
        } else {
            object.set("effectivePeriod", JSONObject(["start": start, "end": end]))
        }
        object.set(content)
        if let device = sample.origin.device {
            // A server that chooses ids replaces the UUID with its own.
            let path = (ids == .client ? "Device/device-" : "urn:uuid:") + DeviceResource(device).id
            object.set("device", ObservationCodes.reference(path))
        }
        object.set("extension", ifPresent(state.replacement.map { [Self.replaced(by: $0)] }))
        return object
    }

    private func time(_ instant: Instant, _ zone: ZoneOffset?) -> String {
        var bytes: [UInt8] = []
        times.append(instant, zone, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The reference to the person's patient.
    func patient(of origin: Origin) -> JSONObject { ObservationCodes.reference(patients[origin.person] ?? "") }

    /// An extension that refers to the replacement by its identifier, because the replacement may not exist yet.
    static func replaced(by next: String, type: String = "Observation") -> JSONObject {
        let identifier = ObservationCodes.identifier(ObservationCodes.uri, "urn:uuid:" + next)
        return [
            "url": ObservationCodes.replacedBy, "valueReference": JSONObject(["type": type, "identifier": identifier]),
        ]
    }

    static func identifier(of identity: SampleIdentity) -> JSONObject {
        ObservationCodes.identifier(ObservationCodes.uri, "urn:uuid:\(identity)")
    }
}
