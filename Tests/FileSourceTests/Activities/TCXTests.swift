import HealthModel
import Pipeline
import Testing

@testable import FileSource

@Suite struct TCXTests {
    private func file() throws -> [UInt8] { try testFile("activities/ride.tcx").bytes }

    private func tcx(_ activities: String) -> [UInt8] {
        Array("<TrainingCenterDatabase><Activities>\(activities)</Activities></TrainingCenterDatabase>".utf8)
    }

    private func lap(_ content: String = "", start: String = "2026-05-02T08:00:00Z", seconds: String = "60") -> String {
        #"<Lap StartTime="\#(start)"><TotalTimeSeconds>\#(seconds)</TotalTimeSeconds>\#(content)</Lap>"#
    }

    @Test func readsTrackpoints() throws {
        let file = try ImportedActivity(tcx: try file())
        #expect(file.error == nil)
        #expect(file.refused.isEmpty)
        #expect(
            file.lines == [
                "heartRate 112 /min 115200 -", "cyclingCadence 80 /min 115200 -", "cyclingPower 180 W 115200 -",
                "cyclingSpeed 6.5 m/s 115200 -", "heartRate 128 /min 115230 -", "heartRate 133 /min 115320 -",
            ])
        // A point with only a distance, and a course, which is a plan.
        #expect(
            file.counted == [
                "trackpoint": 1, "plannedRoute": 1, "DistanceMeters": 3, "MaximumSpeed": 1, "Intensity": 3, "TriggerMethod": 3,
            ])
        let origin = try #require(file.readings.first?.origin)
        #expect(origin.source == SourceRevision(id: "tcx", name: "Garmin Connect API", version: "26.5"))
        #expect(origin.device?.key == "Garmin Edge 530/3123456789")
        #expect(origin.device?.serial == "3123456789")
        #expect(origin.device?.firmware == "9.75")
    }

    @Test func makesWorkoutWithLaps() throws {
        let file = try ImportedActivity(tcx: try file())
        let reading = try #require(file.of(.workout).first)
        #expect(reading.numeral.text == "13")
        #expect(
            reading.time
                == .instants(
                    start: Instant(seconds: 1_777_708_800), end: Instant(microseconds: 1_777_708_950_500_000), offset: nil))
        let workout = try #require(file.workout)
        #expect(workout.duration?.numeral.text == "90.5")
        #expect(workout.totalDistance?.numeral.text == "600.75")
        #expect(workout.statistics.map(\.type) == ["distanceCycling", "totalEnergyBurned", "heartRate"])
        #expect(workout.statistics[1].sum?.numeral.text == "20")
        #expect(workout.statistics[2].maximum?.numeral.text == "133")
        // A mean of two means is not a measurement.
        #expect(workout.statistics[2].average == nil)
        #expect(workout.events.map(\.type) == ["lap", "lap"])
        #expect(workout.events.map(\.start) == [0, 120_000_000])
        #expect(workout.events.map(\.end) == [60_000_000, 150_500_000])
        #expect(workout.events[1].metadata?["distance"] == .quantity(try Numeral("200.25"), try Unit(ucum: "m")))
        #expect(reading.metadata?["sport"] == .string("Biking"))
    }

    @Test func routeAndWorkoutReferToEachOther() throws {
        let file = try ImportedActivity(tcx: try file())
        let route = try #require(file.of(.workoutRoute).first)
        #expect(
            try points(of: route) == [
                ["0", "52.5162746", "13.3777041", "34.2", "-", "-", "-", "6.5"],
                ["30000000", "52.5162999", "13.3799001", "34.4", "-", "-", "-", "-"],
            ])
        let reported = try #require(route.body).decoded(as: WorkoutRoute.self)
        let workout = try #require(file.of(.workout).first)
        #expect(reported.workout == identity(of: workout))
        #expect(file.workout?.routes == identity(of: route).map { [$0] })
    }

    private func identity(of reading: Reading) -> String? {
        guard case .instants(let start, let end, _) = reading.time else { return nil }
        let identity = SampleIdentity(
            series: reading.origin.seriesKey, start: start.microseconds, end: end.microseconds, numeral: reading.numeral,
            unit: reading.unit, ordinal: reading.ordinal)
        return "\(identity)"
    }

    @Test func unknownSportIsOtherWithMetadata() throws {
        let file = try ImportedActivity(tcx: try file())
        #expect(file.of(.workout).map(\.numeral.text) == ["13", "46"])
        let others = try ImportedActivity(
            tcx: tcx(
                #"<Activity Sport="Yoga">\#(lap())</Activity><Activity Sport="Chess">\#(lap())</Activity>"#
                    + #"<Activity Sport="Other">\#(lap())</Activity><Activity Sport="Running">\#(lap())</Activity>"#))
        #expect(others.of(.workout).map(\.numeral.text) == ["57", "3000", "3000", "37"])
        // `other` and an unknown sport are not the same.
        #expect(Set(others.of(.workout).map(\.ordinal)).count == 2)
        #expect(others.of(.workout).map { $0.metadata?["sport"] } == ["Yoga", "Chess", "Other", "Running"].map { .string($0) })
    }

    /// A multi-sport session with its transitions, other prefixes, and a single lap with its own average.
    @Test func otherForms() throws {
        let heart = "<AverageHeartRateBpm><Value>140</Value></AverageHeartRateBpm>"
        let file = try ImportedActivity(
            tcx: Array(
                ("\u{FEFF}<?xml version=\"1.0\"?>\n<t:TrainingCenterDatabase xmlns:t=\"x\"/>").utf8))
        #expect(file.error?.kind == .malformed)
        let session = try ImportedActivity(
            tcx: tcx(
                "<MultiSportSession><Id>2026-05-02T08:00:00Z</Id><FirstSport><Activity Sport=\"Running\">\(lap(heart))</Activity>"
                    + "</FirstSport><NextSport><Transition StartTime=\"2026-05-02T08:01:00Z\"/><Activity Sport=\"Biking\">"
                    + "<Id>2026-05-02T08:02:00Z</Id></Activity></NextSport></MultiSportSession>"))
        #expect(session.counted == ["transition": 1])
        #expect(session.workout?.statistics.last?.average?.numeral.text == "140")
        #expect(session.workout?.events.isEmpty == true)
        #expect(session.refused.map(\.reason) == ["the activity has no end"])
    }

    @Test(arguments: [
        ("<Time>2026-05-02T08:00:00</Time>", "the time of the point has no zone"),
        ("<Time>yesterday</Time>", "the time of the point is not in ISO 8601"),
        ("", "the point has no time"),
        (
            "<Time>2026-05-02T08:00:00Z</Time><Position><LatitudeDegrees>91</LatitudeDegrees></Position>",
            "the latitude is not a possible number"
        ),
        (
            "<Time>2026-05-02T08:00:00Z</Time><Position><LatitudeDegrees>9</LatitudeDegrees></Position>",
            "a point has half of a position"
        ),
        (
            "<Time>2026-05-02T08:00:00Z</Time><HeartRateBpm><Value>many</Value></HeartRateBpm>",
            "the heart rate is not a possible number"
        ),
    ]) func refusesInvalidPoint(_ content: String, _ reason: String) throws {
        let track = "<Track><Trackpoint>\(content)</Trackpoint></Track>"
        let file = try ImportedActivity(tcx: tcx(#"<Activity Sport="Running">\#(lap(track))</Activity>"#))
        #expect(file.refused.map(\.reason) == [reason])
        #expect(file.readings.map(\.origin.type.id) == ["workout"])
    }

    /// An impossible lap is refused on its own, with its line. The activity then has no sum of laps.
    @Test func refusesOnlyInvalidLap() throws {
        let bad = "\n" + lap(seconds: "-1") + "\n" + lap(seconds: "x")
        let alone = try ImportedActivity(tcx: tcx(#"<Activity Sport="Running">\#(bad)</Activity>"#))
        #expect(
            alone.refused.map(\.reason) == [
                "the timer's time is below 0", "the timer's time is not a possible number", "the activity has no end",
            ])
        #expect(alone.refused.prefix(2).map(\.place) == [Place(.line, 2), Place(.line, 3)])
        #expect(alone.readings.isEmpty)
        let file = try ImportedActivity(
            tcx: tcx(#"<Activity Sport="Running">\#(lap("<DistanceMeters>5</DistanceMeters>"))\#(bad)</Activity>"#))
        #expect(file.refused.count == 2 && file.readings.map(\.origin.type.id) == ["workout"])
        #expect(file.workout?.duration == nil && file.workout?.totalDistance == nil)
        #expect(file.workout?.events.map(\.end) == [60_000_000])
    }

    /// The end of the file belongs to the samples of its activity, so a truncated file gives none of them.
    @Test func truncatedFileGivesNoReadings() throws {
        let whole = try file()
        let root = try #require(whole.lastIndex(of: UInt8(ascii: ">")))
        for end in stride(from: 0, to: root, by: 7) {
            let file = try ImportedActivity(tcx: whole[..<end])
            #expect(file.error != nil)
            #expect(file.readings.isEmpty)
        }
    }

    @Test func refusesHostileFiles() throws {
        let bomb =
            #"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>"#
            + #"<TrainingCenterDatabase><Activities><Activity Sport="&b;"/></Activities></TrainingCenterDatabase>"#
        #expect(try ImportedActivity(tcx: Array(bomb.utf8)).error?.kind == .malformed)
        let deep = String(repeating: "<Track>", count: 10_000)
        #expect(try ImportedActivity(tcx: tcx(deep)).error?.reason == "elements nest more than 64 deep")
        let long = lap("<Track><Trackpoint><Time>\(String(repeating: "2", count: 5000))</Time></Trackpoint></Track>")
        #expect(
            try ImportedActivity(tcx: tcx(#"<Activity Sport="Running">\#(long)</Activity>"#)).error?.reason
                == "a text is longer than 1024 bytes")
        let names = (0..<5000).map { "<n\($0)/>" }.joined()
        #expect(
            try ImportedActivity(tcx: tcx(names)).error?.reason == "more than 4096 names of elements and attributes")
        let laps = String(repeating: lap(), count: 10_001)
        let many = try ImportedActivity(tcx: tcx(#"<Activity Sport="Running">\#(laps)</Activity>"#))
        #expect(many.refused.map(\.reason) == ["the activity has too many laps"])
    }

    @Test func isRecognisedByRootElement() throws {
        let tcx = TemporaryFile(try file())
        #expect(TCXFile.recognises(try InputFile(path: tcx.path)))
        #expect(!FITFile.recognises(try InputFile(path: tcx.path)))
        #expect(!GPXFile.recognises(try InputFile(path: tcx.path)))
        let other = TemporaryFile(Array("<gpx/>".utf8))
        #expect(!TCXFile.recognises(try InputFile(path: other.path)))
    }
}
