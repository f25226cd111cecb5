import FoundationEssentials
import Profiles
import Testing

/// Drafts for unknown files, and common mistakes in a user's first JSON5.
@Suite struct DraftTests {
    func draft(_ lines: String...) -> String {
        ProfileSuggestion(firstLines: lines.joined(separator: "\n") + "\n", id: "draft").json5
    }

    /// The words for common types in a few languages, and the unit only if the name shows it.
    @Test(arguments: [
        ("Gewicht (kg)", "bodyMass", "kg"), ("Poids [kg]", "bodyMass", "kg"), ("Peso", "bodyMass", "FILL-IN"),
        ("Weight lb", "bodyMass", "[lb_av]"), ("SYS(mmHg)", "bloodPressureSystolic", "mm[Hg]"),
        ("Diastólica (mmHg)", "bloodPressureDiastolic", "mm[Hg]"), ("Puls", "heartRate", "FILL-IN"),
        ("Hartslag (bpm)", "heartRate", "/min"), ("Fréquence cardiaque", "heartRate", "FILL-IN"),
        ("Blutzucker mg/dL", "bloodGlucose", "mg/dL"), ("Glycémie (mmol/L)", "bloodGlucose", "mmol/L"),
        ("Température °C", "bodyTemperature", "Cel"), ("SpO2 %", "oxygenSaturation", "%"), ("Schritte", "stepCount", "1"),
        ("Pas", "stepCount", "1"), ("Passt", "FILL-IN", "FILL-IN"), ("Heart rate variability", "FILL-IN", "FILL-IN"),
        ("Druck (mmHg)", "FILL-IN", "mm[Hg]"),
    ])
    func guessesTypesByWords(name: String, type: String, unit: String) {
        let text = draft("Zeit;\(name)", "2026-11-20 06:31;61")
        #expect(text.contains("type: \"\(type)\", unit: \"\(unit)\" }"), "\(text)")
    }

    @Test(arguments: [
        ("2026-11-20 06:31", ["yyyy-MM-dd HH:mm"]), ("2026-11-20 06:31:00", ["yyyy-MM-dd HH:mm:ss"]),
        ("2026-11-20T06:31:00+01:00", ["iso8601"]), ("20/11/2026 06:31", ["dd/MM/yyyy HH:mm"]),
        ("03/04/2026 06:31", ["dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm"]), ("3.4.2026 06:31", ["d.M.yyyy HH:mm"]),
    ])
    func draftsHowTimesAreWritten(time: String, patterns: [String]) {
        let list = patterns.map { "\"\($0)\"" }.joined(separator: ", ")
        #expect(draft("When;Weight (kg)", "\(time);71").contains("columns: [\"when\"], patterns: [\(list)]"))
    }

    @Test(arguments: [
        ("2026-11-20", "06:31", "yyyy-MM-dd HH:mm"), ("20.11.2026", "06:31:05", "dd.MM.yyyy HH:mm:ss"),
        ("11/20/2026", "6:31 PM", "MM/dd/yyyy h:mm a"),
    ])
    func joinsDateAndTime(date: String, time: String, pattern: String) {
        let text = draft("Weight (kg);Time;Date", "71;\(time);\(date)")
        #expect(text.contains("columns: [\"date\", \"time\"], patterns: [\"\(pattern)\"]"), "\(text)")
        #expect(text.contains("date: { names: [\"Date\"] },") && text.contains("time: { names: [\"Time\"] },"))
    }

    /// The search for a mistake finds none in a valid profile, and one in every truncated profile.
    @Test(arguments: ProfileLibrary.files(in: deviceProfiles))
    func findsFaultsOnlyInInvalidProfiles(file: String) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: file)))
        #expect(JSON5Fault.find(in: bytes) == nil)
        guard let end = bytes.lastIndex(of: UInt8(ascii: "}")) else { return }
        for length in stride(from: 0, through: end, by: max(7, end / 40)) {
            #expect(JSON5Fault.find(in: Array(bytes[..<length])) != nil)
        }
    }

    /// A file that the import sends here because it has no header. The draft names the columns and the line that the file lacks.
    @Test func draftsProfileForFileWithoutHeader() throws {
        let text = "2026-11-20 06:31;71,3;52\n2026-11-21 06:32;71,4;53\n"
        let suggestion = ProfileSuggestion(firstLines: text, id: "scale")
        #expect(suggestion.addedHeader == "time;column2;column3" && suggestion.isTable)
        let draft = suggestion.json5
        #expect(draft.contains("Insert this line at its beginning: time;column2;column3"))
        #expect(draft.contains("columns: [\"time\"], patterns: [\"yyyy-MM-dd HH:mm\"]"))
        #expect(draft.contains("column: \"column2\", type: \"FILL-IN\"") && !draft.contains("71") && !draft.contains("2026"))
        #expect(ProfileSuggestion(firstLines: "2026-11-20,06:31,71\n", id: "x").addedHeader == "date,time,column3")
        #expect(ProfileSuggestion(firstLines: "When,Weight\n2026-11-20 06:31,71\n", id: "x").addedHeader == nil)
        #expect(!ProfileSuggestion(firstLines: "71\n72\n", id: "x").isTable)
    }
}
