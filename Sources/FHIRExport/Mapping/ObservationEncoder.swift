import HealthModel
import Pipeline

/// Encodes a sample as a FHIR R4 Observation in JSON.
///
/// The parts that depend only on the series are encoded once.
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
    }

    let ids: IDs
    let quantities: QuantityText
    var times = TimeText()
    private let patients: [String: String]
    private var templates: [ObjectIdentifier: Template] = [:]
    private var latest: Template?

    private final class Template {
        /// Retained so that no other object can get the same identifier.
        let origin: Origin
        /// `"meta":{…},"identifier":[{… "value":"urn:uuid:`
        let meta: [UInt8]
        /// `,"category":[…],"code":{…},"person":{…},`
        let code: [UInt8]
        /// `,"device":{…}`
        let device: [UInt8]

        init(origin: Origin, meta: [UInt8], code: [UInt8], device: [UInt8]) {
            (self.origin, self.meta, self.code, self.device) = (origin, meta, code, device)
        }
    }

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

    /// Appends a sample's Observation. A blood pressure is a component of ``BloodPressurePanel``.
    ///
    /// - Parameter id: the resource's id, or `nil` if the server chooses it.
    func append(_ sample: Sample, id: String?, state: SampleState, to bytes: inout [UInt8]) {
        if sample.origin.kind != .quantity, let object = ObjectObservation(sample) {
            return append(object, of: sample, id: id, state: state, to: &bytes)
        }
        let template = template(for: sample.origin)
        bytes += "{\"resourceType\":\"Observation\",".utf8
        if let id { Self.append(id: id, to: &bytes) }
        bytes += template.meta
        Self.append(sample.identity, to: &bytes)
        switch state {
        case .live: bytes += "\"}],\"status\":\"final\"".utf8
        case .deleted: bytes += "\"}],\"status\":\"entered-in-error\"".utf8
        }
        bytes += template.code
        times.append(sample.start, sample.end, sample.zone, to: &bytes)
        bytes += ",\"valueQuantity\":".utf8
        quantities.append(sample, to: &bytes)
        bytes += template.device
        if case .deleted(let next?) = state { Self.append(replacedBy: next, to: &bytes) }
        bytes.append(UInt8(ascii: "}"))
    }

    /// `"person":{"reference":"…"},`
    func appendSubject(of origin: Origin, to bytes: inout [UInt8]) {
        bytes += "\"subject\":{\"reference\":".utf8
        JSONText.append(string: patients[origin.person] ?? "", to: &bytes)
        bytes += "},".utf8
    }

    /// `,"performer":[{"reference":"…"}]`: the person, with what they wear.
    func appendPerformer(of origin: Origin, to bytes: inout [UInt8]) {
        bytes += ",\"performer\":[{\"reference\":".utf8
        JSONText.append(string: patients[origin.person] ?? "", to: &bytes)
        bytes += "}]".utf8
    }

    /// `,"device":{"reference":"…"}` if there is a device. A server that chooses ids replaces the UUID with its own.
    func appendDevice(of origin: Origin, to bytes: inout [UInt8]) {
        guard let device = origin.device else { return }
        let id = DeviceResource(device).id
        bytes += ",\"device\":{\"reference\":\"\(ids == .client ? "Device/device-" : "urn:uuid:")\(id)\"}".utf8
    }

    static func append(id: String, to bytes: inout [UInt8]) {
        bytes += "\"id\":".utf8
        JSONText.append(string: id, to: &bytes)
        bytes.append(UInt8(ascii: ","))
    }

    /// Refers by identifier because the replacement may not exist yet.
    static func append(replacedBy next: String, type: String = "Observation", to bytes: inout [UInt8]) {
        bytes += ",\"extension\":[{\"url\":\"\(ObservationCodes.replacedBy)\",\"valueReference\":{\"type\":\"\(type)\",".utf8
        bytes += "\"identifier\":{\"system\":\"\(ObservationCodes.uri)\",\"value\":".utf8
        JSONText.append(string: "urn:uuid:" + next, to: &bytes)
        bytes += "}}}]".utf8
    }

    static func append(_ identity: SampleIdentity, to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SampleIdentity.textLength) { buffer in
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<identity.write(into: buffer)]))
        }
    }

    private func template(for origin: Origin) -> Template {
        if let latest, latest.origin === origin { return latest }
        let key = ObjectIdentifier(origin)
        if let known = templates[key] {
            latest = known
            return known
        }
        let profile = ObservationCodes.profile(of: origin.type)
        let meta =
            "\(ObservationCodes.meta(profile: profile)),\"identifier\":[{\"system\":\"\(ObservationCodes.uri)\",\"value\":\"urn:uuid:"
        var code: [UInt8] = Array((profile == nil ? "" : ",\(ObservationCodes.vitalSigns)").utf8)
        code += ",\"code\":".utf8
        ObservationCodes.append(ObservationCodes.codings(of: origin.type), text: origin.type.displayName, to: &code)
        code.append(UInt8(ascii: ","))
        appendSubject(of: origin, to: &code)
        var device: [UInt8] = []
        appendDevice(of: origin, to: &device)
        let template = Template(origin: origin, meta: Array(meta.utf8), code: code, device: device)
        if templates.count >= 4096 { templates.removeAll() }
        templates[key] = template
        latest = template
        return template
    }
}
