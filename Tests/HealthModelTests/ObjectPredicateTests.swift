import PipelineTesting
import Testing

@testable import HealthModel

/// Conditions on the fields of bodies.
@Suite struct ObjectPredicateTests {
    static func sample(
        _ type: String, _ body: (any Encodable)? = nil, number: Numeral = Numeral(coefficient: 0), start: Int64 = 1_790_000_000
    ) throws -> Sample {
        let type = try #require(SampleType(type))
        let origin = Origin(
            person: "me", type: type, source: SourceRevision(id: "s", name: "S", version: nil), device: nil)
        let start = Instant(seconds: start)
        return Sample(
            origin: origin,
            identity: SampleIdentity(
                series: origin.seriesKey, start: start.microseconds, end: start.microseconds, numeral: number, unit: .one,
                ordinal: 0), nominalStart: start.microseconds, start: start, end: start, value: number.doubleValue,
            numeral: number, unit: type.canonicalUnit, zone: nil, timeOrigin: .device, received: start,
            body: try body.map { try SampleBody(encoding: $0) })
    }

    static func amount(_ value: String, _ unit: String?) throws -> Amount {
        Amount(try Numeral(value), try unit.map { try Unit(ucum: $0) })
    }

    static func samples() throws -> [String: Sample] {
        var rings = ActivitySummary(date: "2026-09-21")
        rings.activeEnergyBurned = try amount("420.5", "kcal")
        rings.standHours = try amount("11", nil)
        return [
            "immunization": try sample(
                "immunizationRecord",
                ClinicalRecord(
                    displayName: "MMRV", resourceType: "Immunization", identifier: "imm-1", version: "R4",
                    sourceURL: "https://example.org/fhir", lastUpdated: "2020-01-02T03:04:05Z",
                    dates: ["occurrence": "2012-05-15", "recorded": "2012-05-15T10:30:00+02:00"],
                    codes: [
                        Coding(system: "http://hl7.org/fhir/sid/cvx", code: "94", display: "MMRV"),
                        Coding(system: "http://hl7.org/fhir/sid/ndc", code: "00006-4171-00"), Coding(display: "a text alone"),
                    ])),
            "condition": try sample(
                "conditionRecord",
                ClinicalRecord(
                    displayName: "Asthma", resourceType: "Condition", identifier: "94", version: "DSTU2",
                    dates: ["onset": "2012"],
                    codes: [Coding(system: "urn:oid:2.16.840.1.113883.6.96", code: "195967001")])),
            "run": try sample(
                "workout",
                Workout(
                    totalDistance: try amount("5.20", "km"), events: [.init(type: "lap", start: 0, end: 1)],
                    statistics: [
                        .init(type: "distanceWalkingRunning", sum: try amount("5.20", "km")),
                        .init(type: "heartRate", average: try amount("140", "/min"), maximum: try amount("171", "/min")),
                    ], routes: ["0195fb5a-0000-8000-8000-000000000001"]), number: Numeral(coefficient: 37)),
            "ride": try sample(
                "workout", Workout(statistics: [.init(type: "distanceCycling", sum: try amount("21", "km"))]),
                number: Numeral(coefficient: 13)),
            "unknown": try sample("workout", Workout(), number: Numeral(coefficient: 81)),
            "ecg": try sample(
                "electrocardiogram",
                Electrocardiogram(
                    points: Points(columns: [Electrocardiogram.voltage], count: 15360),
                    averageHeartRate: try amount("62", "/min"), symptomsStatus: "present", symptoms: ["dizziness"]),
                number: Numeral(coefficient: 1)),
            "mood": try sample(
                "stateOfMind", StateOfMind(kind: "dailyMood", labels: ["calm", "happy"], associations: ["family"]),
                number: try Numeral("0.7")),
            "document": try sample(
                "cda", ClinicalDocument(title: "Summary of care", patient: "A B", custodian: "Clinic", author: "C", valid: false)),
            "rings": try sample("activitySummary", rings),
            "dose": try sample(
                "medicationDoseEvent",
                MedicationDoseEvent(
                    medication: "Ibuprofen",
                    codes: [Coding(system: "http://www.nlm.nih.gov/research/umls/rxnorm", code: "5640")],
                    dose: try amount("2", nil)), number: Numeral(coefficient: 4)),
            "pair": try sample(
                "bloodPressure", Correlation(objects: [try #require(SampleIdentity("0195fb5a-0000-8000-8000-000000000002"))])),
            "beat": try sample("heartRate", number: Numeral(coefficient: 60)),
            "broken": try {
                var sample = try sample("immunizationRecord")
                sample.body = SampleBody(bytes: Array("{\"resourceType\":".utf8))
                return sample
            }(),
        ]
    }

    /// Each condition with the samples that meet it.
    @Test(arguments: [
        (#"fhir.resourceType = "Immunization" and fhir.code.cvx = 94"#, "immunization"),
        ("fhir.resourceType = Immunization and fhir.code.ndc = 94", ""), ("fhir.code = 94", "immunization"),
        ("fhir.code = 'http://hl7.org/fhir/sid/cvx|94'", "immunization"), ("fhir.code = '|94'", ""),
        ("fhir.code.cvx = 094", ""), ("fhir.code.cvx ~ 9", "immunization"), ("fhir.code.snomed = 195967001", "condition"),
        ("code.rxnorm = 5640", "dose"), ("code = 5640", "dose"), ("fhir.code = 5640", ""),
        ("fhir.identifier = 94", "condition"), ("fhir.version = DSTU2", "condition"),
        ("fhir.sourceURL ~ example.org", "immunization"), ("displayName ~ sth", "condition"),
        ("date.occurrence >= 2012-05", "immunization"), ("date.occurrence > 2012-05", ""),
        ("date.occurrence > 2012-04", "immunization"), ("date.occurrence = 2012", "immunization"),
        ("date.occurrence < 2012-05-16", "immunization"), ("date.onset = 2012-05-15", "condition"),
        ("date.onset < 2013", "condition"), ("dates.onset >= 2012-12", "condition"),
        ("date.recorded = 2012-05-15T08:30:00Z", "immunization"), ("date.recorded > 2012-05-15T08:30:00Z", ""),
        ("date.recorded <= '2012-05-15T10:30:00+02:00'", "immunization"), ("fhir.lastUpdated < 2021", "immunization"),
        ("activity = running", "run"), ("activity = HKWorkoutActivityTypeRunning", "run"), ("activity = 37", "run"),
        ("activity = 81", "unknown"), ("activity ~ run", "run"), ("case = running", "run"),
        ("totalDistance > 5", "ride run"), ("totalDistance > 20 km", "ride"), ("totalDistance > 5.2 km", "ride"),
        ("totalDistance = 5.2 km", "run"),
        ("totalDistance = 5200", "run"), ("totalDistance < 4 [mi_i]", "run"),
        ("statistics.distanceWalkingRunning.sum > 5 km", "run"), ("statistics.heartRate.maximum >= 171", "run"),
        ("statistics.heartRate.sum > 0", ""), ("event = lap", "run"), ("event = HKWorkoutEventTypeLap", "run"),
        ("route = 0195fb5a-0000-8000-8000-000000000001", "run"), ("object = 0195fb5a-0000-8000-8000-000000000002", "pair"),
        ("classification = sinusRhythm", "ecg"), ("averageHeartRate > 60", "ecg"), ("averageHeartRate > 1.1 Hz", ""),
        ("points > 15000", "ecg"), ("symptom = dizziness", "ecg"), ("symptomsStatus = present", "ecg"),
        ("label = calm and label = happy", "mood"), ("labels = calm", "mood"), ("label = HKStateOfMindLabelCalm", "mood"),
        ("valence > 0.5", "mood"), ("stateOfMindKind = dailyMood", "mood"), ("association = family", "mood"),
        ("title ~ care", "document"), ("valid = no", "document"), ("valid = true", ""), ("valid != true", "document"),
        ("author = C or patient = 'A B'", "document"), ("date = 2026-09", "rings"), ("date > 2026-09-20", "rings"),
        ("activeEnergyBurned > 420", "rings"), ("standHours >= 11", "rings"), ("status = taken", "dose"),
        ("medication = Ibuprofen", "dose"), ("dose >= 2", "dose"), ("dose > 1 mg", ""),
    ])
    func meets(condition: String, expected: String) throws {
        let predicate = try SamplePredicate(condition)
        let matched = try Self.samples().filter { predicate.matches($0.value) }.map(\.key).sorted()
        // An object without the field differs from every value.
        let kinds = condition.contains("!=") ? matched.filter { expected.contains($0) } : matched
        #expect(kinds.joined(separator: " ") == expected)
        // A store that reads only the range of the condition finds the same.
        let read = try Self.samples().filter { PredicatePlanTests.finds($0.value, by: predicate) }
        #expect(read.map(\.key).sorted() == matched)
        // No condition and its contrary at once.
        #expect(try Self.samples().values.allSatisfy { !(predicate.matches($0) && SamplePredicate.not(predicate).matches($0)) })
    }

    /// A missing field equals nothing and differs from everything, also after `not`.
    @Test func missingFieldEqualsNothing() throws {
        let samples = try Self.samples()
        func names(_ condition: String) throws -> Set<String> {
            let predicate = try SamplePredicate(condition)
            return Set(samples.filter { predicate.matches($0.value) }.keys)
        }
        let all = Set(samples.keys)
        #expect(try names("fhir.code.cvx != 94") == all.subtracting(["immunization"]))
        #expect(try names("not fhir.code.cvx = 94") == all.subtracting(["immunization"]))
        #expect(try names("label != calm") == all.subtracting(["mood"]))
        // A time that is not a date, and an amount that cannot be converted, match neither the condition nor its negation.
        #expect(try names("averageHeartRate > 1 or not averageHeartRate > 1") == all)
        #expect(try names("not dose > 1 mg").contains("dose") == false)
        #expect(try names("dose != 1 mg").contains("dose") == false)
        // An unreadable body has no fields.
        #expect(try names("fhir.resourceType = Immunization").contains("broken") == false)
    }

    /// The position of the character that cannot be parsed.
    @Test(arguments: [
        ("fhir.code.xyz = 94", 1), ("fhir.code > 94", 13), ("date.occurrence >= may", 20), ("date.occurrence ~ 2012", 19),
        ("date.occurrence = 2012-13", 19), ("date.occurrence = 2012-02-30", 19), ("date.birthday = 2012", 1),
        ("activity = runing", 12), ("activity < running", 12), ("totalDistance > 5 kg", 17), ("totalDistance > far", 17),
        ("valid = maybe", 9), ("points > many", 10), ("points > 5 km", 10), ("statistics.heartRate.median > 5", 1),
        ("statistics.nothing.sum > 5", 1), ("value > 5 and status = eaten", 24), ("fhir.code.cvx = 94 95", 17),
        ("classification ~", 17), ("fhir = 1", 1), ("date. = 1", 1), (". = 1", 1), ("fhir.code. = 1", 1),
    ])
    func errorsNameTheirPlace(condition: String, position: Int) {
        let error = #expect(throws: PredicateError.self) { try SamplePredicate(condition) }
        #expect(error?.position == position, "\(String(describing: error))")
    }

    /// Every name that is listed is a field, and reads something or nothing of every sample.
    @Test func everyNameIsAField() throws {
        for name in ObjectField.names where !name.contains(where: \.isUppercase) || !name.contains(".") {
            #expect(ObjectField(named: name)?.name == name)
        }
        #expect(ObjectField(named: "labels") == ObjectField(named: "label"))
        #expect(ObjectField(named: "fhir.code.cvx") != ObjectField(named: "fhir.code.ndc"))
        #expect(
            ObjectField(named: "statistics.HKQuantityTypeIdentifierHeartRate.average")?.name == "statistics.heartRate.average")
        for system in CodeSystems.all { #expect(CodeSystems.name(of: system.systems[0] + "/") != nil) }
        #expect(CodeSystems.name(of: "http://hl7.org/fhir/sid/icd-10-cm") == "icd10cm")
    }

    /// Random conditions over a coarse grid, against a slow reading of them that knows nothing of bodies.
    @Test func matchesReferenceEvaluation() throws {
        var random = SeededGenerator(seed: 17)
        let codes = ["1", "2", "3"]
        let systems = ["http://hl7.org/fhir/sid/cvx", "http://loinc.org", nil]
        let dates = ["2012", "2012-05", "2012-05-15", "2012-06-01", "2013"]
        let comparisons: [SamplePredicate.Comparison] = [.equal, .notEqual, .below, .atMost, .above, .atLeast]
        struct Fact {
            var codes: [(system: String?, code: String)]
            var date: String?
            var isRecord: Bool
        }
        func matches(_ comparison: SamplePredicate.Comparison, _ order: Int) -> Bool {
            switch comparison {
            case .equal: order == 0
            case .notEqual: order != 0
            case .below: order < 0
            case .atMost: order <= 0
            case .above: order > 0
            default: order >= 0
            }
        }
        for _ in 0..<4000 {
            let fact = Fact(
                codes: (0..<Int.random(in: 0..<3, using: &random)).map { _ in
                    (systems[Int.random(in: 0..<3, using: &random)], codes[Int.random(in: 0..<3, using: &random)])
                }, date: Bool.random(using: &random) ? dates[Int.random(in: 0..<5, using: &random)] : nil,
                isRecord: Int.random(in: 0..<4, using: &random) > 0)
            let sample =
                fact.isRecord
                ? try Self.sample(
                    "conditionRecord",
                    ClinicalRecord(
                        displayName: "x", resourceType: "Condition", identifier: "1", version: "R4",
                        dates: fact.date.map { ["onset": $0] } ?? [:],
                        codes: fact.codes.map { Coding(system: $0.system, code: $0.code) }))
                : try Self.sample("heartRate", number: Numeral(coefficient: 60))
            func leaf() -> (String, Bool) {
                let code = codes[Int.random(in: 0..<3, using: &random)]
                let differs = Bool.random(using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    let has = fact.isRecord && fact.codes.contains { $0.code == code }
                    return ("fhir.code \(differs ? "!=" : "=") \(code)", has != differs)
                case 1:
                    let has = fact.isRecord && fact.codes.contains { $0.code == code && $0.system == systems[0] }
                    return ("fhir.code.cvx \(differs ? "!=" : "=") \(code)", has != differs)
                default:
                    let date = dates[Int.random(in: 0..<5, using: &random)]
                    let comparison = comparisons[Int.random(in: 0..<6, using: &random)]
                    guard fact.isRecord, let own = fact.date else {
                        return ("date.onset \(comparison.rawValue) \(date)", comparison == .notEqual)
                    }
                    let length = min(own.count, date.count)
                    let (left, right) = (own.prefix(length), date.prefix(length))
                    return (
                        "date.onset \(comparison.rawValue) \(date)",
                        matches(comparison, left == right ? 0 : left < right ? -1 : 1)
                    )
                }
            }
            func tree(_ depth: Int) -> (String, Bool) {
                guard depth > 0 else { return leaf() }
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let (text, matched) = tree(depth - 1)
                    return ("not (\(text))", !matched)
                case 1:
                    let (one, other) = (tree(depth - 1), tree(depth - 1))
                    return ("(\(one.0) and \(other.0))", one.1 && other.1)
                case 2:
                    let (one, other) = (tree(depth - 1), tree(depth - 1))
                    return ("(\(one.0) or \(other.0))", one.1 || other.1)
                default: return leaf()
                }
            }
            let (text, matched) = tree(3)
            let predicate = try SamplePredicate(text)
            #expect(predicate.matches(sample) == matched, "\(text) of \(fact)")
            #expect(PredicatePlanTests.finds(sample, by: predicate) == matched, "\(text) by its plan")
            #expect(try SamplePredicate("\(predicate)").matches(sample) == matched, "\(predicate) read again")
        }
    }
}
