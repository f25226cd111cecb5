import HealthModel
import Pipeline
import Testing

@testable import FileSource

/// Workouts, correlations and rings of an export.
@Suite struct AppleHealthObjectsTests {
    private func workout(_ content: String, attributes: String = "", activity: String = "Running") -> String {
        """
        <Workout workoutActivityType="HKWorkoutActivityType\(activity)" sourceName="Watch" startDate="2025-11-20 09:00:00 -0500" \
        endDate="2025-11-20 09:30:00 -0500" \(attributes)>\(content)</Workout>
        """
    }

    private func read(_ elements: String) throws -> Workout {
        let export = ImportedExport(elements: elements)
        #expect(export.refused == [])
        return try #require(export.readings.first?.body).decoded(as: Workout.self)
    }

    @Test func aWorkoutIsReadWhole() throws {
        let export = ImportedExport(
            elements: workout(
                """
                <MetadataEntry key="HKIndoorWorkout" value="1"/>
                <WorkoutEvent type="HKWorkoutEventTypePause" date="2025-11-20 09:10:00 -0500"/>
                <WorkoutEvent type="HKWorkoutEventTypeSegment" date="2025-11-20 09:00:00 -0500" duration="1.5" durationUnit="min">
                <MetadataEntry key="lap" value="1"/></WorkoutEvent>
                <WorkoutEvent type="HKWorkoutEventTypeOfTheFuture" date="2025-11-20 15:00:00 +0100"/>
                <WorkoutActivity uuid="U-1" startDate="2025-11-20 09:00:00 -0500" duration="10" durationUnit="min">
                <WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" average="120.5" minimum="90" maximum="151" unit="count/min"/>
                </WorkoutActivity>
                <WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" sum="5.20" unit="km"/>
                <WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" sum="9" unit="km"/>
                <WorkoutStatistics type="HKQuantityTypeIdentifierOfTheFuture" sum="1"/>
                """, attributes: #"duration="28" durationUnit="min" totalEnergyBurned="1200" totalEnergyBurnedUnit="kJ""#))
        #expect(export.refused == [] && export.skipped == [])
        let reading = try #require(export.readings.first)
        #expect(reading.origin.type.id == "workout" && reading.numeral.text == "37" && reading.unit == .one)
        #expect(reading.metadata?.entries.count == 1)
        let workout = try #require(reading.body).decoded(as: Workout.self)
        #expect(workout.duration == Amount(try Numeral("28"), try Unit(ucum: "min")))
        #expect(workout.events.map(\.type) == ["pause", "segment", "HKWorkoutEventTypeOfTheFuture"])
        #expect(workout.events.map(\.start) == [600_000_000, 0, 0])
        #expect(workout.events.map(\.end) == [600_000_000, 90_000_000, 0])
        #expect(workout.events[1].metadata != nil)
        #expect(workout.activities.map(\.uuid) == ["U-1"] && workout.activities.first?.end == nil)
        #expect(workout.activities.first?.statistics.first?.average == Amount(try Numeral("120.5"), try Unit(ucum: "/min")))
        #expect(
            workout.statistics.map(\.type) == [
                "distanceWalkingRunning", "HKQuantityTypeIdentifierOfTheFuture", "activeEnergyBurned",
            ])
        #expect(
            workout.statistics.map(\.sum?.numeral.text) == ["5.20", "1", "1200"], "each type once, the total where none is told")
        #expect(workout.statistics[1].sum?.unit == nil, "no unit is guessed")
    }

