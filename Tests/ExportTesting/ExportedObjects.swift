import HealthModel
import Pipeline
import PipelineTesting
import Testing

extension ExportedStore {
    /// A FHIR resource whose digits and spaces matter.
    package static let resource = """
        {"resourceType" : "Observation", "id": "o-1", "status":"final",
          "code":{"coding":[{"system":"http://loinc.org","code":"2339-0"}]}, "valueQuantity":{"value":6.30,"unit":"mmol/l"}, "note": [{"text":"a\\\\b\\t\\u00e9"}]}
        """
    /// A document.
    package static let document =
        "<?xml version=\"1.0\"?>\r\n<ClinicalDocument xmlns=\"urn:hl7-org:v3\">\t<title>Visit \\ é</title></ClinicalDocument>\n"

    /// A sample of any kind except quantities, with all of its fields. Different values of `number` give different samples.
    package func object(_ kind: SampleKind, _ number: Int, at second: Int, seconds: Int64 = 60) throws -> GatedSample {
        let start = Instant(seconds: 1_790_000_000 + Int64(second))
        let (type, value, body) = try reported(kind, number)
        let reading = Reading(
            origin: Origin(person: origin.person, type: try #require(SampleType(type)), source: origin.source),
            numeral: try Numeral(value), unit: .one,
            time: .instants(start: start, end: Instant(seconds: 1_790_000_000 + Int64(second) + seconds), offset: .utc),
            ordinal: UInt32(number),
            record: kind == .clinicalRecord ? RecordIdentifier(id: "Observation/o-\(number)", version: 1) : nil,
            body: body, place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Self.received).first)
    }

    private func reported(_ kind: SampleKind, _ number: Int) throws -> (type: String, value: String, body: SampleBody?) {
        switch kind {
        case .quantity: return ("heartRate", "60", nil)
        case .category: return ("sleepAnalysis", "\(number % 6)", nil)
        case .correlation:
            let parts = try [sample(60, at: number).sample.identity, sample(61, at: number).sample.identity]
            return ("bloodPressure", "0", try SampleBody(encoding: Correlation(objects: parts)))
        case .workout: return ("workout", "37", try workout())
        case .activitySummary: return ("activitySummary", "0", try summary(number))
        case .workoutRoute, .heartbeatSeries, .electrocardiogram: return try series(kind, number)
        case .audiogram: return ("audiogram", "0", try audiogram())
        case .visionPrescription:
            let eye = ["sphere": Amount(try Numeral("-1.25"), try Unit(ucum: "[diop]"))]
            let reported = VisionPrescription(expiration: 86_400_000_000, brand: nil, leftEye: eye, rightEye: nil)
            return ("visionPrescription", "1", try SampleBody(encoding: reported))
        case .stateOfMind:
            let reported = StateOfMind(kind: "momentaryEmotion", labels: ["calm", "happy"], associations: ["family"])
            return ("stateOfMind", "0.7", try SampleBody(encoding: reported))
        case .medicationDoseEvent:
            let reported = MedicationDoseEvent(
                medication: "Ibuprofen", codes: [Coding(system: "http://www.nlm.nih.gov/research/umls/rxnorm", code: "5640")],
                scheduleType: "schedule", scheduled: -60_000_000, dose: Amount(try Numeral("2"), nil), doseUnit: "tablet")
            return ("medicationDoseEvent", "4", try SampleBody(encoding: reported))
        case .scoredAssessment:
            return ("gad7", "9", try SampleBody(encoding: ScoredAssessment(answers: [1, 2, 1, 1, 2, 1, 1], risk: "mild")))
        case .clinicalRecord:
            let reported = ClinicalRecord(
                displayName: "Glucose", resourceType: "Observation", identifier: "o-\(number)", version: "R4",
                dates: ["issued": "2026-01-02"], codes: [Coding(system: "http://loinc.org", code: "2339-0")])
            return ("labResultRecord", "0", try SampleBody(encoding: reported, content: PackedContent(Self.resource.utf8)))
        case .document:
            let reported = ClinicalDocument(title: "Visit", patient: "P", custodian: "C", author: "A", valid: true)
            return ("cda", "0", try SampleBody(encoding: reported, content: PackedContent(Self.document.utf8)))
        }
    }

    private func workout() throws -> SampleBody {
        var reported = Workout(
            duration: Amount(try Numeral("29"), try Unit(ucum: "min")),
            totalDistance: Amount(try Numeral("5.2"), try Unit(ucum: "km")))
        reported.events = [Workout.Event(type: "pause", start: 1_000_000, end: 1_000_000)]
        let energy = Amount(try Numeral("310.5"), try Unit(ucum: "kcal"))
        reported.statistics = [Workout.Statistics(type: "activeEnergyBurned", sum: energy)]
        reported.routes = [try sample(60, at: 0).sample.identity.description]
        return try SampleBody(encoding: reported)
    }

    private func summary(_ number: Int) throws -> SampleBody {
        var reported = ActivitySummary(date: "2026-11-2\(number % 10)")
        reported.activeEnergyBurned = Amount(try Numeral("420.5"), try Unit(ucum: "kcal"))
        reported.exerciseTime = Amount(try Numeral("31"), try Unit(ucum: "min"))
        reported.standHours = Amount(try Numeral("12"), nil)
        return try SampleBody(encoding: reported)
    }

    private func series(_ kind: SampleKind, _ number: Int) throws -> (String, String, SampleBody?) {
        switch kind {
        case .workoutRoute:
            let extra = Points.Column("cadence", unit: "/min")
            var writer = PointsWriter(columns: WorkoutRoute.columns + [extra])
            for index in 0..<(3 + number) {
                var point: [Numeral?] = [Numeral(coefficient: Int64(index) * 1_500_000), try Numeral("51.441\(index)")]
                point += [try Numeral("-0.30"), index == 1 ? nil : try Numeral("12.5"), nil, nil, nil, try Numeral("2.75")]
                try writer.append(point + [try Numeral("80")])
            }
            let (points, content) = try writer.end()
            let reported = WorkoutRoute(points: points, workout: try sample(60, at: 0).sample.identity.description, name: "Route")
            return ("workoutRoute", "0", try SampleBody(encoding: reported, content: content))
        case .heartbeatSeries:
            var writer = PointsWriter(columns: HeartbeatSeries.columns)
            for index in 0..<4 {
                try writer.append([Numeral(coefficient: Int64(index) * 812_500), Numeral(coefficient: index == 2 ? 1 : 0), nil])
            }
            let (points, content) = try writer.end()
            return ("heartbeatSeries", "0", try SampleBody(encoding: HeartbeatSeries(points: points), content: content))
        default:
            var writer = PointsWriter(columns: [Electrocardiogram.voltage])
            for index in 0..<512 { try writer.append([try Numeral("-\(index).25")]) }
            let (points, content) = try writer.end()
            let reported = Electrocardiogram(
                points: points, samplingFrequency: Amount(try Numeral("512"), try Unit(ucum: "Hz")),
                averageHeartRate: Amount(try Numeral("62"), try Unit(ucum: "/min")), symptomsStatus: "none", symptoms: [],
                lead: "Lead I")
            return ("electrocardiogram", "1", try SampleBody(encoding: reported, content: content))
        }
    }

    private func audiogram() throws -> SampleBody {
        let level = Amount(try Numeral("10"), try Unit(ucum: "dB"))
        let point = Audiogram.Point(
            frequency: Amount(try Numeral("250"), try Unit(ucum: "Hz")), left: Audiogram.Ear(sensitivity: level, masked: false),
            right: nil)
        return try SampleBody(encoding: Audiogram(sensitivity: [point]))
    }
}
