import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The data of a sample beyond its number goes wherever the sample goes.
@Suite struct BodyTests {
    private static func reading(
        _ type: String, _ value: some Encodable, number: Int64 = 0, at second: Int64 = 0, record: RecordIdentifier? = nil,
        source: String = "watch"
    ) throws -> GatedSample {
        let start = Instant(seconds: 1_790_000_000 + second)
        let end = Instant(seconds: 1_790_000_000 + second + (type == "workout" ? 600 : 0))
        let reading = Reading(
            origin: Origin(
                person: TestStore.person, type: try #require(SampleType(type)),
                source: SourceRevision(id: source, name: source, version: nil), device: nil),
            numeral: Numeral(coefficient: number), unit: .one, time: .instants(start: start, end: end, offset: .utc),
            record: record,
            body: try SampleBody(encoding: value), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received).first)
    }

    private static func run(at second: Int64 = 0, laps: Int = 2) throws -> GatedSample {
        try reading(
            "workout",
            Workout(
                totalDistance: Amount(try Numeral("5.20"), try Unit(ucum: "km")),
                events: (0..<laps).map {
                    Workout.Event(type: "lap", start: Int64($0) * 60_000_000, end: Int64($0 + 1) * 60_000_000)
                }),
            number: 37, at: second)
    }

    private func workouts(_ test: TestStore) throws -> [Workout] {
        try test.samples().map { try #require($0.sample.body).decoded(as: Workout.self) }
    }

    @Test func goAlong() throws {
        try TestStore.with { test in
            let runs = try [Self.run(), Self.run(at: 3600, laps: 3)]
            #expect(try test.keep(runs).account.stored == 2)
            #expect(try test.keep(runs).account.duplicate == 2)
            try test.reopen()
            #expect(try workouts(test).map(\.events.count) == [2, 3])
            let line = try #require(test.lines().first { $0.contains(#""routes":[]"#) })
            #expect(line.contains(#""kind":"workout","type":"workout","activity":"running","duration":600"#), "\(line)")
            try test.delete(runs[0])
            #expect(try test.keep(runs).account.duplicate == 2)
            #expect(try workouts(test).map(\.events.count) == [3])
            try test.restore(runs[0])
            #expect(try workouts(test).map(\.events.count) == [2, 3])
            // A repair of time moves its laps with it, and its undoing brings all back.
            let before = try test.lines()
            let shift = RepairRequest(
                .shift(3_600_000_000), of: SampleConditions(), takesAmbiguous: true, now: TestStore.received)
            let done = try test.store.repairs.apply(shift)
            #expect(done.plan.repaired == 2)
            #expect(try workouts(test).map(\.events.count) == [2, 3])
            #expect(try test.lines().isDisjoint(with: before))
            #expect(try test.store.check(deep: true) == [])
            let ingest = try #require(try test.store.connection.integer("SELECT max(id) FROM ingest"))
            _ = try test.store.ledger.undo(ingest, forget: false, description: TestStore.description(.undo))
            #expect(try test.lines() == before)
            // Each body once, however often it is written down.
            #expect(try test.store.connection.integer("SELECT count(*) FROM body") == 2)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Equal samples share the body, and no sample gets the body of another.
    @Test func equalBodies() throws {
        try TestStore.with { test in
            let runs = try (0..<20).map { try Self.run(at: Int64($0) * 3600, laps: $0 % 2) }
            let beats = try (0..<20).map { try SampleMaker()("\(60 + $0)", at: Double($0) * 3600) }
            try test.keep(zip(runs, beats).flatMap { [$0, $1] })
            #expect(try test.store.connection.integer("SELECT count(*) FROM body") == 2)
            let laps = try test.samples().map { try $0.sample.body?.decoded(as: Workout.self).events.count }
            #expect(laps.compactMap { $0 } == (0..<20).map { $0 % 2 })
            #expect(laps.count == 40)
        }
    }

    /// The same rings in a later export are duplicates, different ones replace them, and deleted rings stay deleted.
    @Test func aDaysRings() throws {
        func rings(_ energy: String, exported version: Int64, day: String = "2026-09-21") throws -> GatedSample {
            var summary = ActivitySummary(date: day)
            summary.activeEnergyBurned = Amount(try Numeral(energy), try Unit(ucum: "kcal"))
            return try Self.reading(
                "activitySummary", summary, record: RecordIdentifier(id: day, version: version), source: "apple-health")
        }
        try TestStore.with { test in
            #expect(try test.keep([rings("100", exported: 1)]).account.stored == 1)
            #expect(try test.keep([rings("100", exported: 2)]).account.duplicate == 1)
            #expect(try test.keep([rings("180", exported: 3)]).account.stored == 1)
            func reported() throws -> [String?] {
                try test.samples().map { try $0.sample.body?.decoded(as: ActivitySummary.self).activeEnergyBurned?.numeral.text }
            }
            #expect(try reported() == ["180"])
            // An earlier export knows no better.
            #expect(try test.keep([rings("150", exported: 2)]).account.stored == 0)
            #expect(try reported() == ["180"])
            try test.delete(rings("180", exported: 3))
            #expect(try test.keep([rings("180", exported: 4)]).account.stored == 0)
            #expect(try reported() == [])
            #expect(try test.store.check(deep: true) == [])
        }
    }
}
