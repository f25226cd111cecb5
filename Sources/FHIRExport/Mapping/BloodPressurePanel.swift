import Formats
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

    /// The Observation.
    ///
    /// - Parameter id: the resource's id, or `nil` if the server chooses it.
    func resource(id: String?, panel: String, replacedBy: String?, _ encoder: ObservationEncoder) -> JSONObject {
        let halves = [systolic, diastolic].compactMap { $0 }.map { half in
            JSONObject([
                "type": JSONObject(["text": half.origin.type.id]), "system": ObservationCodes.uri,
                "value": "urn:uuid:\(half.identity)",
            ])
        }
        return encoder.observation(
            of: sample, id: id, profile: ObservationCodes.structures + "bp",
            identifiers: [ObservationCodes.identifier(ObservationCodes.made, panel)] + halves,
            state: isEmpty ? .deleted(replacedBy: replacedBy) : .live, categories: [ObservationCodes.vitalSign],
            code: ObservationCodes.concept([.init(system: ObservationCodes.loinc, code: "85354-9")], text: "Blood Pressure"),
            [
                "component": [
                    Self.component(systolic, .bloodPressureSystolic, encoder),
                    Self.component(diastolic, .bloodPressureDiastolic, encoder),
                ]
            ])
    }

    private static func component(_ half: Sample?, _ type: SampleType, _ encoder: ObservationEncoder) -> JSONObject {
        let absence = ObservationCodes.concept([.init(system: ObservationCodes.absentReason, code: "unknown")])
        return [
            "code": ObservationCodes.concept(ObservationCodes.codings(of: type), text: type.displayName),
            "valueQuantity": ifPresent(half.map(encoder.quantities.quantity)),
            "dataAbsentReason": ifPresent(half == nil ? absence : nil),
        ]
    }
}
