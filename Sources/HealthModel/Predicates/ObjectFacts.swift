/// The values of a body's fields in conditions, for any kind. Decoded once per sample, and only if a condition needs them.
struct ObjectFacts: Sendable {
    /// The fields that a body may have, by their names in it.
    private struct Body: Decodable {
        var objects: [String]?
        var totalDistance: Amount?
        var duration: Amount?
        var events: [Workout.Event]?
        var statistics: [Workout.Statistics]?
        var routes: [String]?
        var workout: String?
        var displayName: String?
        var resourceType: String?
        var identifier: String?
        var version: String?
        var sourceURL: String?
        var lastUpdated: String?
        var dates: [String: String]?
        var codes: [Coding]?
        var result: ClinicalResult?
        var references: [ClinicalReference]?
        var title: String?
        var patient: String?
        var custodian: String?
        var author: String?
        var valid: Bool?
        var points: Points?
        var averageHeartRate: Amount?
        var samplingFrequency: Amount?
        var lead: String?
        var symptomsStatus: String?
        var symptoms: [String]?
        var brand: String?
        var kind: String?
        var labels: [String]?
        var associations: [String]?
        var medication: String?
        var scheduleType: String?
        var dose: Amount?
        var scheduledDose: Amount?
        var doseUnit: String?
        var risk: String?
        var date: String?
        var activeEnergyBurned: Amount?
        var activeEnergyBurnedGoal: Amount?
        var moveTime: Amount?
        var moveTimeGoal: Amount?
        var exerciseTime: Amount?
        var exerciseTimeGoal: Amount?
        var standHours: Amount?
        var standHoursGoal: Amount?

        /// The own date of a health record.
        var ownDate: String? { dates.flatMap { ClinicalRecord.date(among: $0) } }
    }

    /// One value of a field.
    enum Value: Hashable, Sendable {
        case text(String)
        case number(Double)
        case amount(Amount)
        case boolean(Bool)
        case coding(Coding)
    }

    private let body: Body?

    /// The facts of a sample. A body that cannot be read has no values.
    init(of sample: Sample) { body = try? sample.body?.decoded(as: Body.self) }

    /// The result of a health record with its codes.
    var measured: ClinicalRecord.Measured? {
        body?.result.map { ClinicalRecord.Measured(name: body?.displayName ?? "", codes: body?.codes ?? [], result: $0) }
    }

    /// The duration of a workout without its pauses, in seconds, as in its line.
    func seconds(of sample: Sample) -> Double {
        Workout(duration: body?.duration, events: body?.events ?? []).seconds(from: sample.start, to: sample.end)
    }

    /// The body's values of a field, without those that are the sample's own number.
    func values(of field: ObjectField) -> [Value] {
        guard let body else { return [] }
        if case .code = field.content { return (body.codes ?? []).map { .coding($0) } }
        if field.name.hasPrefix("date.") {
            return Self.texts([body.dates?[String(field.name.dropFirst(5))]])
        }
        if field.name.hasPrefix("statistics.") { return Self.amounts([Self.figure(field.name, body.statistics ?? [])]) }
        let readers: [(String, Body) -> [Value]?] = [
            Self.ofWorkouts, Self.ofRecords, Self.ofResults, Self.ofRecordings, Self.ofPeople, Self.ofRings,
        ]
        for read in readers {
            if let values = read(field.name, body) { return values }
        }
        return []
    }

    private static func texts(_ list: [String?]) -> [Value] { list.compactMap { $0 }.map { .text($0) } }
    private static func amounts(_ list: [Amount?]) -> [Value] { list.compactMap { $0 }.map { .amount($0) } }

    /// `statistics.TYPE.FIGURE`
    private static func figure(_ name: String, _ list: [Workout.Statistics]) -> Amount? {
        let parts = name.split(separator: ".")
        guard parts.count == 3, let type = list.first(where: { $0.type == parts[1] }) else { return nil }
        switch parts[2] {
        case "sum": return type.sum
        case "average": return type.average
        case "minimum": return type.minimum
        default: return type.maximum
        }
    }

    private static func ofWorkouts(_ name: String, _ body: Body) -> [Value]? {
        switch name {
        case "totalDistance": amounts([Workout.distance(body.totalDistance, body.statistics ?? [])])
        case "event": (body.events ?? []).map { .text($0.type) }
        case "route": texts(body.routes ?? [])
        case "workout": texts([body.workout])
        case "object": texts(body.objects ?? [])
        default: nil
        }
    }

    private static func ofRecords(_ name: String, _ body: Body) -> [Value]? {
        switch name {
        case "displayName": texts([body.displayName])
        case "fhir.resourceType": texts([body.resourceType])
        case "fhir.identifier": texts([body.identifier])
        case "fhir.version": texts([body.version])
        case "fhir.sourceURL": texts([body.sourceURL])
        case "fhir.lastUpdated": texts([body.lastUpdated])
        case "title": texts([body.title])
        case "patient": texts([body.patient])
        case "custodian": texts([body.custodian])
        case "author": texts([body.author])
        case "valid": body.valid.map { [.boolean($0)] } ?? []
        default: nil
        }
    }

    private static func ofResults(_ name: String, _ body: Body) -> [Value]? {
        let result = body.result
        return switch name {
        case "result": texts([result?.text])
        case "interpretation": texts(result?.interpretation ?? [])
        case "outOfRange": result?.isOutside.map { [.boolean($0)] } ?? []
        case "reference": (body.references ?? []).flatMap { texts([$0.reference, $0.display]) }
        default: nil
        }
    }

    private static func ofRecordings(_ name: String, _ body: Body) -> [Value]? {
        switch name {
        case "points": body.points.map { [.number(Double($0.count))] } ?? []
        case "averageHeartRate": amounts([body.averageHeartRate])
        case "samplingFrequency": amounts([body.samplingFrequency])
        case "lead": texts([body.lead])
        case "symptomsStatus": texts([body.symptomsStatus])
        case "symptom": texts(body.symptoms ?? [])
        case "brand": texts([body.brand])
        default: nil
        }
    }

    private static func ofPeople(_ name: String, _ body: Body) -> [Value]? {
        switch name {
        case "stateOfMindKind": texts([body.kind])
        case "label": texts(body.labels ?? [])
        case "association": texts(body.associations ?? [])
        case "medication": texts([body.medication])
        case "scheduleType": texts([body.scheduleType])
        case "dose": amounts([body.dose])
        case "scheduledDose": amounts([body.scheduledDose])
        case "doseUnit": texts([body.doseUnit])
        case "risk": texts([body.risk])
        default: nil
        }
    }

    private static func ofRings(_ name: String, _ body: Body) -> [Value]? {
        switch name {
        case "date": texts([body.date ?? body.ownDate])
        case "activeEnergyBurned": amounts([body.activeEnergyBurned])
        case "activeEnergyBurnedGoal": amounts([body.activeEnergyBurnedGoal])
        case "moveTime": amounts([body.moveTime])
        case "moveTimeGoal": amounts([body.moveTimeGoal])
        case "exerciseTime": amounts([body.exerciseTime])
        case "exerciseTimeGoal": amounts([body.exerciseTimeGoal])
        case "standHours": counts(body.standHours)
        case "standHoursGoal": counts(body.standHoursGoal)
        default: nil
        }
    }

    private static func counts(_ amount: Amount?) -> [Value] { amount.map { [.number($0.numeral.doubleValue)] } ?? [] }
}
