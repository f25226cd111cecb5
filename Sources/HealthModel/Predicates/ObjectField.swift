/// A field for conditions beyond a sample's header and number: a value in its ``SampleBody``, named as in a sample's line.
///
///     activity = running                       a workout
///     fhir.resourceType = "Immunization" and fhir.code.cvx = 94
///     date.occurrence >= 2012-05               of a clinical record, at the precision of its date
///     statistics.distanceWalkingRunning.sum > 10 km
///
/// A field has no value, one, or several (the codes of a resource). `=` holds if any value is equal, and `!=` if no value is equal.
public struct ObjectField: Hashable, Sendable {
    /// The name in conditions.
    public let name: String
    /// The kinds of samples that have it.
    public let kinds: Set<SampleKind>
    /// The source and kind of its values.
    let content: Content

    enum Content: Sendable {
        /// The name of the sample's number, from its type's list.
        case namedNumber
        /// The sample's number.
        case number
        /// Numbers without a unit.
        case count
        case text
        /// Names from a list, or HealthKit's constants.
        case names([CategoryValues])
        case boolean
        case date
        /// An amount, in this unit if the condition has none. `nil` stands for the amount's own unit.
        case amount(Unit?, SampleType?)
        /// A code from these systems, or from any if `nil`.
        case code([String]?)
    }

