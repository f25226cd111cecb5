import Ingestion
import PipelineTesting
import Testing

/// A household with one scale: the person is identified by weight ranges, or not at all.
@Suite struct SharedScaleTests {
    let folder: TestFolder
    let scale: Pty
    static let anna = "7f9c0000-0000-4000-8000-000000000001"
    static let ben = "7f9c0000-0000-4000-8000-000000000002"

    init() throws {
        folder = try TestFolder()
        scale = try Pty()
        #expect(try folder.vitalgate("people", "add", "Anna", "--id", Self.anna).output == "\(Self.anna)\n")
        #expect(try folder.vitalgate("people", "add", "Ben B", "--id", Self.ben.uppercased()).output == "\(Self.ben)\n")
        let run = try folder.vitalgate("devices", "adopt", scale.path, "--profile", "generic-lines", "--name", "scale")
        #expect(run.status == 0, "\(run.errors)")
    }

    private func assign(_ person: String, _ range: String) throws -> String {
        let run = try folder.vitalgate("devices", "assign", "scale", "--person", person, "--range", range)
        #expect(run.status == 0, "\(run.errors)")
        return run.errors
    }

    /// Weighs until the store has this many samples, and returns the hub's log.
    private func weigh(_ lines: [String], until count: Int) throws -> String {
        let hub = try RunningHub(folder)
        try hub.waits("it works") { hub.count("it is plugged in") == 1 }
        for line in lines { scale.write(line + "\n") }
        try hub.waits("it is stored") { try samples().count == count }
        return try hub.stop().errors
    }

    private func samples(_ arguments: String...) throws -> [JSON] {
        try folder.vitalgate(["query", "all", "--format", "ndjson"] + arguments).lines.map { try JSON($0) }
    }

    private func values(of person: String) throws -> [Double] {
        try samples("--person", person).compactMap { $0["original"]["value"].text.flatMap(Double.init) }.sorted()
    }

