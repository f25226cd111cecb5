import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A store of two people: Anna has everything that a store can contain about a person, the other has some of it.
struct ErasedPerson {
    static let person = "0d0c5f39-6f55-4b55-a0a5-0f31a3a3c6a2"
    static let name = "Anna Beispiel"
    static let resource = "{\"resourceType\":\"Condition\",\"note\":\"ResourceOfAnna\"}"

    let test: TestStore
    private(set) var mine: [GatedSample] = []
    private(set) var hers: [GatedSample] = []
    let client: Client
    /// A client that may read of the other person only.
    let unauthorized: Client
    let stale: Anchor

    init(_ test: TestStore) throws {
        self.test = test
        client = try test.store.clients.add(named: "page", purpose: "a test", at: RestrictionTests.now)
        unauthorized = try test.store.clients.add(named: "stranger", purpose: "a test", at: RestrictionTests.now)
        let watch = try SampleMaker(person: Self.person)
        try test.keep([try watch("61.125", at: 1)])
        stale = try test.store.changes.latestAnchor()
        hers = [try watch("61.125", at: 1)]
        for id in ["heartRate", "biologicalSex"] {
            let type = try #require(ObjectType(id))
            for (person, client) in [(Self.person, client), (TestStore.person, client), (TestStore.person, unauthorized)] {
                try test.store.clients.set(
                    Grant(person: person, type: type, reading: .all, mayWrite: false), of: client, at: RestrictionTests.now)
            }
        }
        try addSamples()
        try addObjects()
        try addRepairs()
        try addPerson()
        try addClients()
        try addDevices()
    }

    private mutating func keep(_ own: [GatedSample], _ others: [GatedSample] = [], named name: String? = nil) throws {
        let ingest = try test.store.beginIngest(
            IngestDescription(kind: .import, name: name, received: TestStore.received.microseconds))
        ingest.refuse(Refusal("a row of \(name ?? "nobody")", at: Place(.line, 3)))
        _ = try ingest.store(own + others)
        _ = try ingest.finish(at: TestStore.received.microseconds)
        hers += own
        mine += others
    }

    private mutating func addSamples() throws {
        let metadata = Metadata([("note", .string("MetadataOfAnna")), ("wasUserEntered", .boolean(true))])
        let watch = try SampleMaker(source: "com.example.anna", sourceName: "Watch of Anna", person: Self.person)
        let phone = try SampleMaker(
            source: "phone", sourceName: "Phone", device: Device(key: "acme-anna-1", name: "AnnasPhone", serial: "SN-ANNA-77"),
            person: Self.person)
        let sleep = try SampleMaker(try RestrictionTests.type("sleepAnalysis"), source: "com.example.anna", person: Self.person)
        let mine = try SampleMaker()
        try keep(
            [
                try watch("71.4375", at: 10, metadata: metadata), try watch("73.250", at: 20),
                try sleep("3", at: 3600, lasting: 1800), try watch.local(2)("74.8125", at: 30),
                try watch("299.5625", at: 500, rule: .implausible), try phone("88.1875", at: 900),
                try watch("66.375", at: 800, record: RecordIdentifier(id: "record-of-anna", version: 3)),
            ],
            [
                try mine("64.5", at: 10, metadata: Metadata([("note", .string("shared note"))])), try mine("65", at: 20),
                try mine("302", at: 510, rule: .implausible),
            ], named: "anna-beispiel.csv")
        // The same once more over another path, a file that brings nothing, and one that is hers alone.
        try keep([try phone("71.4375", at: 10.4)], named: "phone.csv")
        try keep([], named: "export of Anna Beispiel.zip")
        try test.delete(hers[2])
        try keep([], [try mine("66", at: 30)], named: "mine.csv")
        try test.delete(try #require(self.mine.last))
        try keep([], [try SampleMaker(.stepCount)("300.5", at: 0, lasting: 600)], named: "mine.csv")
        // Late enough that the earlier samples are summarized.
        try keep([try watch("69.875", at: 4000)], [try mine("67", at: 4000)])
        try test.store.summaries = Summaries.Limits(samples: 1, rows: 1000, time: 0)
        while try test.store.summarize() {}
    }

    private func reading(
        _ id: String, _ body: SampleBody?, _ person: String, at hour: Int64, lasting length: Int64 = 0, number: String = "0"
    ) throws -> GatedSample {
        let type = try RestrictionTests.type(id)
        let start = Instant(microseconds: RestrictionTests.origin + hour * RestrictionTests.hour)
        let reading = Reading(
            origin: Origin(
                person: person, type: type, source: SourceRevision(id: "clinic", name: "Clinic", version: nil), device: nil),
            numeral: try Numeral(number), unit: type.canonicalUnit,
            time: .instants(start: start, end: Instant(microseconds: start.microseconds + length * 1_000_000), offset: .utc),
            body: body, place: Place(.line, 1))
        let samples = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received)
        return try #require(samples.first)
    }