    /// Fields are equal if their names are.
    public static func == (one: ObjectField, other: ObjectField) -> Bool { one.name == other.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    private init(_ name: String, _ kinds: Set<SampleKind>, _ content: Content) {
        (self.name, self.kinds, self.content) = (name, kinds, content)
    }

    /// The field with this name. Lists may be written as in lines (`labels`) or in the singular (`label`).
    public init?(named name: String) {
        if let field = Self.byName[Self.singular[name] ?? name] {
            self = field
            return
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count) {
        case ("date", 2), ("dates", 2):
            guard ClinicalRecord.dateNames.contains(parts[1]) else { return nil }
            self.init("date.\(parts[1])", [.clinicalRecord], .date)
        case ("code", 2):
            guard let systems = CodeSystems.systems(named: parts[1]) else { return nil }
            self.init(name, [.clinicalRecord, .medicationDoseEvent], .code(systems))
        case ("fhir", 3):
            guard parts[1] == "code", let systems = CodeSystems.systems(named: parts[2]) else { return nil }
            self.init(name, [.clinicalRecord], .code(systems))
        case ("statistics", 3):
            guard let type = SampleType(known: parts[1]), Self.figures.contains(parts[2]) else { return nil }
            self.init("statistics.\(type.id).\(parts[2])", [.workout], .amount(type.canonicalUnit, type))
        default: return nil
        }
    }

    /// All names, with placeholders in capitals.
    public static let names: [String] =
        table.map(\.name) + ["fhir.code.SYSTEM", "code.SYSTEM", "date.NAME", "statistics.TYPE.FIGURE"]

    /// The figures of a workout's statistics.
    static let figures = ["sum", "average", "minimum", "maximum"]

    private static let byName = Dictionary(table.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    private static let singular = [
        "labels": "label", "associations": "association", "symptoms": "symptom", "objects": "object", "routes": "route",
        "events": "event", "codes": "code", "fhir.codes": "fhir.code",
    ]

    private static let table: [ObjectField] = [workouts, records, recordings, people, rings].flatMap { $0 }

    private static let workouts: [ObjectField] = [
        ObjectField("activity", [.workout], .namedNumber),
        ObjectField("totalDistance", [.workout], .amount(unit("m"), nil)),
        ObjectField("event", [.workout], .names([Catalogue.workoutEventValues])),
        ObjectField("route", [.workout], .text),
        ObjectField("workout", [.workoutRoute], .text),
        ObjectField("object", [.correlation], .text),
    ]

    private static let records: [ObjectField] = [
        ObjectField("displayName", [.clinicalRecord], .text),
        ObjectField("fhir.resourceType", [.clinicalRecord], .text),
        ObjectField("fhir.identifier", [.clinicalRecord], .text),
        ObjectField("fhir.version", [.clinicalRecord], .text),
        ObjectField("fhir.sourceURL", [.clinicalRecord], .text),
        ObjectField("fhir.lastUpdated", [.clinicalRecord], .date),
        ObjectField("fhir.code", [.clinicalRecord], .code(nil)),
        ObjectField("code", [.clinicalRecord, .medicationDoseEvent], .code(nil)),
        ObjectField("result", [.clinicalRecord], .text),
        ObjectField("interpretation", [.clinicalRecord], .text),
        ObjectField("outOfRange", [.clinicalRecord], .boolean),
        ObjectField("reference", [.clinicalRecord], .text),
        ObjectField("title", [.document], .text),
        ObjectField("patient", [.document], .text),
        ObjectField("custodian", [.document], .text),
        ObjectField("author", [.document], .text),
        ObjectField("valid", [.document], .boolean),
    ]

    private static let recordings: [ObjectField] = [
        ObjectField("points", [.workoutRoute, .heartbeatSeries, .electrocardiogram], .count),
        ObjectField("classification", [.electrocardiogram], .namedNumber),
        ObjectField("averageHeartRate", [.electrocardiogram], .amount(unit("/min"), nil)),
        ObjectField("samplingFrequency", [.electrocardiogram], .amount(unit("Hz"), nil)),
        ObjectField("lead", [.electrocardiogram], .text),
        ObjectField("symptomsStatus", [.electrocardiogram], .names([ObjectValues.symptomsStatus])),
        ObjectField("symptom", [.electrocardiogram], .text),
        ObjectField("prescription", [.visionPrescription], .namedNumber),
        ObjectField("brand", [.visionPrescription], .text),
    ]

    /// The medication of a dose.
    public static let medication = ObjectField("medication", [.medicationDoseEvent], .text)

    private static let people: [ObjectField] = [
        ObjectField("valence", [.stateOfMind], .number),
        ObjectField("stateOfMindKind", [.stateOfMind], .names([ObjectValues.stateOfMindKind])),
        ObjectField("label", [.stateOfMind], .names([ObjectValues.stateOfMindLabel])),
        ObjectField("association", [.stateOfMind], .names([ObjectValues.stateOfMindAssociation])),
        medication,
        ObjectField("status", [.medicationDoseEvent], .namedNumber),
        ObjectField("scheduleType", [.medicationDoseEvent], .names([ObjectValues.medicationScheduleType])),
        ObjectField("dose", [.medicationDoseEvent], .amount(nil, nil)),
        ObjectField("scheduledDose", [.medicationDoseEvent], .amount(nil, nil)),
        ObjectField("doseUnit", [.medicationDoseEvent], .text),
        ObjectField("score", [.scoredAssessment], .number),
        ObjectField("risk", [.scoredAssessment], .names([ObjectValues.gad7Risk, ObjectValues.phq9Risk])),
    ]

    private static let rings: [ObjectField] = [
        ObjectField("date", [.activitySummary, .clinicalRecord], .date),
        ObjectField("activeEnergyBurned", [.activitySummary], .amount(unit("kcal"), nil)),
        ObjectField("activeEnergyBurnedGoal", [.activitySummary], .amount(unit("kcal"), nil)),
        ObjectField("moveTime", [.activitySummary], .amount(unit("min"), nil)),
        ObjectField("moveTimeGoal", [.activitySummary], .amount(unit("min"), nil)),
        ObjectField("exerciseTime", [.activitySummary], .amount(unit("min"), nil)),
        ObjectField("exerciseTimeGoal", [.activitySummary], .amount(unit("min"), nil)),
        ObjectField("standHours", [.activitySummary], .count),
        ObjectField("standHoursGoal", [.activitySummary], .count),
    ]

    /// The unit in which lines print an amount.
    private static func unit(_ code: String) -> Unit? { try? Unit(ucum: code) }
}

extension ClinicalRecord {
    /// The names of a resource's own dates (``dates``).
    public static let dateNames = ["recorded", "onset", "abatement", "occurrence", "authored", "issued", "effective"]
}
