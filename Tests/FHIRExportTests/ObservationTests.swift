import Formats
import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FHIRExport

/// The sent resources, byte by byte.
@Suite struct ObservationTests {
    private static let me = "11111111-2222-4333-8444-555555555555"
    private static let snapshots = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots")

    private func encoder(_ ids: ObservationEncoder.IDs = .client, units: [SampleType: Unit] = [:]) throws -> ObservationEncoder {
        ObservationEncoder(
            try ExportContext(name: "clinic", me: Self.me, units: units, now: { Instant(seconds: 0) }),
            patients: [Self.me: "Patient/7"], ids: ids)
    }

    private func sample(
        _ type: SampleType, _ digits: String, _ unit: Unit, seconds: Int64 = 0, isPeriod: Bool = false, device: Device? = nil,
        group: Reading.Group = .none
    ) throws -> Sample {
        let start = Instant(microseconds: 1_790_000_000_000_000 + seconds * 1_000_000)
        let reading = Reading(
            origin: Origin(person: Self.me, type: type, source: SourceRevision(id: "ble.all", name: "All"), device: device),
            numeral: try Numeral(digits), unit: unit,
            time: .instants(
                start: start, end: isPeriod ? Instant(microseconds: start.microseconds + 60_500_000) : start,
                offset: ZoneOffset(seconds: 3600)),
            group: group, place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_790_001_000))
                .first?.sample)
    }

    private func text(_ sample: Sample, units: [SampleType: Unit] = [:]) throws -> String {
        let resource = try encoder(units: units).resource(of: sample, id: "\(sample.identity)", state: .live)
        return String(decoding: resource.closed, as: UTF8.self)
    }

    /// Digits stay, units are those that the profiles take.
    @Test(arguments: [
        ("bodyTemperature", "36.50", "Cel", "36.50", "Cel", "8310-5"),
        ("bodyTemperature", "98.60", "[degF]", "98.60", "[degF]", "8310-5"),
        ("height", "1.8", "m", "180", "cm", "8302-2"), ("oxygenSaturation", "0.97", "1", "97", "%", "2708-6"),
        ("heartRate", "60", "/min", "60", "/min", "8867-4"), ("bodyMass", "71.30", "kg", "71.30", "kg", "29463-7"),
        ("respiratoryRate", "14", "/min", "14", "/min", "9279-1"), ("bodyMassIndex", "22.0", "kg/m2", "22.0", "kg/m2", "39156-5"),
        // The catalog's LOINC code requires mass per volume, so moles are converted.
        ("bloodGlucose", "5.50", "mmol/L", "99.08573400002975", "mg/dL", "2339-0"),
    ])
    func digitsAndUnits(_ id: String, _ digits: String, _ code: String, _ value: String, _ unit: String, _ loinc: String) throws {
        let text = try text(sample(#require(SampleType(id)), digits, Unit(ucum: code)))
        #expect(
            text.contains(
                #""valueQuantity":{"value":\#(value),"unit":"\#(unit)","system":"http://unitsofmeasure.org","code":"\#(unit)"}"#))
        #expect(text.contains(#""coding":[{"system":"http://loinc.org","code":"\#(loinc)""#))
        #expect(text.contains(#""effectiveDateTime":"2026-09-21T15:13:20+01:00""#))
    }

    @Test func usesConfiguredUnit() throws {
        let weight = try #require(SampleType("bodyMass"))
        #expect(
            try text(sample(weight, "80.5", Unit(ucum: "kg")), units: [weight: Unit(ucum: "[lb_av]")]).contains(
                #""code":"[lb_av]""#))
        // But never one that the profile does not take.
        #expect(
            try text(sample(weight, "80.5", Unit(ucum: "kg")), units: [weight: Unit(ucum: "[stone_av]")]).contains(
                #""code":"kg""#))
    }

    /// `scripts/check-fhir` validates these recorded resources with FHIR's own rules: every type, an interval, a panel in all its states, a
    /// device.
    @Test func matchesRecordedResources() throws {
        let device = Device(
            key: "all", name: "Ünïque", manufacturer: "Maker", model: "All", serial: "1", hardware: "2", firmware: "3",
            udi: "00844588003288")
        var lines: [UInt8] = []
        func line(_ resource: JSONObject) { lines += resource.line }
        let encoder = try encoder()
        for type in SampleType.quantities where ObservationCodes.isAboutAPerson(type) && !ObservationCodes.isBloodPressure(type) {
            let isPeriod = type.aggregation == .cumulative
            let sample = try sample(type, "1.50", type.canonicalUnit, isPeriod: isPeriod, device: device)
            line(encoder.resource(of: sample, id: "\(sample.identity)", state: .live))
        }
        let deleted = try sample(.heartRate, "60", Unit(ucum: "/min"))
        line(
            encoder.resource(
                of: deleted, id: "\(deleted.identity)", state: .deleted(replacedBy: "01a20a91-f3b8-8487-94b9-60f7aeba3677")))
        let systolic = try sample(.bloodPressureSystolic, "120", Unit(ucum: "mm[Hg]"), device: device, group: .shared(9))
        let diastolic = try sample(.bloodPressureDiastolic, "10.7", Unit(ucum: "kPa"), device: device, group: .shared(9))
        for present in [[systolic, diastolic], [diastolic], []] {
            let panel = BloodPressurePanel(of: systolic, present: present)
            let id = BloodPressurePanel.id(of: systolic)
            line(panel.resource(id: id, panel: id, replacedBy: nil, encoder))
        }
        for sample in try objects(device) {
            line(encoder.resource(of: sample, id: "\(sample.identity)", state: .live))
        }
        for document in try documents() {
            let resource = try DocumentResource(document)
            line(resource.resource(id: "\(document.identity)", state: .live, encoder))
        }
        line(DeviceResource(device).resource(withID: true))
        let file = Self.snapshots.appending(path: "resources.ndjson")
        if getenv("VITALGATE_RECORD") != nil { try Data(lines).write(to: file) }
        #expect(try Data(contentsOf: file) == Data(lines))
    }

    /// Each stage of sleep that has a code, and workouts.
    private func objects(_ device: Device?) throws -> [Sample] {
        let sleep = try #require(SampleType("sleepAnalysis"))
        let stages = try [1, 2, 3, 4, 5].map { stage in
            try sample(sleep, "\(stage)", .one, seconds: Int64(stage) * 100, isPeriod: true, device: device)
        }
        let type = try #require(SampleType("workout"))
        var reported = Workout(
            duration: Amount(try Numeral("29.50"), try Unit(ucum: "min")),
            totalDistance: Amount(try Numeral("5.20"), try Unit(ucum: "km")))
        reported.statistics = [
            Workout.Statistics(type: "activeEnergyBurned", sum: Amount(try Numeral("310.5"), try Unit(ucum: "kcal"))),
            Workout.Statistics(type: "heartRate", average: Amount(try Numeral("140"), try Unit(ucum: "/min"))),
            Workout.Statistics(type: "HKQuantityTypeIdentifierOfTomorrow", sum: Amount(try Numeral("1"), nil)),
        ]
        var running = try sample(type, "37", .one, isPeriod: true, device: device)
        running.body = try SampleBody(encoding: reported)
        var yoga = try sample(type, "57", .one, seconds: 7, isPeriod: true)
        var rest = Workout(events: [.init(type: "pause", start: 60_000_000, end: 60_000_000)])
        rest.statistics = [.init(type: "distanceWalkingRunning", sum: Amount(try Numeral("1.50"), try Unit(ucum: "km")))]
        yoga.body = try SampleBody(encoding: rest)
        return stages + [running, yoga]
    }

    private func documents() throws -> [Sample] {
        var record = try sample(#require(SampleType("labResultRecord")), "0", .one)
        record.body = try SampleBody(
            encoding: ClinicalRecord(displayName: "Glucose", resourceType: "Observation", identifier: "o-1", version: "DSTU2"),
            content: PackedContent("{\"resourceType\": \"Observation\", \"valueQuantity\": {\"value\": 6.30}}".utf8))
        var document = try sample(#require(SampleType("cda")), "0", .one)
        document.body = try SampleBody(
            encoding: ClinicalDocument(title: "Visit", patient: "", custodian: "", author: "", valid: true),
            content: PackedContent("<ClinicalDocument/>".utf8))
        return [record, document]
    }

    /// The codes are those of the guides. Samples without a code are left out.
    @Test func sleepAndWorkouts() throws {
        let encoder = try encoder()
        let texts = try objects(nil).map { try text($0) }
        for (text, code) in zip(texts, ["248220008", "248218005", "60984000", "60984000", "89129007"]) {
            #expect(text.contains(#""valueCodeableConcept":{"coding":[{"system":"http://snomed.info/sct","code":"\#(code)"}"#))
            #expect(text.contains(#""effectivePeriod":{"start":"#))
        }
        #expect(texts[3].contains(#""code":"HKCategoryValueSleepAnalysisAsleepDeep""#))
        #expect(
            texts[5].contains(
                #""code":"LA11836-6"},{"system":"http://developer.apple.com/documentation/healthkit","code":"HKWorkoutActivityTypeRunning"}"#
            ))
        #expect(
            texts[5].contains(
                #"{"code":{"coding":[{"system":"http://loinc.org","code":"55411-3"}]},"valueQuantity":{"value":29.50,"unit":"min""#
            ))
        #expect(texts[5].contains(#""code":"55412-1"}]},"valueQuantity":{"value":5.20,"unit":"km""#))
        #expect(texts[5].contains(#""value":310.5,"unit":"kcal""#) && !texts[5].contains("140"))
        #expect(texts[6].contains(#""code":"55411-3"}]},"valueQuantity":{"value":60,"unit":"s""#))
        // Without a total, the distance is that of the statistics.
        #expect(texts[6].contains(#""code":"55412-1"}]},"valueQuantity":{"value":1.50,"unit":"km""#))
        let sleep = try #require(SampleType("sleepAnalysis"))
        let type = try #require(SampleType("workout"))
        #expect(try !encoder.hasPlace(for: sample(sleep, "0", .one)) && !encoder.hasPlace(for: sample(sleep, "77", .one)))
        #expect(try !encoder.hasPlace(for: sample(#require(SampleType("appleStandHour")), "0", .one)))
        #expect(try encoder.hasPlace(for: sample(type, "3000", .one)) && !encoder.hasPlace(for: sample(type, "81", .one)))
    }

    @Test(arguments: [
        (
            #"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"required","expression":["Observation.subject"]}]}"#,
            "required at Observation.subject"
        ),
        (
            #"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"value","diagnostics":"72.5","expression":["Observation.value 72.5"]}]}"#,
            "value"
        ),
        (#"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"72.5"}]}"#, ""),
        (
            #"{"resourceType":"OperationOutcome","issue":[{"severity":"information","code":"informational"},{"severity":"fatal","code":"exception"}]}"#,
            "exception"
        ),
        ("{}", ""),
    ])
    func noValueIsInAServersWords(_ json: String, _ words: String) throws {
        #expect(OperationOutcome.words(try JSONDecoder().decode(FHIRResource.self, from: Data(json.utf8))) == words)
    }
}
