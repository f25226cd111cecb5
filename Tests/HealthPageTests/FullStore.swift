import HealthModel
import HealthServingTesting
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import HealthPage

/// A store with something to show on every page. Names that a person would type are in no language.
struct FullStore {
    let served: ServedStore
    private let inbox: TemporaryFolder
    let cookie: String
    /// A sample of each kind, by type.
    private(set) var samples: [String: SampleIdentity] = [:]
    private static let midnight: Int64 = 1_800_000_000 - 8 * 3600

    /// Texts that a person or a device wrote.
    static let typed: Set<String> = [
        "watch", "other", "Tests", "Qx", "Qx-1", "Ibu 400", "qx.csv", "Lead I", "HbA1c", "Aq", "Bq", "Cq", "Dq", "asker",
        "Zq",
    ]

    init() throws {
        let inbox = try TemporaryFolder()
        self.inbox = inbox
        let folder = inbox.path
        served = try ServedStore(page: { settings in
            settings.pressureGuideline = .escESH2018
            settings.hub = HubDoor(
                inbox: folder,
                devices: {
                    let devices = ["live", "waiting", "stopped", "running", "ignored", "unknown"].enumerated().map {
                        index, state in
                        var device = HubDoor.Device(address: "bluetooth:C0:01:02:03:04:0\(index)", name: "Qx")
                        (device.state, device.last, device.rate) = (state, ServedStore.now, 60)
                        (device.silentSince, device.battery) = (ServedStore.now, 9)
                        return device
                    }
                    return (true, devices)
                },
                run: { words, _, _ in
                    let line =
                        words.first == "import"
                        ? #"{"stored":2,"duplicate":1,"quarantined":0,"refused":0}"#
                        : #"{"address":"C0:01:02:03:04:09","durable":true,"name":"Qx","strength":-60,"profiles":["sig-heart-rate","sig-glucose"],"adopted":false,"bonded":false}"#
                    return HubDoor.Outcome(code: 0, output: line + "\n", words: "")
                }, reload: {})
        })
        cookie = try PageTests.cookie(served)
        try addReadings()
        try addObjects()
        try addLedger()
        try addSettings()
    }

    private mutating func keep(
        _ name: String, _ value: String, _ seconds: Int64 = 0, to end: Int64? = nil, body: SampleBody? = nil,
        source: SourceRevision = SourceRevision(id: "file.generic-csv", name: "file.generic-csv", version: nil),
        group: UInt64? = nil
    ) throws {
        let type = try #require(SampleType(name))
        func instant(_ seconds: Int64) -> Instant { Instant(seconds: Self.midnight + seconds) }
        let reading = Reading(
            origin: Origin(person: ServedStore.person, type: type, source: source, device: nil), numeral: try Numeral(value),
            unit: type.kind == .quantity ? type.canonicalUnit : .one,
            time: .instants(start: instant(seconds), end: instant(end ?? seconds), offset: .utc),
            group: group.map { .shared($0) } ?? .none, body: body, place: Place(.line, 4))
        samples[name] = try served.keep([reading]).first
    }

    private mutating func addReadings() throws {
        let celsius = (0..<40).map { 365 + $0 % 7 }.map { "\($0 / 10).\($0 % 10)" }
        let wrong = (0..<20).map { "98.\($0 % 10)" }
        try served.add(numerals: celsius + wrong, of: "bodyTemperature", from: Self.midnight - 61 * 86_400, every: 86_400)
        let strap = SourceRevision(id: "ble.heart-rate", name: "Heart Rate", version: "1")
        // The gate quarantines it.
        try keep("heartRate", "9000", 900, source: strap)
        for minute in 0..<12 as Range<Int64> {
            try keep("heartRate", "\(60 + minute)", minute * 60, source: strap)
            try keep("stepCount", "\(100 + minute)", minute * 60, to: minute * 60 + 59)
        }
        try keep("restingHeartRate", "55", 60)
        try keep("bloodGlucose", "90", 60)
        try keep("bodyMass", "71.5", -86_400 * 7)
        try keep("bodyMass", "71.2", 60)
        let weight = samples["bodyMass"]
        // A duplicate.
        try keep("bodyMass", "71.2", 61, source: SourceRevision(id: "file.withings-weight", name: "", version: nil))
        samples["bodyMass"] = weight
        try keep("bloodPressureSystolic", "142", 60, group: 7)
        try keep("bloodPressureDiastolic", "84", 60, group: 7)
    }

