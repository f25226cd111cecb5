/// The values of a body's fields in conditions, for any kind. Decoded once per sample, and only if a condition needs them.
struct ObjectFacts: Sendable {
    /// The fields that a body may have, by their names in it. ``ObjectField`` reads them.
    struct Body: Decodable, Sendable {
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

        var ownDate: String? { dates.flatMap { ClinicalRecord.date(among: $0) } }
    }

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
    func values(of field: ObjectField) -> [Value] { body.map { field.read($0).facts } ?? [] }
}

/// The content of a field of a body: no value, one, or several.
protocol ObjectFact {
    var facts: [ObjectFacts.Value] { get }
}

extension String: ObjectFact {
    var facts: [ObjectFacts.Value] { [.text(self)] }
}

extension Double: ObjectFact {
    var facts: [ObjectFacts.Value] { [.number(self)] }
}

extension Bool: ObjectFact {
    var facts: [ObjectFacts.Value] { [.boolean(self)] }
}

extension Amount: ObjectFact {
    var facts: [ObjectFacts.Value] { [.amount(self)] }
}

extension Coding: ObjectFact {
    var facts: [ObjectFacts.Value] { [.coding(self)] }
}

extension Optional: ObjectFact where Wrapped: ObjectFact {
    var facts: [ObjectFacts.Value] { self?.facts ?? [] }
}

extension Array: ObjectFact where Element: ObjectFact {
    var facts: [ObjectFacts.Value] { flatMap(\.facts) }
}
