import HealthModel
import Pipeline
import SampleStore
import Testing

@testable import HealthStore

/// Objects that are more than a number.
@Suite(.timeLimit(.minutes(15))) struct ObjectQueryTests {
    private let test: TestHealth
    private var store: HealthStore { test.store }

    init() throws { test = try TestHealth() }

    private func pressure(_ systolic: Double, _ diastolic: Double, _ minutes: Int64) throws -> HealthObject {
        let time = TestHealth.time(minutes)
        return .correlation(
            .bloodPressure,
            [
                .quantity(.bloodPressureSystolic, try Amount(systolic, "mm[Hg]"), from: time),
                .quantity(.bloodPressureDiastolic, try Amount(diastolic, "mm[Hg]"), from: time),
            ], from: time)
    }

    @Test func queriesCorrelationsByObjects() async throws {
        try await store.save([try pressure(121, 80, 30), try pressure(150, 85, 20), try pressure(160, 95, 10)])
        let high = CorrelationQueryDescriptor(
            type: .bloodPressure, objectPredicates: [.bloodPressureSystolic: try SamplePredicate("value >= 140 mm[Hg]")],
            newestFirst: true)
        let found = try await high.result(for: store)
        #expect(found.map { $0.objects.map(\.sample.value) } == [[160, 95], [150, 85]])
        var both = high
        both.objectPredicates[.bloodPressureDiastolic] = try SamplePredicate("value < 90 mm[Hg]")
        #expect(try await both.result(for: store).map { $0.objects(of: .bloodPressureSystolic).map(\.sample.value) } == [[150]])
        both.objectPredicates = [.heartRate: .everything]
        #expect(try await both.result(for: store).isEmpty)
        // One whose object was deleted stays, without it.
        try await store.delete([found[0].objects[1].uuid])
        let rest = try await CorrelationQueryDescriptor(type: .bloodPressure, newestFirst: true, limit: 1).result(for: store)
        #expect(rest.map { $0.objects.map(\.sample.value) } == [[160]])
        await #expect(throws: HealthStoreError.self) {
            try await CorrelationQueryDescriptor(type: .heartRate).result(for: store)
        }
    }

    private func cuffsFrame(_ minutes: Int64) throws -> [Reading] {
        let time = TestHealth.time(minutes)
        return try [(Int64(121), SampleType.bloodPressureSystolic), (80, .bloodPressureDiastolic)].map { digits, type in
            Reading(
                origin: Origin(
                    person: store.person, type: type, source: SourceRevision(id: "cuff", name: "Cuff"),
                    device: Device(key: "cuff")),
                numeral: Numeral(coefficient: digits), unit: try #require(try? Unit(ucum: "mm[Hg]")),
                time: .instants(start: time, end: time, offset: .utc), group: .frame, place: Place(.record, 1))
        }
    }

    private func keep(_ readings: [Reading]) throws {
        let writer = try SampleStore(path: test.path, access: .write)
        let ingest = try writer.beginIngest(IngestDescription(kind: .live, received: TestHealth.now.microseconds))
        _ = try ingest.store(
            ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: TestHealth.now))
        _ = try ingest.finish(at: TestHealth.now.microseconds)
    }

    /// A cuff's frame has two pressures in one group, and is a correlation that is not stored.
    @Test func aFramesPressuresAreACorrelation() async throws {
        try keep(try cuffsFrame(30))
        var query = CorrelationQueryDescriptor(type: .bloodPressure)
        let found = try await query.result(for: store)
        #expect(found.map { $0.objects.map(\.sample.value) } == [[121, 80]])
        query.derivesFromFrames = false
        #expect(try await query.result(for: store).isEmpty)
    }

    /// The cuff's earlier samples are the objects of the correlation that an app saves for the same measurement.
    @Test func correlationContainsOriginals() async throws {
        try keep(try cuffsFrame(30))
        try await store.save(try pressure(121, 80, 30))
        let found = try await CorrelationQueryDescriptor(
            type: .bloodPressure, objectPredicates: [.bloodPressureSystolic: try SamplePredicate("value > 120 mm[Hg]")]
        ).result(for: store)
        #expect(found.map { $0.objects.map(\.sample.value) } == [[121, 80]])
        #expect(found.first?.objects.map(\.sample.origin.device?.key) == ["cuff", "cuff"])
    }

    /// A saved correlation is not a frame. If it is deleted, it does not return as a derived one.
    @Test func aDeletedCorrelationStaysDeleted() async throws {
        let saved = try await store.save(try pressure(121, 80, 30))
        try await store.delete([saved.uuid])
        #expect(try await CorrelationQueryDescriptor(type: .bloodPressure).result(for: store).isEmpty)
        #expect(try await test.values(.bloodPressureSystolic) == [121])
    }

    @Test func beatsAndVoltages() async throws {
        let start = TestHealth.time(10)
        let beats = (0..<200).map { number in
            Heartbeat(
                time: Instant(microseconds: start.microseconds + number * 812_500), isPrecededByGap: number == 7,
                heartRate: number == 0 ? nil : 73.5)
        }
        let series = try await store.save(
            .heartbeats(beats, from: start, to: try #require(beats.last).time))
        var reported: [Heartbeat] = []
        for try await beat in HeartbeatSeriesQueryDescriptor(series: series.uuid).results(for: store) { reported.append(beat) }
        #expect(reported == beats)

        let voltages = (0..<1024).map { Double($0 % 50) - 12.5 }
        let recording = try await store.save(
            .electrocardiogram(
                "sinusRhythm", microvolts: voltages, samplingFrequency: 512, averageHeartRate: try Amount(62, "/min"),
                from: start,
                to: TestHealth.time(9)))
        #expect(recording.outcome == .stored)
        var measured: [VoltageMeasurement] = []
        let query = ElectrocardiogramQueryDescriptor(electrocardiogram: recording.uuid)
        for try await voltage in query.results(for: store) { measured.append(voltage) }
        #expect(measured.map { $0.microvolts["voltage"] } == voltages)
        #expect(measured.last?.timeSinceStart == 1023.0 / 512)

        // Of another kind, or not there.
        for uuid in [series.uuid, try #require(SampleIdentity("019a0000-0000-8000-8000-000000000000"))] {
            let error = await thrown(HealthStoreError.self) {
                for try await _ in ElectrocardiogramQueryDescriptor(electrocardiogram: uuid).results(for: store) {}
            }
            #expect(error == .noSuchObject)
        }
    }

    @Test func recordingsThatCannotBeAreRefused() async throws {
        let wrong: [HealthObject] = [
            .electrocardiogram(
                "excellent", microvolts: [1], samplingFrequency: 512, from: TestHealth.time(2), to: TestHealth.time(1)),
            .electrocardiogram(
                "sinusRhythm", microvolts: [.nan], samplingFrequency: 512, from: TestHealth.time(2), to: TestHealth.time(1)),
            .electrocardiogram(
                "sinusRhythm", microvolts: [1], samplingFrequency: .infinity, from: TestHealth.time(2), to: TestHealth.time(1)),
            .workout(
                "running", from: TestHealth.time(2), to: TestHealth.time(1),
                routes: [[WorkoutLocation(time: nil, latitude: .nan, longitude: 0)]]),
        ]
        for (index, object) in wrong.enumerated() {
            let error = await thrown(HealthStoreError.self) { try await store.save(object) }
            guard case .refused(0, _)? = error else {
                // An unknown classification is quarantined, like an unknown case of a category.
                #expect(index == 0 && error == nil)
                continue
            }
        }
        #expect(try await SampleQueryDescriptor(predicate: .everything).result(for: store).isEmpty)
    }

    @Test func documentsWithAndWithoutData() async throws {
        let bytes = Array("<ClinicalDocument>as it came</ClinicalDocument>".utf8)
        func document(_ title: String, _ minutes: Int64) throws -> HealthObject {
            .object(
                .clinicalDocument,
                saying: ClinicalDocument(title: title, patient: "A", custodian: "B", author: "C", valid: true),
                content: try PackedContent(bytes), from: TestHealth.time(minutes))
        }
        try await store.save([try document("Summary", 20), try document("Letter", 10), TestHealth.steps(1, 5)])
        let bare = try await DocumentQueryDescriptor().result(for: store)
        #expect(bare.map(\.document.title) == ["Summary", "Letter"])
        #expect(bare.allSatisfy { $0.documentData == nil })
        let letters = DocumentQueryDescriptor(
            predicate: try SamplePredicate("title ~ 'Let'"), newestFirst: true, limit: 5, includesDocumentData: true)
        #expect(try await letters.result(for: store).map(\.documentData) == [bytes])
    }

    @Test func followsActivitySummaries() async throws {
        try await store.save(
            .quantity(.activeEnergyBurned, try Amount(120, "kcal"), from: TestHealth.time(60), to: TestHealth.time(30)))
        let query = ActivitySummaryQueryDescriptor()
        #expect(try await query.result(for: store).map { "\($0.date) \($0.move.value ?? 0)" } == ["2026-11-20 120.0"])
        var summaries = query.results(for: store).makeAsyncIterator()
        #expect(try await summaries.next()?.count == 1)
        try await store.save(.quantity(.bodyMass, try Amount(80, "kg"), from: TestHealth.time(1)))
        try await store.save(TestHealth.steps(500, 24 * 60))
        #expect(try await summaries.next()?.map(\.date) == ["2026-11-19", "2026-11-20"])
        // Rings also depend on the person's characteristics and on the order of sources, and on nothing else.
        let rings = ActivityQuery(zone: store.zone, person: store.person)
        try await store.readers.read { [person = store.person, path = test.path] reader in
            let known = try reader.activity.state(of: rings, after: nil).state
            let writer = try SampleStore(path: path, access: .write)
            #expect(try !reader.activity.state(of: rings, after: known).isOther)
            try writer.people.set(
                .wheelchairUse, to: Characteristic(.wheelchairUse, "yes"), of: person, from: "2026-11-20",
                recorded: TestHealth.now)
            let after = try reader.activity.state(of: rings, after: known)
            #expect(after.isOther)
            #expect(try !reader.activity.state(of: rings, after: after.state).isOther)
            try writer.sources.set(SourceOrder(names: ["watch"]))
            #expect(try reader.activity.state(of: rings, after: after.state).isOther)
        }
    }
}
