import HealthModel
import SampleStore
import Testing

@testable import HealthStore

/// Saved objects are stored like any reading, and an invalid request is refused as a whole.
@Suite struct SaveTests {
    private let test: TestHealth
    private var store: HealthStore { test.store }

    init() throws { test = try TestHealth() }

    @Test func aWalkOf628Metres() async throws {
        let walk = HealthObject.quantity(
            .distanceWalkingRunning, try Amount(628, "m"), from: TestHealth.time(15), to: TestHealth.time(5),
            device: Device(key: "phone", name: "Phone"), metadata: ["HKWasUserEntered": .boolean(true)])
        let saved = try await store.save(walk)
        #expect(saved.outcome == .stored)
        let found = try await SampleQueryDescriptor(predicate: .uuids([saved.uuid])).result(for: store)
        let sample = try #require(found.first).sample
        #expect(sample.value == 628)
        #expect(sample.numeral.text == "628")
        #expect(sample.origin.source == TestHealth.source)
        #expect(sample.origin.device?.name == "Phone")
        #expect(sample.origin.person == store.person)
        #expect(sample.zone?.seconds == 3600)
        #expect(sample.metadata?["wasUserEntered"] == .boolean(true))
        // The same one again is the same one.
        #expect(try await store.save(walk) == SavedObject(uuid: saved.uuid, outcome: .alreadyKnown))
        #expect(try await test.values(.distanceWalkingRunning) == [628])
    }

