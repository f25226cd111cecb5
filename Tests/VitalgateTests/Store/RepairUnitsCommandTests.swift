import FoundationEssentials
import Glibc
import Testing

/// `migrate` as a person and as a program use it.
@Suite struct RepairUnitsCommandTests {
    private static let csv = """
        time,type,value,unit,source
        2026-03-01T07:00:00Z,bodyTemperature,98,Cel,Thermo
        2026-03-02T07:00:00Z,bodyTemperature,36.9,Cel,Thermo
        2026-03-03T07:00:00Z,bodyTemperature,101.2,Cel,Thermo

        """
    private static let repair = ["--type", "bodyTemperature", "--source", "Thermo", "--read-as", "[degF]", "--format", "ndjson"]

    private func thermometer() throws -> TestFolder {
        let folder = try TestFolder()
        #expect(try folder.vitalgate("import", try folder.write("a.csv", Self.csv), "--person", Family.person).status == 0)
        return folder
    }

    @Test("the thermometer that stored 98 for °F as 98 °C, by the command line") func theSeedCase() throws {
        let folder = try thermometer()
        let plan = try #require(try folder.vitalgate(["repair", "plan"] + Self.repair).objects().first)
        #expect(plan["matched"].integer == 3 && plan["repaired"].integer == 2 && plan["alreadyRight"].integer == 1)
        #expect(plan["migration"] == .null)
        #expect(try plan["reasons"] == JSON(#"{"plausibleAsItIs":1}"#))
        let old = try #require(try folder.vitalgate("query", "all", "--format", "ndjson").objects().first?["uuid"].text)

        let run = try folder.vitalgate(["repair", "apply"] + Self.repair)
        #expect(run.status == 0)
        #expect(try run.objects().first?["migration"].integer == 1)
        let samples = try folder.vitalgate("query", "bodyTemperature", "--format", "ndjson").objects()
        #expect(samples.map { $0["value"].double } == [98.0, 36.9, 101.2].map { $0 == 36.9 ? 36.9 : ($0 - 32) / 1.8 })
        #expect(samples.map { $0["original"]["value"].text } == ["98", "36.9", "101.2"])
        #expect(samples.map { $0["original"]["unit"].text } == ["[degF]", "Cel", "[degF]"])

        let repaired = try #require(samples.first)
        let new = try #require(repaired["uuid"].text)
        let query = try folder.vitalgate("query", old)
        #expect(query.errors.contains("\(old) was replaced by \(new) (repair 1: read as [degF])"))
        let again = try folder.vitalgate("import", folder.path("a.csv"), "--person", Family.person, "--format", "ndjson")
        let account = try Account(again.last)
        #expect(account.stored == 0 && account.duplicate == 3 && account.addsUp)
        #expect(again.errors.contains("2 of the duplicates were repaired after the earlier import"))
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")

        #expect(try folder.vitalgate("repair", "undo", "1").status == 0)
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").objects().first?["uuid"].text == old)
        #expect(try folder.vitalgate("repair", "undo", "1").status == 65)
        let list = try folder.vitalgate("repair", "list", "--format", "ndjson").objects()
        #expect(list.map { $0["state"].text } == ["undone"])
    }

    @Test(arguments: [
        (["plan"], "one of --read-as"), (["plan", "--read-as", "[degF]"], "--type"), (["plan", "--shift", "+1h"], "a condition"),
        (["apply", "--type", "heartRate", "--scale", "0"], "other than 0 and 1"),
        (["apply", "--type", "heartRate", "--scale", "2", "--shift", "+1h"], "only one repair"),
        (["plan", "--type", "heartRate", "--shift", "soon"], "a time such as +1h"), (["undo", "x"], "N"),
        (["plan", "--correction", "none/such"], "corrections"),
    ])
    func refusesImpossibleUnits(arguments: [String], message: String) throws {
        let folder = try thermometer()
        let run = try folder.vitalgate(["repair"] + arguments)
        #expect(run.status == 64 && run.errors.contains(message), "\(run.errors)")
        #expect(try folder.vitalgate("repair", "list").lines.count == 1)
    }

    @Test func unknownUnitIsDataError() throws {
        let folder = try thermometer()
        #expect(try folder.vitalgate("repair", "plan", "--type", "bodyTemperature", "--read-as", "degX").status == 65)
        #expect(try folder.vitalgate("repair", "undo", "7").status == 65)
        #expect(try folder.vitalgate("repair", "show", "7").status == 65)
    }