    private static func packed(_ columns: [Points.Column], _ rows: [[String?]]) throws -> (Points, PackedContent) {
        var writer = PointsWriter(columns: columns)
        for row in rows { try writer.append(try row.map { try $0.map { try Numeral($0) } }) }
        let (points, content) = try writer.end()
        return (points, content)
    }

    private mutating func addObjects() throws {
        for person in [Self.person, TestStore.person] {
            let isHers = person == Self.person
            let (locations, path) = try Self.packed(
                WorkoutRoute.columns,
                [["0", isHers ? "51.440012" : "48.1", isHers ? "5.470034" : "11.5", "17.2", nil, nil, nil, nil]])
            let route = try reading(
                "workoutRoute",
                try SampleBody(encoding: WorkoutRoute(points: locations, name: isHers ? "RouteOfAnna" : "Mine"), content: path),
                person, at: 5, lasting: 60)
            let workout = try reading(
                "workout", try SampleBody(encoding: Workout(routes: [route.sample.identity.description])), person, at: 5,
                lasting: 60, number: "37")
            let (trace, recording) = try Self.packed(
                [Electrocardiogram.voltage], (0..<600).map { [isHers ? "\($0 % 13)" : "\($0 % 7)"] })
            let ecg = try reading(
                "electrocardiogram",
                try SampleBody(
                    encoding: Electrocardiogram(
                        points: trace, samplingFrequency: Amount(try Numeral("512"), try Unit(ucum: "Hz")),
                        averageHeartRate: Amount(try Numeral(isHers ? "62.75" : "60"), try Unit(ucum: "/min")),
                        symptomsStatus: "present", symptoms: ["dizziness"], lead: "Lead I"), content: recording), person, at: 6,
                lasting: 2, number: "1")
            let text = isHers ? Self.resource : "{\"resourceType\":\"Condition\"}"
            let record = try reading(
                "conditionRecord",
                try SampleBody(
                    encoding: ClinicalRecord(
                        displayName: isHers ? "AsthmaOfAnna" : "Asthma", resourceType: "Condition", identifier: "c",
                        version: "R4",
                        sourceURL: nil, dates: [:], codes: []), content: try PackedContent(Array(text.utf8))), person, at: 7)
            let document = try reading(
                "cda",
                try SampleBody(
                    encoding: ClinicalDocument(
                        title: isHers ? "SummaryOfAnna" : "Summary", patient: isHers ? "Anna Beispiel" : "Me",
                        custodian: "A clinic",
                        author: "B. Doctor", valid: true, reason: nil),
                    content: try PackedContent(
                        Array("<ClinicalDocument>\(isHers ? "AnnasDocument" : "")</ClinicalDocument>".utf8))),
                person, at: 8)
            let dose = try reading(
                "medicationDoseEvent",
                try SampleBody(encoding: MedicationDoseEvent(medication: isHers ? "AnnasTablets" : "Tablets", codes: [])),
                person,
                at: 9, number: "4")
            let day = ActivitySummary(date: isHers ? "2026-02-03" : "2026-02-04")
            let rings = try reading("activitySummary", try SampleBody(encoding: day), person, at: isHers ? 24 * 33 : 24 * 34)
            let all = [route, workout, ecg, record, document, dose, rings]
            if isHers { try keep(all) } else { try keep([], all) }
        }
    }