    private mutating func addObjects() throws {
        func stage(_ name: String) throws -> String {
            "\(try #require(SampleType("sleepAnalysis")?.categoryValues?.value(of: name)))"
        }
        for (hour, name) in ["asleepDeep", "asleepCore", "asleepREM", "awake"].enumerated() {
            for night in 0..<3 as Range<Int64> {
                let start = Int64(hour) * 3600 - night * 86_400
                try keep("sleepAnalysis", stage(name), start, to: start + 3600)
            }
        }
        var track = PointsWriter(columns: Array(WorkoutRoute.columns.prefix(4)))
        for minute in 0..<12 {
            try track.append([
                Numeral("\(minute * 60_000_000)"), Numeral("52.\(510 + minute * 2)"), Numeral("13.4"), Numeral("\(40 + minute)"),
            ])
        }
        let (points, content) = try track.end()
        try keep("workoutRoute", "0", to: 660, body: SampleBody(encoding: WorkoutRoute(points: points), content: content))
        let workout = Workout(
            events: [.init(type: "lap", start: 0, end: 300_000_000), .init(type: "lap", start: 300_000_000, end: 660_000_000)],
            routes: [try #require(samples["workoutRoute"]).description])
        try keep("workout", "37", to: 660, body: SampleBody(encoding: workout))
        var trace = PointsWriter(columns: [Electrocardiogram.voltage])
        for index in 0..<1100 { try trace.append([try Numeral(index % 100 == 50 ? "1000" : "0")]) }
        let (voltages, recording) = try trace.end()
        let hertz = try Unit(ucum: "Hz")
        let electrocardiogram = Electrocardiogram(
            points: voltages, samplingFrequency: Amount(try Numeral("100"), hertz),
            averageHeartRate: Amount(try Numeral("60"), SampleType.heartRate.canonicalUnit), lead: "Lead I")
        try keep("electrocardiogram", "1", to: 11, body: SampleBody(encoding: electrocardiogram, content: recording))
        let ear = Audiogram.Ear(sensitivity: Amount(try Numeral("15"), try Unit(ucum: "dB")))
        let audible = try ["250", "1000", "8000"].map {
            Audiogram.Point(frequency: Amount(try Numeral($0), hertz), left: ear, right: ear)
        }
        try keep("audiogram", "0", body: SampleBody(encoding: Audiogram(sensitivity: audible)))
        let mood = StateOfMind(kind: "dailyMood", labels: ["calm", "joyful"], associations: ["family", "weather"])
        try keep("stateOfMind", "0.5", body: SampleBody(encoding: mood))
        try keep(
            "phq9", "10", body: SampleBody(encoding: ScoredAssessment(answers: [2, 2, 2, 2, 2, 0, 0, 0, 0], risk: "moderate")))
        try keep("headache", "3", 60)
        let taken = try #require(SampleType("medicationDoseEvent")?.categoryValues?.value(of: "taken"))
        let dose = MedicationDoseEvent(
            medication: "Ibu 400", scheduleType: "schedule", scheduled: 0, dose: Amount(try Numeral("1"), nil), doseUnit: "Qx")
        try keep("medicationDoseEvent", "\(taken)", 60, body: SampleBody(encoding: dose))
        var summary = ActivitySummary(date: "2027-01-15")
        summary.activeEnergyBurned = Amount(try Numeral("310"), try Unit(ucum: "kcal"))
        summary.exerciseTime = Amount(try Numeral("31"), try Unit(ucum: "min"))
        summary.standHours = Amount(try Numeral("9"), nil)
        try keep("activitySummary", "0", to: 86_399, body: SampleBody(encoding: summary))
        try addDocuments()
    }

    private mutating func addDocuments() throws {
        for (index, value) in ["5.1", "6.2"].enumerated() {
            let resource = """
                {"resourceType":"Observation","id":"\(index)","code":{"coding":[{"system":"http://loinc.org","code":"4548-4"}]},\
                "valueQuantity":{"value":\(value),"unit":"%"},"referenceRange":[{"low":{"value":4},"high":{"value":5.6}}]}
                """
            let record = ClinicalRecord(
                displayName: "HbA1c", resourceType: "Observation", identifier: "\(index)", version: "R4",
                dates: ["issued": "2027-01-14"], codes: [Coding(system: "http://loinc.org", code: "4548-4")])
            try keep(
                "labResultRecord", "0", Int64(index) * 60,
                body: SampleBody(encoding: record, content: try PackedContent(Array(resource.utf8))))
        }
        let xml = """
            <ClinicalDocument xmlns="urn:hl7-org:v3"><title>Aq</title><component><structuredBody><component><section>\
            <title>Bq</title><text><table><tbody><tr><td>Cq</td><td>Dq</td></tr></tbody></table></text>\
            </section></component></structuredBody></component></ClinicalDocument>
            """
        let document = ClinicalDocument(title: "Aq", patient: "Bq", custodian: "Cq", author: "Dq", valid: false)
        try keep("cda", "0", body: SampleBody(encoding: document, content: try PackedContent(Array(xml.utf8))))
    }

    /// An import with refusals, skipped frames, and notes, a repair, and deleted samples.
    private mutating func addLedger() throws {
        let store = served.store
        let description = IngestDescription(kind: .import, name: "qx.csv", received: ServedStore.now.microseconds)
        let ingest = try store.beginIngest(description)
        for (line, reason) in Self.refusals.enumerated() { ingest.refuse(Refusal(reason, at: Place(.line, line + 2))) }
        for kind in ["repeated-advert", "no-value", "deletion"] { ingest.skip(SkipKind(kind)) }
        try ingest.note(["line 9, the last, " + IngestAccount.openEnd, "the text is UTF-16"])
        _ = try ingest.finish(at: ServedStore.now.microseconds)
        func repair(_ repair: Repair, _ type: SampleType) throws {
            _ = try store.repairs.apply(RepairRequest(repair, of: SampleConditions(types: [type]), now: ServedStore.now))
        }
        try repair(.shift(-5_400_000_000), SampleType("restingHeartRate") ?? .heartRate)
        // It has another UUID now.
        samples["restingHeartRate"] = nil
        try repair(.scale(try Numeral("2")), SampleType("bloodGlucose") ?? .heartRate)
        let delete = IngestDescription(kind: .delete, received: ServedStore.now.microseconds)
        try store.samples.delete([try #require(samples["headache"])], withObjects: true, description: delete)
    }

    /// Reasons that an import gives.
    static let refusals = [
        IngestAccount.tooOld, IngestAccount.quarantineFull, TimeBounds.tooEarly, TimeBounds.tooLate,
        "qx: not a number: unexpected character at position 1",
        "it has 3 columns and the header has 5", "qx is not an ISO 8601 date and time", "the file names another person",
    ]

    private func addSettings() throws {
        let (store, person, now) = (served.store, ServedStore.person, ServedStore.now)
        for index in 0..<7 {
            try store.devices.save(
                AdoptedDevice(
                    address: "bluetooth:C0:01:02:03:04:0\(index)", key: "qx\(index)",
                    profiles: ["sig-heart-rate", "generic-csv"],
                    name: "Qx-\(index)", person: person, adopted: now.microseconds))
        }
        let client = try store.clients.add(named: "asker", purpose: "Qx", at: now)
        let request = AuthorizationRequest(
            person: person, read: [ObjectType(.heartRate), try #require(ObjectType("labResultRecord"))],
            write: [ObjectType(.bodyMass)])
        try store.clients.request(request, for: client, at: now)
        try served.grant("heartRate", reading: .from(now))
        try store.people.save(UserAnnotatedMedication(name: "Ibu 400", generalForm: .tablet), of: person)
        for (type, value) in [
            (CharacteristicType.dateOfBirth, "1990-01-16"), (.biologicalSex, "female"), (.bloodType, "aPositive"),
            (.wheelchairUse, "no"),
            (.fitzpatrickSkinType, "iI"), (.activityMoveMode, "activeEnergy"),
        ] {
            let characteristic = try #require(Characteristic(type, value))
            try store.people.set(type, to: characteristic, of: person, from: "1990-01-16", recorded: now)
        }
        try store.people.annotate(person, day: "2027-01-15", tags: ["Aq"], note: "Bq")
        try store.people.save(Goal(type: try #require(SampleType("stepCount")), span: .day, value: 10_000), of: person)
        try store.people.save(Goal(type: .bodyMass, span: .week, value: 70), of: person)
        let alerts: [(SampleType, Alert.Condition, Double)] = [
            (.heartRate, .above, 50), (.bodyMass, .below, 100), (.bodyTemperature, .missing, 1), (.bodyMass, .missing, 24),
        ]
        for (type, condition, bound) in alerts { try store.alerts.add(of: person, type: type, condition, bound: bound, at: now) }
        var receiver = try store.alerts.receiver(named: "Zq")
        receiver.failing = now
        try store.alerts.save(receiver)
        _ = try store.alerts.check(at: now)
        for state in Target.State.allCases {
            var target = try store.targets.make("qx-\(state.rawValue)", isOrdered: true, filter: "", at: now)
            target.state = state
            try store.targets.save(target)
        }
    }
}