    @Test(
        arguments: [
            (#"duration="1""#, "", nil),
            ("", #"<WorkoutEvent date="2025-11-20 09:10:00 -0500"/>"#, "an event of the workout has no type"),
            ("", #"<WorkoutEvent type="HKWorkoutEventTypeLap"/>"#, "WorkoutEvent: date is missing"),
            (
                "", #"<WorkoutEvent type="HKWorkoutEventTypeLap" date="yesterday"/>"#,
                "WorkoutEvent: date is not written as YYYY-MM-DD HH:MM:SS +HHMM"
            ),
            (
                "",
                #"<WorkoutEvent type="HKWorkoutEventTypeLap" date="2025-11-20 09:10:00 -0500" duration="-1" durationUnit="min"/>"#,
                "an event of the workout has an impossible duration"
            ),
            (#"duration="1" durationUnit="parsec""#, "", "Workout: the unit of duration is unknown"),
            (#"duration="1" durationUnit="kg""#, "", "Workout: the unit of duration measures something else"),
            (#"totalDistance="far" totalDistanceUnit="km""#, "", "Workout: totalDistance is not a number"),
            ("", #"<WorkoutStatistics sum="1" unit="km"/>"#, "statistics of the workout have no type"),
            (
                "", #"<WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" sum="1" unit="km"/>"#,
                "WorkoutStatistics: the unit of sum measures something else"
            ),
        ] as [(String, String, String?)]) func refusesInvalidWorkouts(attributes: String, content: String, why: String?)
    {
        let export = ImportedExport(elements: workout(content, attributes: attributes))
        #expect(export.refused == (why.map { [$0] } ?? []))
        #expect(export.readings.count == (why == nil ? 1 : 0))
    }

    /// An unknown activity is quarantined and not guessed, and two of them are different.
    @Test func quarantinesUnknownActivities() throws {
        let export = ImportedExport(elements: workout("", activity: "Levitation") + workout("", activity: "Quidditch"))
        let samples = try ReadingPath.samples(
            of: export.readings, zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_800_000_000))
        #expect(samples.map(\.rule) == [.unknownValue, .unknownValue])
        #expect(Set(samples.map(\.sample.identity)).count == 2)
        #expect(ImportedExport(elements: "<Workout startDate=\"2025-11-20 09:00:00 -0500\"/>").refused.count == 1)
    }

    @Test func refusesOversizedOrDeepElements() {
        let events = String(
            repeating: #"<WorkoutEvent type="HKWorkoutEventTypeLap" date="2025-11-20 09:10:00 -0500"/>"#, count: 120_000)
        let export = ImportedExport(elements: workout(events) + workout(""))
        #expect(export.refused == ["the workout is larger than 4 MiB, or has too many parts"])
        #expect(export.readings.count == 1, "the next one is read")
        let deep = String(repeating: "<WorkoutActivity>", count: 200) + String(repeating: "</WorkoutActivity>", count: 200)
        #expect(ImportedExport(elements: workout(deep)).readings.count <= 1)
    }

    /// The samples of a correlation also occur outside of it, and the correlation names them.
    @Test func correlationRefersToSamples() throws {
        func record(_ type: String, _ value: String) -> String {
            """
            <Record type="HKQuantityTypeIdentifierBloodPressure\(type)" sourceName="Cuff" unit="mmHg" value="\(value)" \
            startDate="2025-11-20 09:00:00 -0500" endDate="2025-11-20 09:00:00 -0500"/>
            """
        }
        let both = record("Systolic", "121") + record("Diastolic", "80")
        let correlation = """
            <Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="Cuff" startDate="2025-11-20 09:00:00 -0500" \
            endDate="2025-11-20 09:00:00 -0500"><MetadataEntry key="a" value="b"/>\(both)</Correlation>
            """
        let export = ImportedExport(elements: both + correlation)
        #expect(export.refused == [] && export.skipped == [])
        let samples = try ReadingPath.samples(
            of: export.readings, zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_800_000_000)
        ).map(\.sample)
        #expect(samples.map(\.origin.type.id).suffix(1) == ["bloodPressure"])
        let objects = try #require(samples.last?.body).decoded(as: Correlation.self).objects
        #expect(objects == samples.prefix(2).map(\.identity.description))
        #expect(samples[0].identity == samples[2].identity && samples[1].identity == samples[3].identity)
        #expect(samples.last?.metadata?.entries.count == 1)
        // Another measurement of the same moment is another correlation.
        let other = ImportedExport(elements: correlation.replacing("\"121\"", with: "\"131\""))
        let more = try ReadingPath.samples(
            of: other.readings, zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_800_000_000))
        #expect(more.last?.sample.identity != samples.last?.identity)
    }

    @Test func aDaysRings() throws {
        let export = ImportedExport(
            elements: """
                <ExportDate value="2025-11-21 10:00:00 +0000"/>
                <ActivitySummary dateComponents="2025-11-20" activeEnergyBurned="421.5" activeEnergyBurnedGoal="500" activeEnergyBurnedUnit="kcal"
                appleMoveMinutes="31" appleExerciseTime="24" appleExerciseTimeGoal="30" appleStandHours="11" appleStandHoursGoal="12"/>
                <ActivitySummary dateComponents="2025-11-19" activeEnergyBurned="4"/>
                <ActivitySummary dateComponents="2025-13-40"/><ActivitySummary/>
                """)
        #expect(
            export.refused == [
                "the activity summary's date is not written as YYYY-MM-DD", "the activity summary has no date",
            ])
        let days = try export.readings.map { try #require($0.body).decoded(as: ActivitySummary.self) }
        #expect(days.map(\.date) == ["2025-11-20", "2025-11-19"])
        #expect(days[0].activeEnergyBurned == Amount(try Numeral("421.5"), try Unit(ucum: "kcal")))
        #expect(days[0].moveTime?.numeral.text == "31" && days[0].exerciseTime?.unit?.code == "min")
        #expect(days[1].activeEnergyBurned?.unit == nil)
        #expect(export.readings.map(\.record?.id) == ["2025-11-20", "2025-11-19"])
        #expect(export.readings.map(\.record?.version) == [1_763_719_200, 1_763_719_200])
    }
}
