import HealthModel
import Pipeline
import Profiles
import Testing

/// A profile around a channel's text.
func profile(
    _ columns: String = "time: { names: [\"Time\"] }, value: { names: [\"Weight\"] }",
    times: String = "{ columns: [\"time\"], patterns: [\"iso8601\"] }",
    readings: String = "{ column: \"value\", type: \"bodyMass\", unit: \"kg\" }", more: String = "", id: String = "test"
) throws -> Profile {
    let text = """
        { id: "\(id)", name: "Test", version: "1", channels: [ { channel: "csv", columns: { \(columns) }, times: [\(times)],
          readings: [\(readings)], \(more) } ] }
        """
    return try Profile(json5: Array(text.utf8), file: "test.json5")
}

@Suite struct ProfileTests {
    static func problems(_ make: () throws -> Profile) -> [String] {
        do {
            _ = try make()
            return []
        } catch let errors as ProfileErrors {
            return errors.problems.map { "\($0.keyPath): \($0.message)" }
        } catch {
            return ["\(error)"]
        }
    }

    @Test func reportsMistakesWithKey() {
        let found = Self.problems {
            try profile(
                times: "{ columns: [\"tim\"], patterns: [\"yyyy-MM-dd\"], zon: \"local\" }",
                readings:
                    "{ column: \"value\", type: \"bodyMas\", unit: \"mm[Hg]\" }, "
                    + "{ column: \"value\", type: \"bodyMass\", unit: \"mm[Hg]\" }",
                more: "wibble: 1")
        }
        for (path, part) in [
            ("channels[0].wibble", "unknown key"), ("channels[0].times[0].zon", "unknown key"),
            ("channels[0].times[0].columns", "no column 'tim'"),
            ("channels[0].times[0].patterns", "a date alone is not a time"), ("channels[0].readings[0].type", "a quantity type"),
            ("channels[0].readings[1].unit", "bodyMass"),
        ] {
            #expect(found.contains { $0.hasPrefix(path) && $0.contains(part) }, "\(path): \(found)")
        }
    }

