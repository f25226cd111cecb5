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
    /// The values in a body, or nothing if they are the sample's own number.
    let read: @Sendable (ObjectFacts.Body) -> any ObjectFact

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

    private init(
        _ name: String, _ kinds: Set<SampleKind>, _ content: Content,
        _ read: @escaping @Sendable (ObjectFacts.Body) -> any ObjectFact = { _ in String?.none }
    ) {
        (self.name, self.kinds, self.content, self.read) = (name, kinds, content, read)
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
            self.init("date.\(parts[1])", [.clinicalRecord], .date) { $0.dates?[parts[1]] }
        case ("code", 2):
            guard let systems = CodeSystems.systems(named: parts[1]) else { return nil }
            self.init(name, [.clinicalRecord, .medicationDoseEvent], .code(systems)) { $0.codes }
        case ("fhir", 3):
            guard parts[1] == "code", let systems = CodeSystems.systems(named: parts[2]) else { return nil }
            self.init(name, [.clinicalRecord], .code(systems)) { $0.codes }
        case ("statistics", 3):
            guard let type = SampleType(known: parts[1]), let figure = Self.figure(parts[2]) else { return nil }
            self.init("statistics.\(type.id).\(parts[2])", [.workout], .amount(type.canonicalUnit, type)) { body in
                body.statistics?.first { $0.type == type.id }.flatMap(figure)
            }
        default: return nil
        }
    }

    /// All names, with placeholders in capitals.
    public static let names: [String] =
        table.map(\.name) + ["fhir.code.SYSTEM", "code.SYSTEM", "date.NAME", "statistics.TYPE.FIGURE"]

    /// The figures of a workout's statistics.
    static let figures = ["sum", "average", "minimum", "maximum"]

    private static func figure(_ name: String) -> (@Sendable (Workout.Statistics) -> Amount?)? {
        switch name {
        case "sum": { $0.sum }
        case "average": { $0.average }
        case "minimum": { $0.minimum }
        case "maximum": { $0.maximum }
        default: nil
        }
    }

    private static let byName = Dictionary(table.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    private static let singular = [
        "labels": "label", "associations": "association", "symptoms": "symptom", "objects": "object", "routes": "route",
        "events": "event", "codes": "code", "fhir.codes": "fhir.code",
    ]

    private static let table: [ObjectField] = [workouts, records, recordings, people, rings].flatMap { $0 }

    private static let workouts: [ObjectField] = [
        ObjectField("activity", [.workout], .namedNumber),
        ObjectField("totalDistance", [.workout], .amount(unit("m"), nil)) {
            Workout.distance($0.totalDistance, $0.statistics ?? [])
        },
        ObjectField("event", [.workout], .names([Catalogue.workoutEventValues])) { $0.events?.map(\.type) },
        ObjectField("route", [.workout], .text) { $0.routes },
        ObjectField("workout", [.workoutRoute], .text) { $0.workout },
        ObjectField("object", [.correlation], .text) { $0.objects },
    ]

    private static let records: [ObjectField] = [
        ObjectField("displayName", [.clinicalRecord], .text) { $0.displayName },
        ObjectField("fhir.resourceType", [.clinicalRecord], .text) { $0.resourceType },
        ObjectField("fhir.identifier", [.clinicalRecord], .text) { $0.identifier },
        ObjectField("fhir.version", [.clinicalRecord], .text) { $0.version },
        ObjectField("fhir.sourceURL", [.clinicalRecord], .text) { $0.sourceURL },
        ObjectField("fhir.lastUpdated", [.clinicalRecord], .date) { $0.lastUpdated },
        ObjectField("fhir.code", [.clinicalRecord], .code(nil)) { $0.codes },
        ObjectField("code", [.clinicalRecord, .medicationDoseEvent], .code(nil)) { $0.codes },
        ObjectField("result", [.clinicalRecord], .text) { $0.result?.text },
        ObjectField("interpretation", [.clinicalRecord], .text) { $0.result?.interpretation },
        ObjectField("outOfRange", [.clinicalRecord], .boolean) { $0.result?.isOutside },
        ObjectField("reference", [.clinicalRecord], .text) { $0.references?.flatMap { [$0.reference, $0.display] } },
        ObjectField("title", [.document], .text) { $0.title },
        ObjectField("patient", [.document], .text) { $0.patient },
        ObjectField("custodian", [.document], .text) { $0.custodian },
        ObjectField("author", [.document], .text) { $0.author },
        ObjectField("valid", [.document], .boolean) { $0.valid },
    ]

    private static let recordings: [ObjectField] = [
        ObjectField("points", [.workoutRoute, .heartbeatSeries, .electrocardiogram], .count) {
            ($0.points?.count).map(Double.init)
        },
        ObjectField("classification", [.electrocardiogram], .namedNumber),
        ObjectField("averageHeartRate", [.electrocardiogram], .amount(unit("/min"), nil)) { $0.averageHeartRate },
        ObjectField("samplingFrequency", [.electrocardiogram], .amount(unit("Hz"), nil)) { $0.samplingFrequency },
        ObjectField("lead", [.electrocardiogram], .text) { $0.lead },
        ObjectField("symptomsStatus", [.electrocardiogram], .names([ObjectValues.symptomsStatus])) { $0.symptomsStatus },
        ObjectField("symptom", [.electrocardiogram], .text) { $0.symptoms },
        ObjectField("prescription", [.visionPrescription], .namedNumber),
        ObjectField("brand", [.visionPrescription], .text) { $0.brand },
    ]

    /// The medication of a dose.
    public static let medication = ObjectField("medication", [.medicationDoseEvent], .text) { $0.medication }

    private static let people: [ObjectField] = [
        ObjectField("valence", [.stateOfMind], .number),
        ObjectField("stateOfMindKind", [.stateOfMind], .names([ObjectValues.stateOfMindKind])) { $0.kind },
        ObjectField("label", [.stateOfMind], .names([ObjectValues.stateOfMindLabel])) { $0.labels },
        ObjectField("association", [.stateOfMind], .names([ObjectValues.stateOfMindAssociation])) { $0.associations },
        medication,
        ObjectField("status", [.medicationDoseEvent], .namedNumber),
        ObjectField("scheduleType", [.medicationDoseEvent], .names([ObjectValues.medicationScheduleType])) { $0.scheduleType },
        ObjectField("dose", [.medicationDoseEvent], .amount(nil, nil)) { $0.dose },
        ObjectField("scheduledDose", [.medicationDoseEvent], .amount(nil, nil)) { $0.scheduledDose },
        ObjectField("doseUnit", [.medicationDoseEvent], .text) { $0.doseUnit },
        ObjectField("score", [.scoredAssessment], .number),
        ObjectField("risk", [.scoredAssessment], .names([ObjectValues.gad7Risk, ObjectValues.phq9Risk])) { $0.risk },
    ]

    private static let rings: [ObjectField] = [
        ObjectField("date", [.activitySummary, .clinicalRecord], .date) { $0.date ?? $0.ownDate },
        ObjectField("activeEnergyBurned", [.activitySummary], .amount(unit("kcal"), nil)) { $0.activeEnergyBurned },
        ObjectField("activeEnergyBurnedGoal", [.activitySummary], .amount(unit("kcal"), nil)) { $0.activeEnergyBurnedGoal },
        ObjectField("moveTime", [.activitySummary], .amount(unit("min"), nil)) { $0.moveTime },
        ObjectField("moveTimeGoal", [.activitySummary], .amount(unit("min"), nil)) { $0.moveTimeGoal },
        ObjectField("exerciseTime", [.activitySummary], .amount(unit("min"), nil)) { $0.exerciseTime },
        ObjectField("exerciseTimeGoal", [.activitySummary], .amount(unit("min"), nil)) { $0.exerciseTimeGoal },
        ObjectField("standHours", [.activitySummary], .count) { $0.standHours?.numeral.doubleValue },
        ObjectField("standHoursGoal", [.activitySummary], .count) { $0.standHoursGoal?.numeral.doubleValue },
    ]

    /// The unit in which lines print an amount.
    private static func unit(_ code: String) -> Unit? { try? Unit(ucum: code) }
}

extension ClinicalRecord {
    /// The names of a resource's own dates (``dates``).
    public static let dateNames = ["recorded", "onset", "abatement", "occurrence", "authored", "issued", "effective"]
}
