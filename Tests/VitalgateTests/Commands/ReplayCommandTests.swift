import FoundationEssentials
import Glibc
import Testing

/// `run --capture`, `capture` and `replay`, as a person uses them.
@Suite struct ReplayCommandTests {
    let folder: TestFolder
    private var file: String { folder.path("field.ndjson") }

    init() throws { folder = try TestFolder() }

    /// Samples without their place in a store.
    private func samples(_ text: [String]) throws -> Set<String> {
        Set(text.map { $0.replacing(#/,"ingest":.*/#, with: "}") })
    }

    @Test(arguments: [["run", "--capture"], ["capture"]]) func aFieldReportIsATest(command: [String]) throws {
        let run = try folder.vitalgate(command + [file, "--simulate", "--once"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("contains health readings as the devices sent them"))
        #expect(folder.mode("field.ndjson") == 0o600)
        let stored = try samples(try folder.vitalgate("query", "all", "--format", "ndjson").lines)
        #expect(stored.count >= 5)
        // On another machine: in another zone, without a store.
        let other = try TestFolder()
        let printed = try RunningVitalgate(
            try other.options() + ["replay", file],
            environment: Vitalgate.environment(home: other.root, ["TZ": "Asia/Tokyo"])
        ).wait()
        #expect(printed.status == 0, "\(printed.errors)")
        #expect(try samples(printed.lines) == stored)
        #expect(!other.exists("store.db"))
        // The same again is the same text.
        #expect(try other.vitalgate("replay", file).output == printed.output)
        let into = try other.vitalgate("replay", file, "--into", other.path("copy.db"), "--format", "ndjson")
        #expect(into.status == 0, "\(into.errors)")
        #expect(try JSON(into.last)["stored"].integer == stored.count)
        let again = try other.vitalgate("replay", file, "--into", other.path("copy.db"), "--format", "ndjson")
        #expect(try JSON(again.last)["duplicate"].integer == stored.count)
        let copied = try other.vitalgate("query", "all", "--format", "ndjson", store: other.path("copy.db"))
        #expect(try samples(copied.lines) == stored)
        #expect(try other.vitalgate("store", "check", store: other.path("copy.db")).status == 0)
    }

    /// Simulated readings are never stored in a person's own store.
    @Test func simulatedReadingsStayInDemoStores() throws {
        #expect(try folder.vitalgate("run", "--capture", file, "--simulate", "--once").status == 0)
        let own = try TestFolder()
        #expect(try own.vitalgate("import", try own.write("one.csv", RunCommandTests.one)).status == 0)
        let run = try own.vitalgate("replay", file, "--into", own.store)
        #expect(run.status == 65)
        #expect(run.errors.contains("is not a demo store"))
        #expect(try own.vitalgate("query", "all", "--format", "ndjson").lines.count == 1)
    }

    /// The hub that writes the file runs on, and so does its account.
    @Test func whileTheHubRuns() throws {
        let hub = try RunningHub(folder, "--capture", file, "--simulate", inbox: false)
        try hub.waits { folder.text("field.ndjson").split(separator: "\n").count { $0.contains("\"frame\"") } >= 20 }
        let run = try folder.vitalgate("replay", file, "--into", folder.store, "--format", "ndjson")
        // A line may be cut while it is written.
        #expect(run.status == 0 || run.status == 65, "\(run.errors)")
        #expect(try JSON(run.last)["kind"].text == "import")
        let before = folder.size("field.ndjson")
        try hub.waits { folder.size("field.ndjson") > before }
        #expect(try hub.stop().status == 0)
        #expect(folder.text("field.ndjson").split(separator: "\n").last?.contains(#""event":"end""#) == true)
        #expect(try folder.vitalgate("store", "check").status == 0)
        let accounts = try folder.vitalgate("ledger", "list", "--format", "ndjson").lines.map { try JSON($0) }
        #expect(accounts.allSatisfy { $0["state"].text == "done" })
        #expect(accounts.count { $0["kind"].text == "live" } == 1)
        // The replay stored the readings that the hub had not committed yet. They are duplicates for the hub, and each is stored once.
        let stored = try samples(try folder.vitalgate("query", "all", "--format", "ndjson").lines)
        #expect(accounts.reduce(0) { $0 + ($1["stored"].integer ?? 0) } == stored.count)
        #expect(try samples(try folder.vitalgate("replay", file).lines) == stored)
    }

    @Test func refusesOtherFiles() throws {
        try folder.write("one.csv", RunCommandTests.one)
        let none = try folder.vitalgate("replay", folder.path("one.csv"), "--into", folder.store)
        #expect(none.status == 65)
        #expect(none.errors.contains("one.csv: line 1: not a capture"))
        #expect(!folder.exists("store.db"))
        #expect(try folder.vitalgate("replay", folder.path("nothing.ndjson")).status == 66)
        // A hub never overwrites a file that is not a capture.
        let run = try folder.vitalgate("run", "--capture", folder.path("one.csv"), "--simulate", "--once")
        #expect(run.status == 74)
        #expect(run.errors.contains("is not a capture: use another name"))
        #expect(folder.text("one.csv") == RunCommandTests.one)
        let small = try folder.vitalgate("run", "--capture", file, "--capture-size", "1000", "--simulate", "--once")
        #expect(small.status == 64)
    }

    /// A person may take a replay back as any import.
    @Test func aReplayIsUndone() throws {
        #expect(try folder.vitalgate("run", "--capture", file, "--simulate", "--once").status == 0)
        let other = try TestFolder()
        #expect(try other.vitalgate("replay", file, "--into", other.store).status == 0)
        #expect(try other.vitalgate("ledger", "undo", "1").status == 0)
        #expect(try other.vitalgate("query", "all", "--format", "ndjson").lines.isEmpty)
    }
}

/// `replay` of other programs' recordings. `Tests/FileSourceTests/Files/btsnoop/make.py` describes their content.
@Suite struct TrafficReplayTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static let devices = ["C0:01:02:03:04:01", "00:1B:DC:03:04:02", "a4:c1:38:03:04:03"]

    private func replay(_ name: String, _ more: String...) throws -> Vitalgate.Run {
        try folder.vitalgate(["replay", "\(Repository.files)/btsnoop/\(name)", "--time-zone", "Europe/Berlin"] + more)
    }

    @Test(arguments: ["household.btsnoop", "household-monitor.btsnoop"]) func replaysCaptureOfPhone(name: String) throws {
        let run = try replay(name, "--device", Self.devices[0], "--device", Self.devices[1], "--device", Self.devices[2])
        #expect(run.status == 0, "\(run.errors)")
        let samples = try run.lines.map { try JSON($0) }
        func values(_ type: String) -> [Double] { samples.filter { $0["type"].text == type }.compactMap { $0["value"].double } }
        #expect(values("heartRate") == [61, 62, 63, 64, 65, 66, 67])
        #expect(values("heartbeatInterval") == [1000, 900.390625])
        #expect(values("bloodGlucose") == [100, 110])
        #expect(values("roomTemperature") == [25, 25.1], "an advertisement that was heard twice is one measurement")
        let strap = try #require(samples.first { $0["type"].text == "heartRate" })
        #expect(strap["start"].text == "2026-11-20T06:30:02.000000Z")
        #expect(strap["device"]["key"].text == "Invented/Strap 1/S-0042")
        #expect(strap["metadata"]["heartRateSensorLocation"].text == "chest")
        // The meter's clock was a minute ahead of Berlin's.
        let glucose = samples.filter { $0["type"].text == "bloodGlucose" }
        #expect(glucose.map { $0["start"].text } == ["2026-11-20T05:00:00.000000Z", "2026-11-20T05:10:00.000000Z"])
        #expect(glucose.map { $0["metadata"]["bloodGlucoseMealTime"].text } == ["preprandial", nil])
        #expect(run.errors.contains("does not describe the handles 0x50. Skipped values: 1"))
        #expect(run.errors.contains("skipped packets of connections older than the recording"))
    }

    /// The neighbor's device is not read, nor any other that was not named.
    @Test func readsOnlyNamedOrAdoptedDevices() throws {
        let unassigned = try replay("household.btsnoop")
        #expect(unassigned.status == 66)
        #expect(unassigned.errors.contains("it has no adopted device"))
        #expect(unassigned.errors.contains("C0:01:02:03:04:01 (sig-heart-rate)"))
        #expect(try replay("household.btsnoop", "--device", "C0:01:02:03:04:07").status == 66)
        #expect(try replay("household.btsnoop", "--device", "strap").status == 64)
        let one = try replay("household.btsnoop", "--device", "A4:C1:38:03:04:03=bthome-v2")
        #expect(one.lines.count == 2)
        #expect(!folder.exists("store.db"))
    }

    @Test func intoAStoreTwice() throws {
        let into = folder.path("phone.db")
        let words = Self.devices.flatMap { ["--device", $0] } + ["--into", into, "--format", "ndjson"]
        let file = "\(Repository.files)/btsnoop/household.btsnoop"
        for (stored, duplicate) in [(13, 0), (0, 13)] {
            let run = try folder.vitalgate(["replay", file, "--time-zone", "Europe/Berlin"] + words)
            #expect(run.status == 0, "\(run.errors)")
            let account = try JSON(run.last)
            #expect((account["stored"].integer, account["duplicate"].integer) == (stored, duplicate))
            #expect(account["skipped"]["unknown-handle"].integer == 1)
        }
        let cut = try folder.write(
            "cut.btsnoop", Array(try Repository.data("Tests/FileSourceTests/Files/btsnoop/household.btsnoop").dropLast(3)))
        let run = try folder.vitalgate(["replay", cut, "--time-zone", "Europe/Berlin"] + words)
        #expect(run.status == 65)
        #expect(try JSON(run.last)["state"].text == "failed")
        #expect(try JSON(run.last)["refused"].integer == 1)
    }
}
