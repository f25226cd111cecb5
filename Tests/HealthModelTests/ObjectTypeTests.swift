import Testing

@testable import HealthModel

/// Workouts, correlations and rings: their types match the facts, and their fields are written and read back.
@Suite struct ObjectTypeTests {
    @Test func activitiesMatchFacts() throws {
        let facts = try TestFile.csv("Facts/workout-activity-types.csv")
        let values = try #require(SampleType("workout")?.categoryValues)
        #expect(facts.count >= 84)
        for fact in facts {
            let (name, raw) = try (#require(fact["case_as_in_export_xml"]), #require(fact["raw"].flatMap { Int($0) }))
            #expect(values.value(of: name) == raw, "\(name)")
            #expect(values.constant(of: raw).flatMap { values.value(of: $0) } == raw)
        }
        #expect(Set(values.cases.map(\.value)) == Set(facts.compactMap { $0["raw"].flatMap { Int($0) } }))
        #expect(values.name(of: 37) == "running" && values.constant(of: 3000) == "HKWorkoutActivityTypeOther")
        #expect(values.name(of: 81) == nil)
    }

    @Test func eventsMatchFacts() throws {
        let facts = try TestFile.csv("Facts/workout-event-types.csv")
        #expect(facts.count == Catalogue.workoutEventValues.cases.count)
        for fact in facts {
            let (name, raw) = try (#require(fact["case_as_in_export_xml"]), #require(fact["raw"].flatMap { Int($0) }))
            #expect(Catalogue.workoutEventValues.value(of: name) == raw, "\(name)")
            #expect(Workout.eventConstant(of: Workout.eventName(of: name)) == name)
        }
        #expect(Workout.eventName(of: "HKWorkoutEventTypeOfTheFuture") == "HKWorkoutEventTypeOfTheFuture")
        #expect(Workout.eventConstant(of: "HKWorkoutEventTypeOfTheFuture") == "HKWorkoutEventTypeOfTheFuture")
    }

    @Test func kinds() throws {
        for (id, kind, identifier) in [
            ("workout", .workout, "HKWorkoutTypeIdentifier"),
            ("bloodPressure", .correlation, "HKCorrelationTypeIdentifierBloodPressure"),
            ("food", .correlation, "HKCorrelationTypeIdentifierFood"), ("activitySummary", .activitySummary, nil),
        ] as [(String, SampleKind, String?)] {
            let type = try #require(SampleType(id))
            #expect(type.kind == kind && type.healthKitIdentifier == identifier && !type.isVitalgates)
            #expect(throws: UnitError.self) { try type.conversion(from: Unit(ucum: "kg")) }
        }
    }

    /// Pauses are excluded. A repeated pause counts once, and a pause without an end lasts until the end of the workout.
    @Test(
        arguments: [
            ([], 100), ([("pause", 10), ("resume", 30)], 80), ([("pause", 10), ("pause", 20), ("resume", 30)], 80),
            ([("resume", 30), ("pause", 90)], 90), ([("pause", -10), ("resume", 10)], 90),
            ([("pause", 90), ("resume", 500)], 90), ([("resume", 40), ("pause", 20)], 80),
            ([("motionPaused", 10), ("motionResumed", 30), ("lap", 50)], 100),
        ] as [([(String, Int64)], Double)]) func lasts(_ events: [(String, Int64)], _ seconds: Double)
    {
        let start = Instant(seconds: 1_790_000_000)
        var workout = Workout(
            events: events.map { Workout.Event(type: $0.0, start: $0.1 * 1_000_000, end: $0.1 * 1_000_000) })
        #expect(workout.seconds(from: start, to: Instant(microseconds: start.microseconds + 100_000_000)) == seconds)
        workout.duration = (try? Unit(ucum: "min")).map { Amount(Numeral(coefficient: 2), $0) }
        #expect(workout.seconds(from: start, to: start) == 120, "as told")
    }

    @Test func bodiesComeBack() throws {
        let metadata = Metadata([("HKIndoorWorkout", .boolean(true))])
        let amount = Amount(try Numeral("5.20"), try Unit(ucum: "km"))
        let workout = Workout(
            duration: Amount(try Numeral("30"), nil), totalDistance: amount,
            events: [Workout.Event(type: "lap", start: -5, end: 7, metadata: metadata)],
            activities: [
                Workout.Activity(
                    uuid: "u", start: 1, end: nil, duration: amount,
                    statistics: [Workout.Statistics(type: "heartRate", average: amount)],
                    metadata: metadata)
            ], statistics: [Workout.Statistics(type: "stepCount", sum: Amount(try Numeral("17"), try Unit(ucum: "1")))])
        let body = try SampleBody(encoding: workout)
        #expect(try body.decoded(as: Workout.self) == workout)
        #expect(try SampleBody(encoding: workout) == body && body.digest.count == 16)
        #expect(String(decoding: body.bytes, as: UTF8.self).contains(#""value":"5.20""#), "its digits")
        var other = workout
        other.totalDistance = Amount(try Numeral("5.2"), try Unit(ucum: "km"))
        #expect(try SampleBody(encoding: other).digest != body.digest)
        #expect(throws: DecodingError.self) { try SampleBody(bytes: Array("{".utf8)).decoded(as: Workout.self) }
        // A mole of glucose differs from a mole of another substance.
        let glucose = Amount(
            try Numeral("5"), try SampleType.bloodGlucose.molarMass.map { try Unit(ucum: "mmol/L").with(molarMass: $0) })
        #expect(try SampleBody(encoding: glucose).decoded(as: Amount.self) == glucose)
        #expect(try amount.value(in: Unit(ucum: "m")) == 5200)
        #expect(try amount.value(in: Unit(ucum: "kg")) == nil)
    }
}
