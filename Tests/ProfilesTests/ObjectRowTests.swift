import FileSource
import HealthModel
import Pipeline
import Profiles
import Testing

/// Rows that make categories and workouts.
@Suite struct ObjectRowTests {
    private static let sleep = """
        { id: "test", name: "Test", version: "1", channels: [{ channel: "csv",
          columns: { from: { names: ["from"] }, to: { names: ["to"] }, stage: { names: ["stage"] } },
          times: [{ columns: ["from"], patterns: ["iso8601"] }], end: { columns: ["to"], patterns: ["iso8601"] },
          readings: [{ column: "stage", type: "sleepAnalysis", cases: { deep: "asleepDeep", awake: "awake" } }] }] }
        """

    private static let activity = """
        { id: "test", name: "Test", version: "1", channels: [{ channel: "csv", empty: ["--"],
          columns: { start: { names: ["start"] }, time: { names: ["time"] }, what: { names: ["what"] }, rate: { names: ["rate"] } },
          times: [{ columns: ["start"], patterns: ["iso8601"] }], end: { duration: "time" },
          readings: [
            { column: "rate", type: "heartRateAverage", unit: "/min" },
            { column: "what", type: "workout", cases: { Run: "running" },
              figures: [{ column: "rate", type: "heartRate", unit: "/min", is: "average" }] },
          ] }] }
        """

    private func readings(_ document: String, _ lines: [String]) throws -> [Reading] {
        let profile = try Profile(json5: Array(document.utf8), file: "test.json5")
        let text = lines.joined(separator: "\n")
        let match = try #require(profile.match(firstLines: text))
        let interpreter = try ProfileInterpreter(match, registry: OriginRegistry(person: "me"))
        var readings: [Reading] = []
        let source = DelimitedFileSource(
            bytes: Array(text.utf8), delimiter: UInt8(ascii: ","), received: Instant(seconds: 1_900_000_000))
        try source.forEachFrame { frame in _ = try interpreter.interpret(frame, into: &readings) }
        return readings
    }

    @Test func aRowIsAStageOfSleep() throws {
        let readings = try readings(
            Self.sleep,
            [
                "from,to,stage", "2026-11-20T23:00:00Z,2026-11-20T23:30:00Z,deep",
                "2026-11-20T23:30:00Z,2026-11-20T23:40:00Z,nap",
                "2026-11-20T23:30:00Z,2026-11-20T23:40:00Z,doze",
            ])
        // HKCategoryValueSleepAnalysis.asleepDeep is 4. An unlisted word is not a case, and two of them are different.
        #expect(readings.map(\.numeral.text) == ["4", "-1", "-1"])
        #expect(Set(readings.map(\.ordinal)).count == 3)
        #expect(readings.allSatisfy { $0.origin.kind == .category && $0.unit == .one && $0.group == .none })
    }

    /// The workout is added to the earlier samples, which do not change: they are alone in their row, and thus in no group.
    @Test func aRowIsAWorkout() throws {
        let readings = try readings(
            Self.activity,
            ["start,time,what,rate", "2026-11-20T17:00:00Z,00:30:30,Run,141", "2026-11-21T17:00:00Z,00:10:00,Run,--"])
        #expect(readings.map(\.origin.type.id) == ["heartRateAverage", "workout", "workout"])
        #expect(readings.allSatisfy { $0.group == .none && $0.ordinal == 0 })
        #expect(readings[1].numeral.text == "37")
        let workout = try #require(readings[1].body).decoded(as: Workout.self)
        #expect(workout.duration == Amount(Numeral(coefficient: 1830), Workout.second))
        #expect(workout.statistics.map(\.type) == ["heartRate"])
        #expect(workout.statistics.first?.average?.numeral.text == "141")
        #expect(try #require(readings[2].body).decoded(as: Workout.self).statistics.isEmpty)
    }

    @Test(arguments: [
        (#"cases: { deep: "asleepDeep""#, #"cases: { deep: "asleepDeeep""#, "'asleepDeeep' is not a case of sleepAnalysis"),
        (#"type: "sleepAnalysis""#, #"type: "sleepAnalysis", unit: "kg""#, "sleepAnalysis has none"),
        (#", cases: { deep: "asleepDeep", awake: "awake" }"#, "", "cases is missing"),
        (#"type: "sleepAnalysis""#, #"type: "bloodPressure""#, "a row can contain quantities, categories and workouts"),
        (#"type: "sleepAnalysis""#, #"type: "bodyMass", unit: "kg""#, "a quantity has none"),
        (#"awake: "awake" }"#, #"awake: "awake" }, figures: [{}]"#, "only a workout has figures"),
    ]) func errorsDescribeMistake(_ part: String, _ instead: String, _ reason: String) throws {
        let text = Self.sleep.split(separator: part, omittingEmptySubsequences: false).joined(separator: instead)
        let error = #expect(throws: ProfileErrors.self) { try Profile(json5: Array(text.utf8), file: "test.json5") }
        #expect("\(try #require(error))".contains(reason), "\(String(describing: error))")
    }
}