    @Test(arguments: [
        ("", "not JSON5"), ("{", "not JSON5"), ("[]", "an object is expected"), ("{}", "id is missing"),
        (#"{id: "A b", name: "", version: "", channels: []}"#, "lower-case letters"),
        (#"{id: 7, name: "", version: "", channels: []}"#, "a text is expected"),
        (#"{id: "a", name: "", version: "", channels: [7]}"#, "a channel is an object"),
    ])
    func refusesInvalidProfiles(text: String, part: String) {
        let found = Self.problems { try Profile(json5: Array(text.utf8), file: "x") }
        #expect(found.contains { $0.contains(part) }, "\(found)")
    }

    @Test func reportsCountsWithoutPeriod() {
        let steps = "{ column: \"value\", type: \"stepCount\", unit: \"1{steps}\" }"
        func problems(_ readings: String, times: String = "{ columns: [\"time\"], patterns: [\"iso8601\"] }", _ more: String = "")
            -> [String]
        {
            Self.problems { try profile(times: times, readings: readings, more: more) }
        }
        let found = problems(steps)
        #expect(found.count == 1 && found[0].hasPrefix("channels[0].readings[0]: stepCount is counted over a period"), "\(found)")
        #expect(problems(steps, "end: { after: 1, in: \"min\" }") == [])
        #expect(problems(steps, times: "{ columns: [\"time\"], patterns: [\"yyyy-MM-dd\"], day: true }") == [])
        let moment = steps.replacing(" }", with: ", moment: true }")
        #expect(problems(moment, "end: { after: 1, in: \"min\" }").count == 1)
        // A meal is an event.
        #expect(problems("{ column: \"value\", type: \"dietaryProtein\", unit: \"g\" }") == [])
    }

    @Test(arguments: [
        ("record: {}", "one of id and period"), ("record: { period: true, id: \"time\" }", "one of id and period"),
        ("record: { id: \"time\", version: \"value\", longer: true }", "one of version, grows and longer"),
        ("record: { period: true, parts: true }", "needs an id and a version"),
        ("end: { after: 1 }", "in is missing"), ("end: { after: 0, in: \"s\" }", "in is missing"),
    ])
    func reportsMistakesInRecords(more: String, part: String) {
        let found = Self.problems { try profile(more: more) }
        #expect(found.contains { $0.contains(part) }, "\(found)")
    }

    @Test func channelsOfOtherKindsAreLeftToOthers() throws {
        let text =
            #"{id: "a", name: "A", version: "1", channels: [{channel: "hid:CMS50", layout: []}], "#
            + #"match: {names: ["a"]}, procedures: {}, corrections: []}"#
        #expect(try Profile(json5: Array(text.utf8), file: "a.json5").channels == ["hid:CMS50"])
    }

    @Test func mostSpecificProfileWinsAndTiesAreRefused() throws {
        let small = try profile(id: "small")
        let large = try profile(
            "time: { names: [\"Time\"] }, value: { names: [\"Weight\"] }, note: { names: [\"Note\"] }", id: "large")
        let same = try profile(id: "same")
        #expect(try ProfileLibrary([small, large]).match(firstLines: "Time,Weight,Note\n").profile.id == "large")
        #expect(try ProfileLibrary([small, large]).match(firstLines: "Time,Weight,Memo\n").profile.id == "small")
        #expect(throws: ProfileMatchError.severalMatch(ids: ["same", "small"])) {
            try ProfileLibrary([small, same]).match(firstLines: "Time,Weight\n")
        }
        #expect(try ProfileLibrary([small, same]).match(firstLines: "Time,Weight\n", profile: "same").profile.id == "same")
        #expect(throws: ProfileMatchError.noSuchProfile(id: "none")) {
            try ProfileLibrary([small]).match(firstLines: "Time,Weight\n", profile: "none")
        }
    }

    @Test func unknownFileErrorShowsHeaderWithoutValues() throws {
        let library = ProfileLibrary([try profile()])
        for (text, seen) in [
            ("When;Mass\n2026-01-01;81\n", "2 columns between ';': When, Mass"),
            ("2026-01-01,81.25\n", "2 columns between ',', and its first line is not a header"),
            ("hello\n", "its first line has no"), ("[{\"a\": 1}]", "it is JSON"), ("<a/>", "it is XML"),
        ] {
            do {
                _ = try library.match(firstLines: text)
                Issue.record("matched")
            } catch {
                #expect("\(error)".contains(seen) && "\(error)".contains("profile suggest"), "\(error)")
                #expect(!"\(error)".contains("81"))
            }
        }
    }

    @Test func theLaterDirectoryWins() throws {
        let library = ProfileLibrary([try profile(id: "a"), try profile(more: "notes: [\"mine\"]", id: "a")])
        #expect(library.profiles.count == 1)
        let interpreter = try ProfileInterpreter(
            library.match(firstLines: "Time,Weight\n"), registry: OriginRegistry(person: "me"))
        #expect(interpreter.notes == ["mine"])
    }

    @Test func draftNamesOnlyUnitsInFile() throws {
        let text = "When;Systolic (mmHg);Weight;Note\n13-02-2026 08:00;120;81,3;secret\n14-02-2026 08:00;121;81,4;x\n"
        let draft = ProfileSuggestion(firstLines: text, id: "my-scale").json5
        #expect(draft.contains(#"type: "bloodPressureSystolic", unit: "mm[Hg]""#))
        #expect(draft.contains(#"type: "bodyMass", unit: "FILL-IN""#))
        #expect(draft.contains(#"patterns: ["dd-MM-yyyy HH:mm"]"#))
        #expect(!draft.contains("secret") && !draft.contains("81,3"))
        // The draft is refused as it is. Filled in, it reads the file.
        #expect(!Self.problems { try Profile(json5: Array(draft.utf8), file: "") }.isEmpty)
        let filled = draft.split(separator: "FILL-IN\"").joined(separator: "kg\"")
        #expect(Self.problems { try Profile(json5: Array(filled.utf8), file: "") } == [])
        for unusual in ["", "\n\n", "a", "\"", ",,,\n", "\u{0}"] { _ = ProfileSuggestion(firstLines: unusual, id: "x").json5 }
    }
}
