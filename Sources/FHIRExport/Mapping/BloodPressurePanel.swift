import HealthModel
import Pipeline

/// A blood pressure in the form of FHIR's vital signs: one Observation with a component for each of the two pressures.
///
/// It is made from the store's current samples, so the two pressures may arrive in any order, be deleted, or be repaired. A
/// missing pressure is a component without a value, which the profile allows.
struct BloodPressurePanel {
    /// A sample with the shared fields: subject, times and device.
    let sample: Sample
    var systolic: Sample?
    var diastolic: Sample?

    /// - Parameters: - sample: one of the pressures, present or deleted. - present: the pressures that are present.
    init(of sample: Sample, present: [Sample]) {
        systolic = present.first { $0.origin.type == .bloodPressureSystolic }
        diastolic = present.first { $0.origin.type == .bloodPressureDiastolic }
        self.sample = systolic ?? diastolic ?? sample
    }

    /// Whether both pressures are gone.
    var isEmpty: Bool { systolic == nil && diastolic == nil }

    /// Returns the panel's id, derived from the subject, the source, the device, the packet and the times, so that both pressures
    /// have the same id. A pressure without a packet is a separate panel.
    static func id(of sample: Sample) -> String {
        guard let group = sample.group else { return "bp-\(sample.identity)" }
        let origin = sample.origin
        let key = SeriesKey(
            person: origin.person, type: .bloodPressureSystolic, source: origin.source.id, device: origin.device?.key ?? "")
        let record = RecordIdentifier(
            id: "vitalgate-panel-1 \(group) \(sample.start.microseconds) \(sample.end.microseconds)", version: 1)
        return "bp-\(SampleIdentity(series: key, start: sample.start.microseconds, record: record))"
    }

    /// Appends the Observation.
    ///
    /// - Parameter id: the resource's id, or `nil` if the server chooses it.
    func append(id: String?, panel: String, replacedBy: String?, _ encoder: ObservationEncoder, to bytes: inout [UInt8]) {
        bytes += "{\"resourceType\":\"Observation\",".utf8
        if let id { ObservationEncoder.append(id: id, to: &bytes) }
        bytes += ObservationCodes.meta(profile: "bp").utf8
        bytes += ",\"identifier\":[{\"system\":\"\(ObservationCodes.made)\",\"value\":\"\(panel)\"}".utf8
        for half in [systolic, diastolic] {
            guard let half else { continue }
            bytes +=
                ",{\"type\":{\"text\":\"\(half.origin.type.id)\"},\"system\":\"\(ObservationCodes.uri)\",\"value\":\"urn:uuid:"
                .utf8
            ObservationEncoder.append(half.identity, to: &bytes)
            bytes += "\"}".utf8
        }
        bytes += "],\"status\":\"\(isEmpty ? "entered-in-error" : "final")\",\(ObservationCodes.vitalSigns),\"code\":".utf8
        ObservationCodes.append([.init(system: ObservationCodes.loinc, code: "85354-9")], text: "Blood Pressure", to: &bytes)
        bytes.append(UInt8(ascii: ","))
        encoder.appendSubject(of: sample.origin, to: &bytes)
        encoder.times.append(sample.start, sample.end, sample.zone, to: &bytes)
        bytes += ",\"component\":[".utf8
        Self.append(systolic, .bloodPressureSystolic, encoder, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        Self.append(diastolic, .bloodPressureDiastolic, encoder, to: &bytes)
        bytes.append(UInt8(ascii: "]"))
        encoder.appendDevice(of: sample.origin, to: &bytes)
        if isEmpty, let replacedBy { ObservationEncoder.append(replacedBy: replacedBy, to: &bytes) }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func append(
        _ half: Sample?, _ type: SampleType, _ encoder: ObservationEncoder, to bytes: inout [UInt8]
    ) {
        bytes += "{\"code\":".utf8
        ObservationCodes.append(ObservationCodes.codings(of: type), text: type.displayName, to: &bytes)
        if let half {
            bytes += ",\"valueQuantity\":".utf8
            encoder.quantities.append(half, to: &bytes)
        } else {
            bytes +=
                ",\"dataAbsentReason\":{\"coding\":[{\"system\":\"\(ObservationCodes.absentReason)\",\"code\":\"unknown\"}]}".utf8
        }
        bytes.append(UInt8(ascii: "}"))
    }
}
