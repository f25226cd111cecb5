import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A workout or a night from two sources is one, by the rules for any interval. Its parts are not duplicates of anything.
@Suite struct ObjectTwoPathTests {
    private static let watch = Device(key: "acme-1", manufacturer: "Acme", model: "W1")

    private func sample(
        _ type: String, _ number: Int64, _ body: SampleBody? = nil, source: String, device: Device?, at second: Int64,
        lasting seconds: Int64, resolution: Int32 = 1
    ) throws -> GatedSample {
        let start = Instant(seconds: 1_790_000_040 + second)
        let reading = Reading(
            origin: Origin(
                person: TestStore.person, type: try #require(SampleType(type)),
                source: SourceRevision(id: source, name: source, version: nil), device: device),
            numeral: Numeral(coefficient: number), unit: .one,
            time: .instants(start: start, end: Instant(seconds: 1_790_000_040 + second + seconds), offset: .utc), body: body,
            timeResolution: resolution, place: Place(.line, 1))
        let samples = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received)
        return try #require(samples.first)
    }

    private func run(_ laps: Int, source: String, device: Device?, at second: Int64, resolution: Int32 = 1) throws -> GatedSample
    {
        let events = (0..<laps).map { Workout.Event(type: "lap", start: Int64($0), end: Int64($0) + 1) }
        return try sample(
            "workout", 37, try SampleBody(encoding: Workout(events: events)), source: source, device: device, at: second,
            lasting: 1800, resolution: resolution)
    }

    private func stored(_ test: TestStore, _ samples: GatedSample...) throws -> Int { try test.keep(samples).account.stored }

    @Test func workouts() throws {
        try TestStore.with { test in
            #expect(try stored(test, run(3, source: "phone", device: Self.watch, at: 24)) == 1)
            // The maker's file cuts to the minute and knows no laps: the first stays, with its laps.
            let family = Device(key: "Acme", manufacturer: "Acme")
            #expect(try test.keep([run(0, source: "file.Acme", device: family, at: 0, resolution: 60)]).account.duplicate == 1)
            let retained = try test.samples().map { try $0.sample.body?.decoded(as: Workout.self).events.count }
            #expect(retained == [3])
            // Another activity at the same time, and the same one an hour later, are others.
            let walk = try sample(
                "workout", 52, try SampleBody(encoding: Workout()), source: "file.Acme", device: family, at: 0, lasting: 1800,
                resolution: 60)
            #expect(try stored(test, walk) == 1)
            #expect(try stored(test, run(0, source: "file.Acme", device: family, at: 3600, resolution: 60)) == 1)
            // Another maker's device that went along: both stay, and are linked.
            let other = Device(key: "other-1", manufacturer: "Other")
            #expect(try stored(test, run(1, source: "file.Other", device: other, at: 24)) == 1)
            #expect(try test.samples().count == 4)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// After the undo of the first, the other one takes its place. Undoing the undo restores the first.
    @Test func takenBack() throws {
        try TestStore.with { test in
            let family = Device(key: "Acme", manufacturer: "Acme")
            try test.keep([run(3, source: "phone", device: Self.watch, at: 24)])
            try test.keep([run(1, source: "file.Acme", device: family, at: 0, resolution: 60)])
            func laps() throws -> [Int?] {
                try test.samples().map { try $0.sample.body?.decoded(as: Workout.self).events.count }
            }
            let undone = try test.store.ledger.undo(1, forget: false, description: TestStore.description(.undo)).ingest
            #expect(try laps() == [1])
            _ = try test.store.ledger.undo(undone, forget: false, description: TestStore.description(.undo))
            #expect(try laps() == [3])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Two routes, records or prescriptions of one moment are two, whatever their numbers are.
    @Test(arguments: ["workoutRoute", "heartbeatSeries", "audiogram", "visionPrescription", "stateOfMind", "gad7", "cda"])
    func doesNotCompareOtherKinds(type: String) throws {
        try TestStore.with { test in
            let body = try Self.body(of: type)
            #expect(try stored(test, sample(type, 1, body, source: "phone", device: Self.watch, at: 0, lasting: 60)) == 1)
            let other = try sample(
                type, 1, body, source: "file.Acme", device: Device(key: "Acme", manufacturer: "Acme"), at: 0, lasting: 60,
                resolution: 60)
            #expect(try stored(test, other) == 1)
        }
    }

    private static func body(of type: String) throws -> SampleBody {
        switch type {
        case "workoutRoute":
            let route = try points(WorkoutRoute.columns, ["0", "51.4", "-0.3", nil, nil, nil, nil, nil])
            return try SampleBody(encoding: WorkoutRoute(points: route.0), content: route.1)
        case "heartbeatSeries":
            let beats = try points(HeartbeatSeries.columns, ["0", "0", nil])
            return try SampleBody(encoding: HeartbeatSeries(points: beats.0), content: beats.1)
        case "audiogram":
            let level = Audiogram.Ear(sensitivity: Amount(try Numeral("10"), try Unit(ucum: "dB")), masked: false)
            let frequency = Amount(try Numeral("250"), try Unit(ucum: "Hz"))
            return try SampleBody(encoding: Audiogram(sensitivity: [.init(frequency: frequency, left: level, right: nil)]))
        case "visionPrescription":
            let eye = ["sphere": Amount(try Numeral("-1.25"), try Unit(ucum: "[diop]"))]
            return try SampleBody(encoding: VisionPrescription(leftEye: eye))
        case "stateOfMind":
            return try SampleBody(encoding: StateOfMind(kind: "dailyMood", labels: ["calm"], associations: ["family"]))
        case "gad7":
            return try SampleBody(encoding: ScoredAssessment(answers: [1, 0, 0, 0, 0, 0, 0], risk: "noneToMinimal"))
        default:
            let document = ClinicalDocument(title: "t", patient: "p", custodian: "c", author: "a", valid: true)
            return try SampleBody(encoding: document, content: PackedContent("<ClinicalDocument/>".utf8))
        }
    }

    private static func points(_ columns: [Points.Column], _ point: [String?]) throws -> (Points, PackedContent) {
        var writer = PointsWriter(columns: columns)
        try writer.append(point.map { try $0.map { try Numeral($0) } })
        return try writer.end()
    }
}
