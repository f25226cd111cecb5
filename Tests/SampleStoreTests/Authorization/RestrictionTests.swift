import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Data that a client cannot read looks exactly as if it did not exist.
@Suite struct RestrictionTests {
    static let other = "0d0c5f39-6f55-4b55-a0a5-0f31a3a3c6a2"
    static let now = TestStore.received
    static let hour: Int64 = 3_600_000_000
    static let origin: Int64 = 1_767_225_600_000_000

    static func type(_ id: String) throws -> SampleType { try #require(SampleType(id)) }

    static func condition(
        _ name: String, at hour: Int, person: String = TestStore.person, source: String = "clinic",
        type id: String = "conditionRecord"
    ) throws -> GatedSample {
        let start = Instant(microseconds: origin + Int64(hour) * Self.hour)
        let reading = Reading(
            origin: Origin(
                person: person, type: try type(id),
                source: SourceRevision(id: source, name: source, version: nil),
                device: nil),
            numeral: Numeral(coefficient: 0), unit: .one, time: .instants(start: start, end: start, offset: .utc),
            record: RecordIdentifier(id: name, version: 1), body: try body(name, id), place: Place(.line, 1)
        )
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received).first)
    }

    private static let resources = [
        "conditionRecord": "Condition", "allergyRecord": "AllergyIntolerance", "immunizationRecord": "Immunization",
        "procedureRecord": "Procedure", "labResultRecord": "Observation", "vitalSignRecord": "Observation",
        "medicationRecord": "MedicationRequest", "coverageRecord": "Coverage", "clinicalNoteRecord": "DocumentReference",
    ]

    private static func body(_ name: String, _ id: String) throws -> SampleBody {
        guard let resource = resources[id] else {
            return try SampleBody(
                encoding: ClinicalDocument(title: name, patient: "p", custodian: "c", author: "a", valid: true),
                content: try PackedContent(Array("<ClinicalDocument/>".utf8)))
        }
        return try SampleBody(
            encoding: ClinicalRecord(displayName: name, resourceType: resource, identifier: name, version: "R4"),
            content: try PackedContent(Array("{\"resourceType\":\"\(resource)\"}".utf8)))
    }

    static func restricted(_ test: TestStore, to client: Client) throws -> SampleStore {
        let reader = try test.another(.read)
        try reader.restrict(to: client)
        return reader
    }

    /// A little of everything that can be read.
    static func everything(_ test: TestStore) throws -> [GatedSample] {
        let (heart, steps) = (try SampleMaker(), try SampleMaker(.stepCount))
        let (systolic, diastolic) = (try SampleMaker(.bloodPressureSystolic), try SampleMaker(.bloodPressureDiastolic))
        let phone = try SampleMaker(source: "phone", sourceName: "Phone", device: Device(key: "acme-1", name: "Acme"))
        let samples = [
            try heart("72", at: 0), try heart("75", at: 60), try phone("72", at: 0.4), try steps("300", at: 0, lasting: 600),
            try systolic("120", at: 10, group: 7), try diastolic("80", at: 10, group: 7), try condition("asthma", at: 1),
            try SampleMaker(.bodyMass, person: other).local(2)("70", at: 7200), try heart("300", at: 500, rule: .implausible),
            try ActivityDaysTests.summary("2026-01-01", energy: "400"),
        ]
        try test.keep(samples)
        try test.delete(samples[1])
        try test.store.people.save(Person(id: other, name: "Anna"))
        try test.store.people.set(
            .biologicalSex, to: Characteristic(.biologicalSex, "female"), of: TestStore.person, from: "2026-01-01", recorded: now)
        return samples
    }

    /// All of everything, of both persons.
    static func grantAll(_ test: TestStore, _ client: Client, objects: [String: [SampleIdentity]] = [:]) throws {
        let types = SampleType.all.map { ObjectType($0) } + CharacteristicType.allCases.map { ObjectType($0) }
        for person in [TestStore.person, other] {
            for type in types {
                let grant = Grant(
                    person: person, type: type, reading: type.isAskedByObject ? .objects(future: true) : .all, mayWrite: false)
                let named = type.id == "conditionRecord" ? objects[person] ?? [] : []
                try test.store.clients.set(grant, objects: named, of: client, at: now)
            }
        }
    }

    private static func answers(_ store: SampleStore, _ samples: [GatedSample]) throws -> Answers {
        try Answers(of: store, asked: samples.map(\.sample.identity), people: [TestStore.person, other])
    }

    @Test func aRefusedReadLooksLikeAnEmptyStore() throws {
        try TestStore.with { full in
            try TestStore.with { empty in
                let samples = try Self.everything(full)
                let whole = try Self.answers(full.store, samples)
                for key in ["samples", "statistics", "changes", "sources", "rings", "characteristics", "lookup", "explain"] {
                    #expect(whole.reported[key]?.isEmpty == false, "\(key)")
                }
                let refused = try full.store.clients.add(named: "refused", purpose: "a test", at: Self.now)
                let granted = try empty.store.clients.add(named: "granted", purpose: "a test", at: Self.now)
                try Self.grantAll(empty, granted)
                let expected = try Self.answers(try Self.restricted(empty, to: granted), samples)
                #expect(expected.reported.values.allSatisfy { $0.isEmpty })
                #expect(try Self.answers(try Self.restricted(full, to: refused), samples) == expected)
                // A client with write access to everything cannot read other sources' samples.
                for type in SampleType.all.map({ ObjectType($0) }) where !type.isReadOnly {
                    try full.store.clients.set(
                        Grant(person: TestStore.person, type: type, reading: .none, mayWrite: true), of: refused,
                        at: Self.now)
                }
                let reader = try Self.restricted(full, to: refused)
                #expect(try Self.answers(reader, samples) == expected)
                #expect(try Answers.family(reader).allSatisfy { $0 == 0 })
                #expect(throws: StoreError.self) { try full.store.restrict(to: refused) }
            }
        }
    }

    @Test func fullGrantEqualsStore() throws {
        try TestStore.with { test in
            let samples = try Self.everything(test)
            let client = try test.store.clients.add(named: "all", purpose: "a test", at: Self.now)
            let record = try #require(samples.first { $0.sample.origin.kind == .clinicalRecord }).sample.identity
            try Self.grantAll(test, client, objects: [TestStore.person: [record]])
            let reader = try Self.restricted(test, to: client)
            #expect(try Self.answers(reader, samples) == Self.answers(test.store, samples))
            // A removed client reads nothing, also through a reader that is open.
            try test.store.clients.remove(client)
            #expect(try test.store.clients.add(named: "all", purpose: "another", at: Self.now).id != client.id)
            #expect(try Self.answers(reader, samples).reported.values.allSatisfy { $0.isEmpty })
        }
    }

    @Test func clientReadsOwnWritesWhilePermitted() throws {
        try TestStore.with { test in
            let client = try test.store.clients.add(named: "scale", purpose: "keeps weights", at: Self.now)
            let own = try SampleMaker(.bodyMass, source: client.source)("70", at: 0)
            let record = try Self.condition("own", at: 2, source: client.source, type: "cda")
            try test.keepExactly([own, record, try SampleMaker(.bodyMass)("71", at: 60)], client: client)
            let reader = try Self.restricted(test, to: client)
            func read() throws -> Set<SampleIdentity> {
                let cursor = try reader.samples.cursor(matching: SampleQuery())
                defer { cursor.close() }
                var found: Set<SampleIdentity> = []
                while let next = try cursor.next() { found.insert(next.uuid) }
                return found
            }
            func letWrite(_ mayWrite: Bool) throws {
                for id in ["bodyMass", "cda"] {
                    let type = try #require(ObjectType(id))
                    try test.store.clients.set(
                        Grant(person: TestStore.person, type: type, reading: .none, mayWrite: mayWrite), of: client,
                        at: Self.now)
                }
            }
            #expect(try read().isEmpty)
            try letWrite(true)
            #expect(try read() == [own.sample.identity, record.sample.identity])
            #expect(try test.store.clients.mayWrite(ObjectType(.bodyMass), of: TestStore.person, client))
            try letWrite(false)
            #expect(try read().isEmpty)
            #expect(try !test.store.clients.mayWrite(ObjectType(.bodyMass), of: TestStore.person, client))
        }
    }

    /// Rings are a separate type, even if they are derived from samples.
    @Test func ringsNeedAGrantOfTheirOwn() throws {
        try TestStore.with { test in
            let steps = try SampleMaker(.stepCount)
            try test.keep([try steps("300", at: 0, lasting: 600), try steps("500", at: 86_400, lasting: 600)])
            let client = try test.store.clients.add(named: "rings", purpose: "draws rings", at: Self.now)
            let reader = try Self.restricted(test, to: client)
            func dates() throws -> [String] {
                try reader.activity.days(ActivityQuery(zone: Answers.zone)).filter { $0.day.steps != nil }.map(\.day.date)
            }
            func grant(_ id: String, _ reading: Grant.Reading) throws {
                let type = try #require(ObjectType(id))
                try test.store.clients.set(
                    Grant(person: TestStore.person, type: type, reading: reading, mayWrite: false), of: client, at: Self.now)
            }
            try grant("stepCount", .all)
            #expect(try dates().isEmpty)
            try grant("activitySummary", .from(Instant(microseconds: Self.origin + 1)))
            #expect(try dates() == ["2026-01-02"])
            try grant("activitySummary", .all)
            #expect(try dates() == ["2026-01-01", "2026-01-02"])
            try grant("stepCount", .none)
            #expect(try dates().isEmpty)
        }
    }
}
