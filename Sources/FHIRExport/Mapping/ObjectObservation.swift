import Formats
import HealthModel

/// A stage of sleep or a workout as an Observation, by the profiles that HL7 has published for them. Codes that no publication gives are not made
/// up: a value without one has no place.
///
/// - Sleep: `pcd-sleep-observation` of the Personal Health Record guide (hl7.org/fhir/uv/phr), whose value set has SNOMED CT codes for asleep, awake,
///   REM and non-REM. Core and deep sleep are both non-REM; HealthKit's own name beside it keeps them apart. Being in bed has no code there.
/// - Workouts: `pa-observation-activity-measure` of the Physical Activity guide (hl7.org/fhir/us/physical-activity), LOINC's exercise activity, with the
///   duration, the distance and the totals of the workout as components.
struct ObjectObservation {
    let profile: String
    let categories: [Coding]
    let codings: [Coding]
    let value: [Coding]
    /// The code, value and unit of each component.
    let components: [(codings: [Coding], amount: Amount)]

    static let snomed = "http://snomed.info/sct"
    private static let activityCodes = "http://hl7.org/fhir/us/physical-activity/CodeSystem/pa-temporary-codes"

    /// Codes of the value set `pcd-sleep-observation-value`.
    private static let stages = [
        "asleepUnspecified": "248220008", "awake": "248218005", "asleepCore": "60984000", "asleepDeep": "60984000",
        "asleepREM": "89129007",
    ]

    /// Answers to LOINC's 73985-4 that the guide's own examples use.
    private static let activities = ["running": "LA11836-6"]

    /// - Returns: `nil` for a sample of another kind, and for a value without a code.
    init?(_ sample: Sample) {
        let type = sample.origin.type
        guard let name = type.caseName(of: sample.value), let number = Int(exactly: sample.value),
            let constant = type.categoryValues?.constant(of: number)
        else { return nil }
        let own = Coding(system: ObservationCodes.healthKit, code: constant)
        let typed = Coding(
            system: ObservationCodes.healthKit, code: type.healthKitIdentifier ?? type.id, display: type.displayName)
        switch type.kind {
        case .category:
            guard type.id == "sleepAnalysis", let stage = Self.stages[name] else { return nil }
            profile = "http://hl7.org/fhir/uv/phr/StructureDefinition/pcd-sleep-observation"
            categories = [ObservationCodes.activity]
            codings = [Coding(system: Self.snomed, code: "258158006"), typed]
            value = [Coding(system: Self.snomed, code: stage), own]
            components = []
        case .workout:
            profile = "http://hl7.org/fhir/us/physical-activity/StructureDefinition/pa-observation-activity-measure"
            categories = [ObservationCodes.activity, .init(system: Self.activityCodes, code: "PhysicalActivity")]
            codings = [Coding(system: ObservationCodes.loinc, code: "73985-4"), typed]
            let answer = Self.activities[name].map { Coding(system: ObservationCodes.loinc, code: $0) }
            value = (answer.map { [$0] } ?? []) + [own]
            components = Self.components(of: sample)
        default: return nil
        }
    }

    private static func components(of sample: Sample) -> [(codings: [Coding], amount: Amount)] {
        guard let workout = try? sample.body?.decoded(as: Workout.self) else { return [] }
        var components: [(codings: [Coding], amount: Amount)] = []
        func add(_ loinc: String, _ amount: Amount?) {
            guard let amount, amount.unit != nil else { return }
            components.append(([Coding(system: ObservationCodes.loinc, code: loinc)], amount))
        }
        // If the source has no duration, it is derived from the pauses.
        let seconds = workout.seconds(from: sample.start, to: sample.end)
        add("55411-3", workout.duration ?? Amount(Numeral(shortest: seconds), Workout.second))
        add("55412-1", workout.distance)
        for statistics in workout.statistics {
            guard let sum = statistics.sum, sum.unit != nil, let type = SampleType(statistics.type), type.kind == .quantity else {
                continue
            }
            // Only HealthKit's name is used because LOINC's codes of these types are for a moment or a day.
            let coding = Coding(
                system: type.healthKitIdentifier == nil ? ObservationCodes.own : ObservationCodes.healthKit,
                code: type.healthKitIdentifier ?? type.id, display: type.displayName)
            components.append(([coding], sum))
        }
        return components
    }
}

extension ObservationEncoder {
    /// The Observation of a sample that is not a quantity.
    func resource(of object: ObjectObservation, _ sample: Sample, id: String?, state: SampleState) -> JSONObject {
        let components = object.components.map { component in
            JSONObject([
                "code": ObservationCodes.concept(component.codings), "valueQuantity": QuantityText.quantity(component.amount),
            ])
        }
        let type = sample.origin.type
        return observation(
            of: sample, id: id, profile: object.profile, identifiers: [Self.identifier(of: sample.identity)], state: state,
            categories: object.categories, code: ObservationCodes.concept(object.codings, text: type.displayName),
            [
                "performer": [patient(of: sample.origin)],
                "valueCodeableConcept": ObservationCodes.concept(object.value, text: type.caseName(of: sample.value)),
                "component": ifPresent(components.isEmpty ? nil : components),
            ])
    }
}
