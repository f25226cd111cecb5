import HealthModel
import Pipeline
import SampleStore
import Testing

/// A store with an object of every kind, written as importers write them.
struct ObjectStore {
    let folder: TestFolder
    private let store: SampleStore
    private(set) var uuids: [String: String] = [:]

    static let person = "11111111-2222-4333-8444-555555555555"
    /// 2026-11-20T06:31:00Z.
    static let start: Int64 = 1_795_156_260
    /// As a clinic might write it: with its own spaces, significant digits, and no line break at the end.
    static let resource =
        "{\"resourceType\":  \"Immunization\",\n \"id\":\"imm-1\", \"note\":\"Grüße\", \"doseQuantity\":{\"value\":6.30}}"
    static let document =
        "<?xml version=\"1.0\"?>\r\n<ClinicalDocument xmlns=\"urn:hl7-org:v3\"><title>Summary</title></ClinicalDocument>"

    init() throws {
        folder = try TestFolder()
        store = try SampleStore(
            path: folder.store, access: .write,
            creation: SampleStore.Creation(person: Self.person, time: Self.start * 1_000_000))
    }

    /// A household with objects of every kind. The program can read it.
    static func filled() throws -> ObjectStore {
        var objects = try ObjectStore()
        try objects.addRecordings()
        try objects.addPeople()
        try objects.addRecords()
        return objects
    }

    subscript(name: String) -> String { uuids[name] ?? "" }

    static func amount(_ value: String, _ unit: String?) throws -> Amount {
        Amount(try Numeral(value), try unit.map { try Unit(ucum: $0) })
    }

    static func packed(
        _ columns: [Points.Column], _ rows: [[String?]]
    ) throws -> (points: Points, content: PackedContent) {
        var writer = PointsWriter(columns: columns)
        for row in rows { try writer.append(try row.map { try $0.map { try Numeral($0) } }) }
        return try writer.end()
    }

