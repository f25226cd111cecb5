import HealthModel

/// The fields of an object that is more than a number, after its type. Each is preceded by a comma.
///
///     ,"activity":"running","duration":1742.5,"events":[…],"activities":[…],"statistics":{…},"objects":0,"routes":[]
///     ,"objects":["019a…","019b…"]
///     ,"date":"2026-11-20","activeEnergyBurned":{"value":420.0,"unit":"kcal"},…,"derived":false
///
/// Amounts are in the unit of their type, as are values of samples. If they cannot be converted, they keep the received unit or have none.
enum ObjectFields {
    /// The fields, or only `"damaged":true` for a body that cannot be read, which `store check --deep` reports.
    ///
    /// - Parameter withContent: Whether to include the packed content (``ContentFields``).
    static func text(of sample: Sample, withContent: Bool = false) -> [UInt8] {
        var (object, isDamaged) = (JSONObject(), false)
        func read<Body: Decodable>(_ type: Body.Type) -> Body? {
            let body = try? sample.body?.decoded(as: type)
            if body == nil { isDamaged = true }
            return body
        }
        switch sample.origin.kind {
        case .quantity, .category: return []
        case .correlation:
            object.set("objects", read(Correlation.self)?.objects ?? [])
        case .workout:
            object.set("activity", sample.origin.type.caseName(of: sample.value))
            if let workout = read(Workout.self) { set(workout, of: sample, in: &object) }
        case .activitySummary: if let summary = read(ActivitySummary.self) { set(summary, in: &object) }
        case .workoutRoute: if let route = read(WorkoutRoute.self) { set(route, in: &object) }
        case .heartbeatSeries:
            if let series = read(HeartbeatSeries.self) { object.set("points", series.points.count) }
        case .electrocardiogram:
            object.set("classification", sample.origin.type.caseName(of: sample.value))
            if let recording = read(Electrocardiogram.self) { set(recording, in: &object) }
        case .audiogram: if let audiogram = read(Audiogram.self) { set(audiogram, in: &object) }
        case .visionPrescription:
            object.set("prescription", sample.origin.type.caseName(of: sample.value))
            if let prescription = read(VisionPrescription.self) { set(prescription, of: sample, in: &object) }
        case .stateOfMind:
            object.set("valence", sample.value)
            if let state = read(StateOfMind.self) { set(state, in: &object) }
        case .medicationDoseEvent:
            object.set("status", sample.origin.type.caseName(of: sample.value))
            if let dose = read(MedicationDoseEvent.self) { set(dose, of: sample, in: &object) }
        case .scoredAssessment:
            object.set("score", Int(exactly: sample.value))
            if let assessment = read(ScoredAssessment.self) { set(assessment, sample.origin.type, in: &object) }
        case .clinicalRecord: if let record = read(ClinicalRecord.self) { set(record, in: &object) }
        case .document: if let document = read(ClinicalDocument.self) { set(document, in: &object) }
        }
        if isDamaged { object.set("damaged", true) }
        if withContent { ContentFields.set(of: sample, in: &object) }
        return [UInt8(ascii: ",")] + object.closed.dropFirst().dropLast()
    }

    private static func set(_ workout: Workout, of sample: Sample, in object: inout JSONObject) {
        object.set([
            "duration": workout.seconds(from: sample.start, to: sample.end),
            "totalDistance": ifPresent(workout.totalDistance.map { amount($0, Self.metre) }),
            "events": workout.events.map { event($0, sample.start) },
            "activities": workout.activities.map { activity in
                JSONObject([
                    "uuid": activity.uuid, "start": time(activity.start, sample.start),
                    "end": activity.end.map { time($0, sample.start) }, "duration": activity.duration?.value(in: Workout.second),
                    "events": activity.events.map { event($0, sample.start) }, "statistics": statistics(activity.statistics),
                    "metadata": ifPresent(activity.metadata.map { RawJSON($0.json) }),
                ])
            },
            "statistics": statistics(workout.statistics), "objects": 0, "routes": workout.routes,
        ])
    }

    private static func set(_ summary: ActivitySummary, in object: inout JSONObject) {
        object.set("date", summary.date)
        for (name, reported, unit) in [
            ("activeEnergyBurned", summary.activeEnergyBurned, Self.kilocalorie),
            ("activeEnergyBurnedGoal", summary.activeEnergyBurnedGoal, Self.kilocalorie),
            ("moveTime", summary.moveTime, Self.minute), ("moveTimeGoal", summary.moveTimeGoal, Self.minute),
            ("exerciseTime", summary.exerciseTime, Self.minute), ("exerciseTimeGoal", summary.exerciseTimeGoal, Self.minute),
        ] {
            if let reported { object.set(name, amount(reported, unit)) }
        }
        for (name, reported) in [("standHours", summary.standHours), ("standHoursGoal", summary.standHoursGoal)] {
            guard let hours = reported?.numeral.doubleValue else { continue }
            if let whole = Int(exactly: hours) { object.set(name, whole) } else { object.set(name, hours) }
        }
        object.set("derived", false)
    }

    private static func event(_ event: Workout.Event, _ start: Instant) -> JSONObject {
        [
            "type": event.type, "start": time(event.start, start), "end": time(event.end, start),
            "metadata": ifPresent(event.metadata.map { RawJSON($0.json) }),
        ]
    }

    /// `{"activeEnergyBurned":{"sum":105.0,"unit":"kcal","from":"source"}}`.
    private static func statistics(_ list: [Workout.Statistics]) -> JSONObject {
        var object = JSONObject()
        for statistics in list {
            let type = SampleType(statistics.type)
            var entry = JSONObject()
            let figures = [
                ("sum", statistics.sum), ("average", statistics.average), ("minimum", statistics.minimum),
                ("maximum", statistics.maximum),
            ]
            var unit: Unit?
            for case (let name, let reported?) in figures {
                let own = type.flatMap { type in reported.value(in: type.canonicalUnit, of: type) }
                entry.set(name, own ?? reported.numeral.doubleValue)
                unit = own == nil ? reported.unit : type?.canonicalUnit
            }
            entry.set(["unit": unit?.code, "from": "source"])
            object.set(statistics.type, entry)
        }
        return object
    }

    static func amount(_ amount: Amount, _ unit: Unit?) -> JSONObject {
        var object = JSONObject()
        let own = unit.flatMap { amount.value(in: $0) }
        object.set(["value": own ?? amount.numeral.doubleValue, "unit": own == nil ? amount.unit?.code : unit?.code])
        return object
    }

    static func time(_ offset: Int64, _ start: Instant) -> String {
        Instant(microseconds: start.microseconds &+ offset).description
    }

    private static let metre = try? Unit(ucum: "m")
    private static let minute = try? Unit(ucum: "min")
    private static let kilocalorie = try? Unit(ucum: "kcal")
}
