import Glibc
import Testing

/// The times of commits in a real hub: streams wait for `commitEvery`, and nothing waits longer or without need.
@Suite struct PowerCutTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write("config.json5", "{ hub: { commitEvery: 60 } }\n")
    }

    private func status() throws -> (stored: Int, waiting: Int) {
        let run = try folder.vitalgate("status", "--format", "ndjson")
        let today = try JSON(run.last)["today"]
        return (today["stored"].integer ?? 0, today["waiting"].integer ?? 0)
    }

    /// A hub with simulated sensors and at least this many waiting readings.
    private func hub(waiting count: Int) throws -> (hub: RunningHub, stored: Int, waiting: Int) {
        let hub = try RunningHub(folder, "--simulate", inbox: false)
        try hub.waits("it answers") { try folder.vitalgate("status").status == 0 }
        var last = (stored: 0, waiting: 0)
        try hub.waits("readings wait") {
            last = try status()
            return last.stored > 0 && last.waiting >= count
        }
        return (hub, last.stored, last.waiting)
    }

    private func stored() throws -> Int { try folder.vitalgate("query", "all", "--format", "ndjson").lines.count }

    @Test func termCommitsFirst() throws {
        let (hub, stored, waiting) = try hub(waiting: 4)
        let run = try hub.stop()
        #expect(run.status == 0, "\(run.errors)")
        #expect(try self.stored() >= stored + waiting)
        #expect(try folder.vitalgate("store", "check").status == 0)
    }

    @Test func killTakesNoMoreThanWaits() throws {
        let (hub, stored, _) = try hub(waiting: 4)
        hub.program.signal(SIGKILL)
        _ = try hub.program.wait()
        #expect(try self.stored() >= stored)
        #expect(try folder.vitalgate("store", "check").status == 0)
    }

    /// The signal of a failing power supply: the hub commits and continues.
    @Test func aPowerFailureCommitsAtOnce() throws {
        let (hub, stored, waiting) = try hub(waiting: 4)
        hub.program.signal(SIGPWR)
        try hub.waits("all that waited is stored") { try self.stored() >= stored + waiting }
        #expect(try hub.stop().status == 0)
    }

    /// The commits come with the follower, and cease with it.
    @Test func followerGetsPromptCommits() throws {
        let (hub, stored, waiting) = try hub(waiting: 4)
        let pipe = try Pipe()
        let follower = try folder.start("changes", "--follow", output: pipe)
        // The next commit is a minute away. Waiting readings are sent because of the request, and so are new ones.
        _ = try pipe.readLines(stored + waiting + 8, within: .seconds(40))
        follower.signal(SIGTERM)
        _ = try follower.wait()
        try hub.waits("readings wait again") { try status().waiting >= 4 }
        #expect(try hub.stop().status == 0)
    }

    /// The follower receives changes with each commit, and the card is spared.
    @Test func aFollowerMayWait() throws {
        let (hub, _, waiting) = try hub(waiting: 4)
        let pipe = try Pipe()
        let follower = try folder.start("changes", "--follow", "--no-hurry", output: pipe)
        _ = try pipe.readLines(1)
        try hub.waits("more waits") { try status().waiting >= waiting + 2 }
        follower.signal(SIGTERM)
        _ = try follower.wait()
        #expect(try hub.stop().status == 0)
    }

    /// A follower that was there first finds the hub, and the next one.
    @Test func followerFindsHubStartedLater() throws {
        #expect(try folder.vitalgate("run", "--simulate", "--once").status == 0)
        let pipe = try Pipe()
        let follower = try folder.start("changes", "--follow", output: pipe)
        _ = try pipe.readLines(try stored())
        for _ in 1...2 {
            let hub = try RunningHub(folder, "--simulate", inbox: false)
            _ = try pipe.readLines(14, within: .seconds(40))
            hub.program.signal(SIGKILL)
            _ = try hub.program.wait()
        }
        follower.signal(SIGTERM)
        _ = try follower.wait()
    }

    @Test func checksSettingAndDoctorExplains() throws {
        let doctor = try folder.vitalgate(
            ["doctor", "--format", "ndjson"], environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path("no-bus"))"])
        let finding = try doctor.objects().first { $0["subject"].text == "power cut" }
        #expect(finding?["state"].text == "ok")
        #expect(finding?["finding"].text?.contains("the last 60 s") == true)
        try folder.write("config.json5", "{ hub: { commitEvery: 61 } }\n")
        let run = try folder.vitalgate("run", "--simulate")
        #expect(run.status == 78)
        #expect(run.errors.contains("'hub.commitEvery': expected a whole number of seconds from 1 to 60"), "\(run.errors)")
    }
}