    @Test func assignsWeightsOfTwoPeople() throws {
        _ = try assign("Anna", "50..65")
        _ = try assign("Ben B", "154..198 [lb_av]")
        let log = try weigh(
            [
                "bodyMass=58.2 kg; bodyFatPercentage=24.5 %", "bodyMass=81.5 kg; bodyFatPercentage=19 %", "bodyMass=15.3 kg",
                "bodyMass=67 kg",
            ], until: 6)
        #expect(try values(of: "Anna") == [24.5, 58.2], "what was measured in one frame is one person's")
        #expect(try values(of: Self.ben) == [19, 81.5])
        #expect(try values(of: "unassigned") == [15.3, 67])
        #expect(try values(of: "me") == [])
        for word in ["Anna", "Ben", "58.2", "81.5"] { #expect(!log.contains(word), "neither names nor values: \(log)") }
        let account = try JSON(folder.vitalgate("ledger", "show", "1", "--format", "ndjson").last)
        #expect((account["read"].integer, account["stored"].integer) == (6, 6))
        #expect(try folder.vitalgate("store", "check", "--deep").status == 0)
    }

    @Test func twinsAreNotGuessed() throws {
        #expect(!(try assign("Anna", "50..65")).contains("meets"))
        #expect((try assign("Ben B", "60..75")).contains("weighings in both are unassigned"))
        _ = try weigh(["bodyMass=62 kg; bodyFatPercentage=20 %", "bodyMass=55 kg", "bodyMass=70 kg"], until: 4)
        #expect(try values(of: "unassigned") == [20, 62])
        #expect(try values(of: "Anna") == [55])
        #expect(try values(of: "Ben B") == [70])
    }

    /// A later assignment is a repair: a deletion and an addition for readers of changes, and it can be undone.
    @Test func assignedLater() throws {
        _ = try assign("Anna", "50..65")
        _ = try weigh(["bodyMass=90 kg; bodyFatPercentage=20 %", "bodyMass=91 kg"], until: 3)
        let before = try samples("--person", "unassigned")
        let measured = try #require(before.first { $0["type"].text == "bodyFatPercentage" })
        let fat = try #require(measured["uuid"].text)
        let anchor = try #require(try folder.vitalgate("changes").objects().last?["anchor"].text)
        let run = try folder.vitalgate("devices", "assign", "--samples", fat, "--person", "Ben B")
        #expect(run.status == 0 && run.errors.contains("2 samples assigned"), "\(run.errors)")
        #expect(try values(of: "Ben B") == [20, 90], "the weight goes with it")
        #expect(try values(of: "unassigned") == [91])
        let moved = try samples("--person", "Ben B")
        #expect(
            Set(moved.compactMap { $0["start"].text }).isSubset(of: Set(before.compactMap { $0["start"].text })), "the time stays"
        )
        let changes = try folder.vitalgate("changes", "--after", anchor).lines.map { try JSON($0) }
        #expect(changes.map { $0["deleted"].text != nil } == [true, false, true, false])
        #expect(Set(changes.compactMap { $0["uuid"].text }) == Set(moved.compactMap { $0["uuid"].text }))
        #expect(try folder.vitalgate("store", "check", "--deep").status == 0)
        let again = try folder.vitalgate("devices", "assign", "--samples", moved[0]["uuid"].text ?? "", "--person", "Ben B")
        #expect(again.status == 0 && again.errors.contains("nothing changed: the samples already belong"), "\(again.errors)")
        #expect(try folder.vitalgate("repair", "undo", "1").status == 0)
        #expect(
            Set(try samples("--person", "unassigned").compactMap { $0["uuid"].text })
                == Set(before.compactMap { $0["uuid"].text }))
    }

    /// A scale with a memory sends it again after the ranges were changed. Known weighings keep their person and are stored once.
    @Test func readAgainUnderOtherRanges() throws {
        _ = try assign("Anna", "50..65")
        let memory = ["bodyMass,58,kg,2025-06-01T06:10:00Z", "bodyMass,80,kg,2025-06-01T06:20:00Z"]
        _ = try weigh(memory, until: 2)
        _ = try assign("Ben B", "70..90")
        _ = try assign("Anna", "40..50")
        _ = try weigh(memory + ["bodyMass,81,kg,2025-06-02T06:20:00Z"], until: 3)
        #expect(try values(of: "Anna") == [58])
        #expect(try values(of: "unassigned") == [80])
        #expect(try values(of: "Ben B") == [81])
    }

    @Test func onePersonAgain() throws {
        _ = try assign("Anna", "50..65")
        let listed = try JSON(folder.vitalgate("devices", "list", "--format", "ndjson").last)
        #expect((listed["subject"].text, listed["ranges"].list.first?["low"].integer) == ("unassigned", 50))
        #expect(try folder.vitalgate("devices", "assign", "scale", "--person", "Anna").status == 0)
        _ = try weigh(["bodyMass=90 kg"], until: 1)
        #expect(try values(of: "Anna") == [90])
    }

    @Test func wrongWords() throws {
        for arguments in [
            ["scale", "--person", "Anna", "--range", "80..60"], ["scale", "--person", "Anna", "--range", "60"],
            ["scale", "--person", "unassigned", "--range", "60..80"], ["--person", "Anna"], ["scale"],
            ["scale", "--person", "Nobody", "--range", "60..80"],
        ] {
            let run = try folder.vitalgate(["devices", "assign"] + arguments)
            #expect(run.status == 64, "\(arguments): \(run.status) \(run.errors)")
            #expect(!run.errors.contains("Nobody"))
        }
        let run = try folder.vitalgate("devices", "assign", "none", "--person", "Anna", "--range", "60..80")
        #expect(run.status == 65)
        #expect(try folder.vitalgate("devices", "assign", "scale", "--person", "Anna", "--range", "60..80 cm").status == 65)
    }
}