    @Test func amountsComeInAnyUnitOfTheType() async throws {
        let steps: [HealthObject] = [
            .quantity(.bodyTemperature, try Amount(98.6, "[degF]"), from: TestHealth.time(1)),
            .quantity(.bodyMass, Amount(try Numeral("80.150"), try Unit(ucum: "kg")), from: TestHealth.time(1)),
            .category(try #require(SampleType("sleepAnalysis")), 3, from: TestHealth.time(90), to: TestHealth.time(60)),
        ]
        let saved = try await store.save(steps)
        #expect(saved.map(\.outcome) == [.stored, .stored, .stored])
        #expect(try await test.values(.bodyTemperature) == [37])
        let mass = try await SampleQueryDescriptor(predicate: .types([.bodyMass])).result(for: store)
        #expect(mass.map(\.sample.numeral.text) == ["80.150"])
    }

    @Test func oneRefusedObjectStoresNone() async throws {
        let wrong: [(HealthObject, String)] = [
            (.quantity(.bodyMass, try Amount(80, "m"), from: TestHealth.time(1)), "m"),
            (.quantity(.heartRate, try Amount(80, "/min"), from: TestHealth.time(-2000)), "future"),
            (.quantity(.heartRate, try Amount(80, "/min"), from: Instant(seconds: 5)), "1971"),
            (.quantity(.heartRate, try Amount(80, "/min"), from: TestHealth.time(1), to: TestHealth.time(2)), "ends before"),
            (.quantity(.workout, try Amount(37, "1"), from: TestHealth.time(1)), "workout"),
            (.workout("flying", from: TestHealth.time(9), to: TestHealth.time(1)), "activity"),
            (.correlation(.bloodPressure, [], from: TestHealth.time(1)), "1000"),
            (.correlation(.heartRate, [TestHealth.steps(1, 1)], from: TestHealth.time(1)), "heartRate"),
            (
                .quantity(
                    .heartRate, try Amount(80, "/min"), from: TestHealth.time(1), metadata: ["syncIdentifier": .string("a")]),
                "SyncVersion"
            ),
            (
                .quantity(
                    .heartRate, try Amount(80, "/min"), from: TestHealth.time(1),
                    metadata: ["syncVersion": .number(Numeral(coefficient: 1))]), "SyncIdentifier"
            ),
        ]
        for (object, word) in wrong {
            let error = await thrown(HealthStoreError.self) {
                try await store.save([TestHealth.steps(7, 30), object])
            }
            guard case .refused(1, let reason)? = error else {
                Issue.record("\(word): \(String(describing: error))")
                continue
            }
            #expect(reason.contains(word), "\(reason)")
        }
        #expect(try await test.values(.stepCount) == [])
        #expect(throws: NumeralError.self) { try Amount(Double.nan, Unit.one) }
        #expect(throws: NumeralError.self) { try Amount(Double.infinity, Unit.one) }
    }

    @Test func quarantinesImpossibleValues() async throws {
        let saved = try await store.save([
            .quantity(.oxygenSaturation, try Amount(170, "%"), from: TestHealth.time(1)),
            .quantity(.oxygenSaturation, try Amount(97, "%"), from: TestHealth.time(1)),
        ])
        #expect(saved.map(\.outcome) == [.quarantined, .stored])
        #expect(try await test.values(.oxygenSaturation).count == 1)
    }

    @Test func aGreaterVersionReplacesAndNoOtherDoes() async throws {
        func save(_ rate: Double, _ version: Int64) async throws -> SavedObject {
            try await store.save(
                .quantity(
                    .heartRate, try Amount(rate, "/min"), from: TestHealth.time(9),
                    metadata: [
                        "HKMetadataKeySyncIdentifier": .string("beat"),
                        "HKMetadataKeySyncVersion": .number(Numeral(coefficient: version)),
                    ]))
        }
        #expect(try await save(60, 2).outcome == .stored)
        #expect(try await save(61, 2).outcome == .alreadyKnown)
        #expect(try await save(62, 1).outcome == .alreadyKnown)
        #expect(try await test.values(.heartRate) == [60])
        let third = try await save(63, 3)
        #expect(third.outcome == .stored)
        #expect(try await test.values(.heartRate) == [63])
        #expect(try await store.delete([third.uuid]) == 1)
        #expect(try await save(64, 3).outcome == .alreadyKnown)
        #expect(try await save(64, 2).outcome == .alreadyKnown)
        #expect(try await test.values(.heartRate) == [])
        #expect(try await save(65, 4).outcome == .stored)
        #expect(try await test.values(.heartRate) == [65])
    }

    /// A program's record is one whatever device it names.
    @Test func versionReplacesRecordOfOtherDevice() async throws {
        func save(_ rate: Double, _ version: Int64, _ device: String) async throws -> SavedObject.Outcome {
            try await store.save(
                .quantity(
                    .heartRate, try Amount(rate, "/min"), from: TestHealth.time(9), device: Device(key: device),
                    metadata: ["syncIdentifier": .string("beat"), "syncVersion": .number(Numeral(coefficient: version))])
            ).outcome
        }
        #expect(try await save(60, 1, "strap") == .stored)
        #expect(try await save(61, 2, "watch") == .stored)
        #expect(try await test.values(.heartRate) == [61])
        #expect(try await save(62, 2, "strap") == .alreadyKnown)
    }

    @Test func refusesSamplesBeforeRetention() async throws {
        try await store.save([TestHealth.steps(1, 3000), TestHealth.steps(2, 30)])
        let before = try await store.currentAnchor()
        #expect(try await store.earliestPermittedSampleDate(for: .stepCount) == Instant(seconds: 31_536_000))
        let date = TestHealth.time(1000)
        let writer = try SampleStore(path: test.path, access: .write)
        let pruned = try writer.prune(
            [.stepCount: date], description: IngestDescription(kind: .prune, received: TestHealth.now.microseconds))
        #expect(pruned.samples == 1)
        #expect(try await store.earliestPermittedSampleDate(for: .stepCount) == date)
        #expect(try await store.earliestPermittedSampleDate(for: .heartRate) < date)
        let error = await thrown(HealthStoreError.self) {
            try await store.save([TestHealth.steps(3, 20), TestHealth.steps(1, 3000)])
        }
        guard case .refused(1, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("earliest"))
        #expect(try await test.values(.stepCount) == [2])
        // A reader that had read it is notified. One that had not starts again.
        let reported = try await AnchoredObjectQueryDescriptor(predicate: .types([.stepCount]), anchor: before).result(for: store)
        #expect(reported.prunings.map(\.before) == [date])
        #expect(reported.addedSamples.isEmpty && reported.deletedObjects.isEmpty)
        let fresh = try await AnchoredObjectQueryDescriptor(predicate: .everything).result(for: store)
        #expect(fresh.addedSamples.map(\.sample.value) == [2])
    }

    @Test func deletedStaysDeleted() async throws {
        let saved = try await store.save([TestHealth.steps(1, 40), TestHealth.steps(2, 30), TestHealth.steps(3, 20)])
        let unknown = try #require(SampleIdentity("019a0000-0000-8000-8000-000000000000"))
        #expect(
            await thrown(StoreError.self) { try await store.delete([saved[0].uuid, unknown]) }?.kind == .invalid)
        #expect(try await test.values(.stepCount) == [1, 2, 3])
        let late = SamplePredicate.starts(from: TestHealth.time(35), before: nil)
        #expect(try await store.deleteObjects(matching: late) == 2)
        #expect(try await test.values(.stepCount) == [1])
        #expect(try await store.save(TestHealth.steps(2, 30)).outcome == .alreadyKnown)
        #expect(try await test.values(.stepCount) == [1])
        #expect(try await store.deleteObjects(matching: late) == 0)
    }

