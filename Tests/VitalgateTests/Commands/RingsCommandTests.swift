import Glibc
import Testing

/// Rings and characteristics as a person asks for them.
@Suite struct RingsCommandTests {
    private func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write("export.xml", Array(try Repository.data("Examples/rings/export.xml")))
        #expect(try folder.vitalgate("import", folder.path("export.xml")).status == 0)
        return folder
    }

    @Test func inASCII() throws {
        let folder = try folder()
        let run = try folder.vitalgate(
            "rings", "--from", "2026-11-20", "--time-zone", "Europe/Berlin", environment: ["LC_ALL": "C"])
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(run.output.utf8.allSatisfy { $0 < 0x80 && $0 != 0x1B })
        #expect(run.output.contains("move      421.5 of 500 kcal"))
    }

    @Test func ofADayWithoutAnything() throws {
        let folder = try folder()
        let run = try folder.vitalgate("rings", "--from", "2020-01-01", "--to", "2020-02-01")
        #expect(run.status == 0 && run.output.isEmpty && run.errors == "no rings for these days\n")
        let csv = try folder.vitalgate("rings", "--from", "2020-01-01", "--to", "2020-02-01", "--format", "csv")
        #expect(csv.lines.count == 1)
        #expect(try folder.vitalgate("rings", "--from", "2026-11-20", "--to", "2026-11-19").status == 64)
        #expect(try folder.vitalgate("rings", "--person", "nobody").status == 64)
    }

    /// Samples that arrived today are listed, whenever they were measured, after the rings of the day.
    @Test func today() throws {
        let folder = try folder()
        // Where it is noon now, so that no midnight comes between.
        let hours = 12 - time(nil) / 3600 % 24
        let noon = ["--time-zone", "\(hours < 0 ? "-" : "+")\(abs(hours) < 10 ? "0" : "")\(abs(hours)):00"]
        let run = try folder.vitalgate(["today", "--format", "ndjson"] + noon)
        #expect(run.status == 0)
        let types = try run.lines.map { try JSON($0)["type"].text }
        #expect(types == ["activeEnergyBurned", "appleExerciseTime", "appleStandHour", "stepCount"])
        #expect(try folder.vitalgate(["today", "--format", "csv"] + noon).lines.count == 5)
        #expect(try folder.vitalgate(["today"] + noon).lines.count == 5)
    }

    /// No message has a value, whatever was written.
    @Test(arguments: [
        ["bloodType", "Q+"], ["dateOfBirth", "2990-01-31"], ["dateOfBirth", "31.1.1990"], ["bloodType"], ["shoeSize", "43"],
        ["bloodType", "A+", "--clear"], ["wheelchairUse", "perhaps"], ["bloodType", "A+", "--from", "never"],
    ])
    func refusesInvalidValues(arguments: [String]) throws {
        let folder = try folder()
        let run = try folder.vitalgate(["characteristics", "set"] + arguments)
        #expect(run.status == 64 && run.output.isEmpty)
        for text in arguments.dropFirst() where !text.hasPrefix("-") && text != "A+" && text != "never" {
            #expect(!run.errors.contains(text))
        }
        #expect(try folder.vitalgate("characteristics", "list", "--format", "ndjson").output.isEmpty)
    }

    @Test func areSetAndListed() throws {
        let folder = try folder()
        #expect(try folder.vitalgate("people", "add", "Anna").status == 0)
        let set = try folder.vitalgate("characteristics", "set", "biologicalSex", "F", "--person", "Anna")
        #expect(set.status == 0 && set.output.isEmpty && !set.errors.contains("female"))
        #expect(try folder.vitalgate("characteristics", "set", "bloodType", "HKBloodTypeABNegative").status == 0)
        #expect(try folder.vitalgate("characteristics", "list", "--format", "ndjson").lines.count == 2)
        let anna = try folder.vitalgate("characteristics", "list", "--person", "Anna")
        #expect(anna.output.contains("female") && !anna.output.contains("AB-"))
        #expect(try folder.vitalgate("characteristics", "set", "bloodType", "--clear").status == 0)
        #expect(try folder.vitalgate("characteristics", "list", "--format", "ndjson").lines.count == 1)
        #expect(try folder.vitalgate("characteristics", "list", "--history", "--format", "ndjson").lines.count == 3)
        #expect(try folder.vitalgate("characteristics", "set", "bloodType", "A+", "--person", "unassigned").status == 65)
        // A copy has them, too.
        #expect(try folder.vitalgate("store", "backup", folder.path("copy.db")).status == 0)
        let copy = try folder.vitalgate(
            "characteristics", "list", "--history", "--format", "ndjson", store: folder.path("copy.db"))
        #expect(copy.lines.count == 3)
        #expect(try folder.vitalgate("store", "check", "--deep").status == 0)
    }
}