    @discardableResult
    mutating func add(
        _ name: String, _ type: String, _ body: SampleBody? = nil, number: String = "0", at second: Int64 = 0,
        lasting length: Int64 = 0,
        source: String = "Watch", unit: String? = nil
    ) throws -> SampleIdentity {
        let type = try #require(SampleType(type))
        let start = Instant(seconds: Self.start + second)
        let reading = Reading(
            origin: Origin(
                person: Self.person, type: type, source: SourceRevision(id: "test.\(source)", name: source, version: "1"),
                device: nil),
            numeral: try Numeral(number), unit: try unit.map { try Unit(ucum: $0) } ?? type.canonicalUnit,
            time: .instants(start: start, end: Instant(seconds: Self.start + second + length), offset: ZoneOffset(seconds: 3600)),
            body: body, place: Place(.line, 1))
        let samples = try ReadingPath.samples(
            of: [reading], zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: Self.start + 3600))
        let ingest = try store.beginIngest(
            IngestDescription(kind: .import, name: name, received: (Self.start + 3600) * 1_000_000))
        _ = try ingest.store(samples)
        _ = try ingest.finish(at: (Self.start + 3600) * 1_000_000)
        let uuid = try #require(samples.first?.sample.identity)
        uuids[name] = uuid.description
        return uuid
    }

    private mutating func addRecordings() throws {
        let (locations, route) = try Self.packed(
            WorkoutRoute.columns,
            [
                ["0", "51.440012", "5.470034", "17.20", "4", "3", "90.5", "2.50"],
                ["1500000", "51.440112", "5.471034", "18.5", nil, nil, nil, nil],
            ])
        let path = try add(
            "route", "workoutRoute", try SampleBody(encoding: WorkoutRoute(points: locations, name: "Morning"), content: route),
            lasting: 1800)
        try add(
            "workout", "workout",
            try SampleBody(
                encoding: Workout(
                    duration: try Self.amount("29.04", "min"), totalDistance: try Self.amount("5.20", "km"),
                    events: [
                        .init(type: "lap", start: 0, end: 600_000_000),
                        .init(type: "lap", start: 600_000_000, end: 1_350_000_000),
                        .init(type: "pause", start: 840_000_000, end: 840_000_000),
                        .init(type: "resume", start: 1_020_000_000, end: 1_020_000_000),
                    ],
                    statistics: [.init(type: "activeEnergyBurned", sum: try Self.amount("305.2", "kcal"))],
                    routes: [path.description, "0195fb5a-0000-8000-8000-000000000001"])), number: "37", lasting: 1862)
        let (beats, series) = try Self.packed(
            HeartbeatSeries.columns, [["0", "0", "61"], ["983000", "0", nil], ["4000000", "1", nil]])
        try add(
            "beats", "heartbeatSeries", try SampleBody(encoding: HeartbeatSeries(points: beats), content: series), lasting: 60)
        let voltages: [[String?]] = (0..<5120).map { [$0 % 512 == 100 ? "900.5" : $0 % 512 == 110 ? "-200" : "\($0 % 7)"] }
        let (trace, recording) = try Self.packed([Electrocardiogram.voltage], voltages)
        try add(
            "ecg", "electrocardiogram",
            try SampleBody(
                encoding: Electrocardiogram(
                    points: trace, samplingFrequency: try Self.amount("512", "Hz"),
                    averageHeartRate: try Self.amount("62", "/min"),
                    symptomsStatus: "present", symptoms: ["dizziness"], lead: "Lead I"), content: recording), number: "1",
            lasting: 10)
        let high = try add("systolic", "bloodPressureSystolic", number: "121", at: 7200, source: "Cuff")
        let low = try add("diastolic", "bloodPressureDiastolic", number: "79", at: 7200, source: "Cuff")
        try add(
            "pressure", "bloodPressure", try SampleBody(encoding: Correlation(objects: [high, low])), at: 7200, source: "Cuff")
    }

    private mutating func addPeople() throws {
        try add(
            "audiogram", "audiogram",
            try SampleBody(
                encoding: Audiogram(sensitivity: [
                    .init(
                        frequency: try Self.amount("250", "Hz"), left: .init(sensitivity: try Self.amount("10", "dB")),
                        right: .init(sensitivity: try Self.amount("12.5", "dB"), masked: true)),
                    .init(
                        frequency: try Self.amount("1000", "Hz"), left: .init(sensitivity: try Self.amount("15", "dB")),
                        right: nil),
                ])))
        try add(
            "glasses", "visionPrescription",
            try SampleBody(
                encoding: VisionPrescription(
                    expiration: 86_400_000_000, leftEye: ["sphere": try Self.amount("-1.25", "[diop]")],
                    rightEye: ["sphere": try Self.amount("-1.50", "[diop]")])), number: "1")
        try add(
            "mood", "stateOfMind",
            try SampleBody(encoding: StateOfMind(kind: "dailyMood", labels: ["calm"], associations: ["family"])), number: "0.7")
        try add(
            "dose", "medicationDoseEvent",
            try SampleBody(
                encoding: MedicationDoseEvent(
                    medication: "Ibuprofen",
                    codes: [Coding(system: "http://www.nlm.nih.gov/research/umls/rxnorm", code: "5640")], scheduled: -60_000_000,
                    dose: try Self.amount("2", nil), doseUnit: "tablet")), number: "4")
        try add(
            "phq9", "phq9",
            try SampleBody(encoding: ScoredAssessment(answers: [1, 0, 2, 0, 1, 1, 0, 0, 4], risk: "mild")), number: "9")
        var rings = ActivitySummary(date: "2026-11-20")
        rings.activeEnergyBurned = try Self.amount("420", "kcal")
        rings.activeEnergyBurnedGoal = try Self.amount("500", "kcal")
        try add("rings", "activitySummary", try SampleBody(encoding: rings))
    }

    private mutating func addRecords() throws {
        try add(
            "record", "immunizationRecord",
            try SampleBody(
                encoding: ClinicalRecord(
                    displayName: "MMRV", resourceType: "Immunization", identifier: "imm-1", version: "R4",
                    sourceURL: "https://example.org/fhir/Immunization/imm-1", dates: ["occurrence": "2012-05-15"],
                    codes: [
                        Coding(system: "http://hl7.org/fhir/sid/cvx", code: "94", display: "MMRV"),
                        Coding(system: "http://hl7.org/fhir/sid/ndc", code: "00006-4171-00", display: nil),
                    ]), content: try PackedContent(Array(Self.resource.utf8))))
        try add(
            "document", "cda",
            try SampleBody(
                encoding: ClinicalDocument(
                    title: "Summary of care", patient: "Ada Example", custodian: "A clinic", author: "B. Doctor", valid: false,
                    reason: "line 2: no templateId"), content: try PackedContent(Array(Self.document.utf8))))
    }
}