    @Test func dismissesSuggestions() throws {
        let folder = try TestFolder()
        let values = [36.6, 36.7, 36.6, 98.2, 98.4, 97.9, 98.6, 98.1, 36.7, 36.8, 36.6]
        var csv = "time,type,value,unit,source\n"
        for (day, value) in values.enumerated() {
            csv += "2026-03-\(10 + day)T07:00:00Z,bodyTemperature,\(value),Cel,Thermo\n"
        }
        try folder.vitalgate("import", try folder.write("a.csv", csv))
        func suggestions(_ options: String...) throws -> [JSON] {
            try folder.vitalgate(["repair", "suggest", "--format", "ndjson"] + options).objects()
        }
        func dismiss(_ options: String...) throws -> String {
            let run = try folder.vitalgate(["repair", "dismiss", "--type", "bodyTemperature"] + options)
            #expect(run.status == 0)
            return run.errors
        }
        #expect(try suggestions().count == 1)
        // Not all of its readings are selected.
        for condition in [
            ["--from", "2026-03-14"], ["--to", "2026-03-17T07:00:00Z"], ["--source", "Other"], ["--person", "unassigned"],
        ] {
            let run = try folder.vitalgate(["repair", "dismiss", "--type", "bodyTemperature"] + condition)
            #expect(run.status == 0 && run.errors.contains("no suggestion matches"))
        }
        #expect(
            try dismiss("--source", "Thermo", "--from", "2026-03-13", "--to", "2026-03-18").contains("1 suggestion dismissed"))
        #expect(try suggestions().isEmpty)
        let dismissed = try #require(try suggestions("--dismissed").first)
        #expect(
            dismissed["type"].text == "bodyTemperature" && dismissed["subject"].text == "me" && dismissed["fits"].text == "[degF]"
        )
        #expect(dismissed["from"].text == "2026-03-13T07:00:00.000000Z" && dismissed["to"].text == "2026-03-17T07:00:00.000000Z")
        #expect(try dismiss("--undo").contains("1 suggestion no longer dismissed"))
        #expect(try suggestions().count == 1 && suggestions("--dismissed").isEmpty)
        #expect(try folder.vitalgate("repair", "dismiss").status == 64)
    }

    /// A profile whose next version corrects the errors of the first one.
    @Test func aProfilesCorrection() throws {
        let folder = try TestFolder()
        try folder.write("profiles/none", "", makingFolder: true)
        func profile(_ unit: String, _ corrections: String) -> String {
            """
            {
              id: "test-scale", name: "Test scale", version: "2",
              channels: [{ channel: "csv", columns: { time: { names: ["when"] }, weight: { names: ["weight"] } },
                times: [{ columns: ["time"], patterns: ["iso8601"] }],
                readings: [{ column: "weight", type: "bodyMass", unit: "\(unit)" }] }],
              corrections: [\(corrections)],
              vectors: [],
            }
            """
        }
        let file = try folder.write("scale.csv", "when,weight\n2026-03-01T07:00:00Z,154.3\n2026-03-02T07:00:00Z,155.1\n")
        try folder.write("profiles/test-scale.json5", profile("kg", ""))
        let options = ["--profiles", folder.path("profiles")]
        #expect(try folder.vitalgate(["import", file] + options).status == 0)
        let correction = """
            { id: "pounds", note: "weights were pounds", types: ["bodyMass"], readAs: "[lb_av]", ambiguous: true }
            """
        try folder.write("profiles/test-scale.json5", profile("[lb_av]", correction))
        let suggested = try folder.vitalgate(["repair", "suggest", "--format", "ndjson"] + options).objects()
        #expect(suggested.map { $0["correction"].text } == ["test-scale/pounds"])
        #expect(suggested.map { $0["repaired"].integer } == [2])
        // Nothing unasked.
        #expect(try folder.vitalgate("repair", "list").lines.count == 1)
        #expect(try folder.vitalgate(["repair", "apply", "--correction", "test-scale/pounds"] + options).status == 0)
        let values = try folder.vitalgate("query", "bodyMass", "--format", "ndjson").objects().compactMap { $0["value"].double }
        #expect(values == [69.989302691, 70.352176587])
        // Read with the corrected profile, the file gives nothing new, and no correction is pending.
        let again = try Account(try folder.vitalgate(["import", file, "--format", "ndjson"] + options).last)
        #expect(again.stored == 0 && again.duplicate == 2)
        #expect(try folder.vitalgate(["repair", "suggest"] + options).errors.contains("no suspicious samples found"))
    }

    /// Killed at any point, a repair is done or not begun.
    @Test(arguments: [0, 1, 2, 3, 5, 8, 13]) func killedInTheMiddle(pages: Int) throws {
        let folder = try TestFolder()
        var csv = Array("time,type,value,unit\n".utf8)
        for index in 0..<20_000 {
            csv +=
                "2026-01-\(10 + index / 1440)T\(10 + index / 60 % 14):\(10 + index % 50):\(10 + index / 840 % 50)Z,bodyTemperature,\(95 + index % 8).\(index % 10),Cel\n"
                .utf8
        }
        try folder.vitalgate("import", try folder.write("a.csv", csv), "--person", Family.person)
        func content() throws -> String {
            let run = try folder.vitalgate("query", "all", "--format", "ndjson")
            #expect(run.status == 0)
            return run.output
        }
        let before = try content()
        let process = try folder.start("repair", "apply", "--type", "bodyTemperature", "--read-as", "[degF]")
        // The log grows while the repair writes. A process that has ended writes no more.
        func size() -> Int {
            var status = stat()
            return stat(folder.store + "-wal", &status) == 0 ? Int(status.st_size) : 0
        }
        while size() < pages * 200_000, !process.hasEnded { usleep(200) }
        process.signal(SIGKILL)
        _ = try process.wait()
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        let repairs = try folder.vitalgate("repair", "list", "--format", "ndjson").lines.count
        if repairs == 0 {
            #expect(try content() == before)
        } else {
            #expect(try content() != before)
        }
        // Another run completes it, or finds nothing to do.
        #expect(try folder.vitalgate("repair", "apply", "--type", "bodyTemperature", "--read-as", "[degF]").status == 0)
        #expect(try folder.vitalgate("repair", "undo", "1").status == 0)
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
    }
}

extension RunningVitalgate {
    /// Whether the process has ended. It is not reaped.
    var hasEnded: Bool {
        var information = siginfo_t()
        let code = waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
        return code != 0 || information.si_signo == SIGCHLD
    }
}

extension TestFolder {
    /// Writes a file in a folder below, which is made.
    @discardableResult
    func write(_ name: String, _ text: String, makingFolder: Bool) throws -> String {
        let folder = path(name).split(separator: "/").dropLast().map { "/" + $0 }.joined()
        if makingFolder { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        return try write(name, text)
    }
}