    /// A program that saves every minute makes no entry of the ledger every minute.
    @Test func oneEntryOfTheLedgerADayAndSource() async throws {
        for minute in 1...5 { try await store.save(TestHealth.steps(minute, Int64(minute * 10))) }
        try await test.another("other").save(TestHealth.steps(6, 60))
        try await store.save(TestHealth.steps(6, 70))
        let accounts = try SampleStore(path: test.path, access: .read).ledger.accounts()
        #expect(accounts.map(\.name) == ["Walker", "other"])
        #expect(accounts.map(\.kind) == [.save, .save])
        #expect(accounts.map(\.stored) == [6, 1])
        #expect(accounts.map(\.state) == ["done", "done"])
        #expect(try SampleStore(path: test.path, access: .read).check() == [])
    }

    @Test func twoPressuresOfOneMeasurement() async throws {
        func pressure(_ type: SampleType, _ value: Double) throws -> HealthObject {
            .quantity(type, try Amount(value, "mm[Hg]"), from: TestHealth.time(3))
        }
        let saved = try await store.save(
            .correlation(
                .bloodPressure, [try pressure(.bloodPressureSystolic, 121), try pressure(.bloodPressureDiastolic, 80)],
                from: TestHealth.time(3)))
        #expect(saved.parts.map(\.outcome) == [.stored, .stored])
        let found = try await SampleQueryDescriptor(predicate: .everything).result(for: store)
        #expect(Set(found.compactMap(\.sample.group)).count == 1)
        #expect(found.count == 3)
        #expect(try await store.delete([saved.uuid], withParts: true) == 3)
    }

    @Test func savesWorkoutWithRoute() async throws {
        let start = TestHealth.time(30)
        let locations = (0..<100).map { second in
            WorkoutLocation(
                time: Instant(microseconds: start.microseconds + second * 1_000_000), latitude: 52.5 + Double(second) / 1e5,
                longitude: 13.4, speed: second == 0 ? nil : 2.5)
        }
        let saved = try await store.save(
            .workout(
                "running", from: start, to: TestHealth.time(10),
                events: [.init(type: "pause", start: 60_000_000, end: 60_000_000)], routes: [locations]))
        let routes = try await SampleQueryDescriptor(predicate: WorkoutRouteQueryDescriptor.routes(of: saved.uuid))
            .result(for: store)
        #expect(routes.map(\.uuid) == saved.parts.map(\.uuid))
        let workout = try #require(
            try await SampleQueryDescriptor(predicate: .uuids([saved.uuid])).result(for: store).first?.sample.body
        ).decoded(as: Workout.self)
        #expect(workout.routes == saved.parts.map(\.uuid.description))
        #expect(workout.events.map(\.type) == ["pause"])
        var reported: [WorkoutLocation] = []
        for try await location in WorkoutRouteQueryDescriptor(route: saved.parts[0].uuid).results(for: store) {
            reported.append(location)
        }
        #expect(reported == locations)
    }
}