    /// Samples that were repaired, were hers by mistake, or were unassigned before they were hers.
    private mutating func addRepairs() throws {
        let hers = try SampleMaker(.bodyTemperature, person: Self.person)
        try keep([try hers("98.625", at: 5000)], [try SampleMaker(.bodyTemperature)("99.125", at: 5000)])
        try test.migrate(
            TestStore.request(RepairTests.fahrenheit, .bodyTemperature) { $0.condition = try? SamplePredicate("value > 50") })
        let (scale, unassigned) = (try SampleMaker(.bodyMass), try SampleMaker(.bodyMass, person: Origin.unassigned))
        let (wrong, unknown) = (try scale("57.6875", at: 6000), try unassigned("58.3125", at: 7000))
        let (own, undone) = (
            try SampleMaker(.bodyMass, person: Self.person)("81.5625", at: 8000), try scale("82.4375", at: 9000)
        )
        try keep([own], [])
        try test.keep([wrong, unknown, undone])
        _ = try test.store.people.assign([wrong.sample.identity], to: Self.person, now: TestStore.later)
        _ = try test.store.people.assign([unknown.sample.identity], to: Self.person, now: TestStore.later)
        _ = try test.store.people.assign([own.sample.identity], to: TestStore.person, now: TestStore.later)
        let taken = try test.store.people.assign([undone.sample.identity], to: Self.person, now: TestStore.later)
        try test.undo(try #require(taken.repairID))
    }

    private func addPerson() throws {
        let store = try test.store
        try store.people.save(Person(id: Self.person, name: Self.name))
        try store.people.save(Person(id: TestStore.person, name: "Ben"))
        for (person, sex) in [(Self.person, "female"), (TestStore.person, "male")] {
            try store.people.set(
                .biologicalSex, to: Characteristic(.biologicalSex, sex), of: person, from: "2026-01-01",
                recorded: RestrictionTests.now)
            try store.people.save(UserAnnotatedMedication(name: "AnnasTablets"), of: person)
        }
        try store.people.removeMedication("AnnasTablets", of: TestStore.person)
        try store.people.save(UserAnnotatedMedication(name: "Tablets"), of: TestStore.person)
    }

    private func addClients() throws {
        let store = try test.store
        for person in [Self.person, TestStore.person] {
            try store.enterReads([ReadEntry(person: person, type: "heartRate", day: "2026-01-01", count: 3)], readBy: client)
            try store.clients.request(
                AuthorizationRequest(person: person, read: [ObjectType(.bodyMass)], write: []), for: client,
                at: RestrictionTests.now)
            _ = try store.pageSessions.makeCode(for: person, at: RestrictionTests.now)
            let code = try store.pageSessions.makeCode(for: person, at: RestrictionTests.now)
            _ = try store.pageSessions.open(with: code, at: RestrictionTests.now)
            try store.clients.set(
                Grant(person: person, type: ObjectType(.stepCount), reading: .none, mayWrite: true), of: client,
                at: RestrictionTests.now)
            let record = (person == Self.person ? hers : mine).first { $0.sample.origin.kind == .clinicalRecord }
            let type = try #require(ObjectType("conditionRecord"))
            try store.clients.set(
                Grant(person: person, type: type, reading: .objects(future: false), mayWrite: false),
                objects: [try #require(record).sample.identity], of: client, at: RestrictionTests.now)
        }
        let saved = try SampleMaker(.stepCount, source: client.source, person: Self.person)("512.875", at: 100, lasting: 60)
        _ = try store.clients.save(
            [saved], by: client, ClientRequest(key: "monday", bytes: [1, 2, 3]), at: RestrictionTests.now, within: 0..<Int64.max)
        var target = Target(name: "archive", after: try store.changes.latestAnchor(), filter: "", at: RestrictionTests.now)
        target.words = "it does not take the samples of \(Self.name)"
        try store.targets.save(
            target,
            setAside: [
                SetAside(seq: 1, uuid: hers[1].sample.identity, words: "WordsOnAnna", time: RestrictionTests.now),
                SetAside(seq: 2, uuid: mine[0].sample.identity, words: "words", time: RestrictionTests.now),
            ])
    }

    private func addDevices() throws {
        let store = try test.store
        for (address, key, person) in [
            ("bluetooth:C0:01:02:03:04:01", "acme-anna-1", Self.person),
            ("bluetooth:C0:01:02:03:04:02", "scale", TestStore.person),
            ("bluetooth:C0:01:02:03:04:03", "shared", Self.person),
        ] {
            try store.devices.save(
                AdoptedDevice(
                    address: address, key: key, profiles: ["p"],
                    name: key == "shared" ? "Anna and Ben's scale" : person == Self.person ? "DeviceOfAnna" : "Scale",
                    person: person, adopted: 0))
            try store.devices.save(
                ClockComparison(device: key, shown: 1, received: 2, ahead: 3), description: TestStore.description(.release))
        }
        try store.devices.assign(
            device: "bluetooth:C0:01:02:03:04:02", to: Origin.unassigned,
            sharedBy: [
                SharedUse(person: Self.person, weights: 50...60), SharedUse(person: TestStore.person, weights: 70...90),
            ])
        try store.devices.assign(
            device: "bluetooth:C0:01:02:03:04:03", to: Self.person,
            users: [
                ScaleUser(number: 1, person: Self.person, consent: 1111), ScaleUser(number: 2, person: TestStore.person),
            ])
        try store.devices.merge(device: "acme-anna-old", into: "acme-anna-1")
        try store.sources.set(SourceOrder(person: Self.person, type: .heartRate, names: ["Strap"]))
        try store.sources.set(SourceOrder(type: .heartRate, names: ["com.example.anna", "Strap", "watch of anna"]))
        try store.sources.set(SourceOrder(names: ["AnnasPhone"]))
    }

    /// What must not be found.
    var words: [String] {
        [
            Self.person, Self.name, "anna-beispiel.csv", "MetadataOfAnna", "Watch of Anna", "com.example.anna", "AnnasPhone",
            "SN-ANNA-77", "record-of-anna", "RouteOfAnna", "AsthmaOfAnna", "SummaryOfAnna", "AnnasTablets", "WordsOnAnna",
            "DeviceOfAnna", "Anna and Ben", "C0:01:02:03:04:01", "acme-anna-1", "62.75", "73.250", "98.625",
        ]
    }
}
