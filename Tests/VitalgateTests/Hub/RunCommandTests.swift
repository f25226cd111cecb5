import Glibc
import Testing

/// The hub as a process: one for each store, stopped and reloaded by signals.
@Suite struct RunCommandTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static let one = "time,type,value,unit\n2026-01-01T00:00:00Z,heartRate,60,/min\n"

    @Test func aStoreHasOneHub() throws {
        let hub = try RunningHub.started(folder)
        let second = try folder.vitalgate("run", "--once", "--inbox", folder.path("other"))
        #expect(second.status == 75)
        #expect(second.errors.contains("another hub is running on \(folder.store) (process "), "\(second.errors)")
        #expect(!folder.exists("other"), "it does nothing before it has the store")
        // Files and questions are still welcome.
        let file = try folder.write("one.csv", Self.one)
        #expect(try folder.vitalgate("import", file).status == 0)
        #expect(try hub.stop().status == 0)
        #expect(try folder.vitalgate("run", "--once", "--inbox", folder.path("other")).status == 0)
    }

    /// A link to the store is another name of it, and not another store.
    @Test func refusesSecondHubThroughLink() throws {
        let hub = try RunningHub.started(folder)
        let link = folder.path("link.db")
        symlink(folder.store, link)
        let second = try folder.vitalgate(["run", "--once", "--inbox", folder.path("other")], store: link)
        #expect(second.status == 75 && second.errors.contains("another hub is running"), "\(second)")
        #expect(try hub.stop().status == 0)
        #expect(!folder.exists("link.db-hub"))
    }

    @Test func aKilledHubLeavesNoLock() throws {
        let hub = try RunningHub.started(folder)
        hub.program.signal(SIGKILL)
        _ = try hub.program.wait()
        #expect(try folder.vitalgate("run", "--once", "--inbox", folder.path("inbox")).status == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT]) func stopsInOrder(signal: Int32) throws {
        let hub = try RunningHub.started(folder)
        hub.program.signal(signal)
        let run = try hub.program.wait()
        #expect(run.status == 0)
        #expect(run.output.isEmpty)
        #expect(try folder.vitalgate("store", "check").status == 0)
        #expect(try folder.vitalgate("ledger", "list", "--format", "ndjson").lines.isEmpty, "nothing came, nothing is written")
    }

    @Test func runOnceWithoutSources() throws {
        let run = try folder.vitalgate("run", "--once")
        #expect(run.status == 66)
        #expect(run.errors.contains("nothing to read: no device is adopted"))
    }

    @Test func readsTheConfigurationAgainOrKeepsTheOldOne() throws {
        _ = try folder.options()
        try folder.write("config.json5", "{ hub: { inbox: '\(folder.path("first"))' } }")
        let hub = try RunningHub(folder, inbox: false)
        try hub.waitsFor("first/refused")
        try folder.write("config.json5", "{ hub: { inbox: '\(folder.path("second"))', sources: { radio: 'never' } } }")
        hub.program.signal(SIGHUP)
        try hub.waits { hub.program.errors.contains("settings not reloaded") }
        #expect(hub.program.errors.contains("unknown policy, expected one of error, retry, ignore"), "\(hub.program.errors)")
        try folder.write("first/one.csv", Self.one)
        try hub.waitsFor("first/done/one.csv.account.json")
        try folder.write("config.json5", "{ hub: { inbox: '\(folder.path("second"))' } }")
        hub.program.signal(SIGHUP)
        try hub.waitsFor("second/refused")
        try folder.write("second/one.csv", Self.one)
        try hub.waitsFor("second/done/one.csv.account.json")
        #expect(try JSON(folder.text("second/done/one.csv.account.json"))["duplicate"].integer == 1)
        #expect(try hub.stop().status == 0)
    }

    /// A store is used for a whole run. The hub reports that another one in the configuration needs a restart, and continues with this one.
    @Test func changingStoreRequiresRestart() throws {
        let settings = "hub: { inbox: '\(folder.path("inbox"))' } }"
        try folder.write("config.json5", "{ store: '\(folder.store)', \(settings)")
        let words = ["--config", folder.path("config.json5"), "--profiles", Repository.profiles, "run"]
        let program = try RunningVitalgate(words, environment: Vitalgate.environment(home: folder.root))
        let hub = RunningHub(folder, watching: program)
        try hub.waitsFor("inbox/refused")
        program.signal(SIGHUP)
        try hub.waits { program.errors.contains("settings reloaded") }
        #expect(!program.errors.contains("restart"))
        try folder.write("config.json5", "{ store: '\(folder.path("other.db"))', \(settings)")
        program.signal(SIGHUP)
        try hub.waits { program.errors.contains("restart the hub to use it") }
        #expect(hub.count("warning: the configuration names another store: restart") == 1)
        #expect(program.errors.contains("until then readings go to \(folder.store)"))
        try hub.drop("one.csv", Self.one)
        try hub.waitsFor("inbox/done/one.csv.account.json")
        #expect(!folder.exists("other.db"))
        #expect(try hub.stop().status == 0)
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").lines.count == 1)
    }

    /// A message about a file whose name contains a line break is still one line.
    @Test func escapesLineBreaksInNames() throws {
        mkdir(folder.path("profiles"), 0o700)
        try folder.write("profiles/a\nwarning: forged\n.json5", "{ ")
        let hub = try RunningHub(folder, "--profiles", folder.path("profiles"))
        try hub.waitsFor("inbox/refused")
        hub.program.signal(SIGHUP)
        try hub.waits { hub.program.errors.contains("settings not reloaded") }
        let run = try hub.stop()
        let lines = run.errors.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("warning: profile left out: ") })
        #expect(lines.allSatisfy { !$0.hasPrefix("warning: forged") && !$0.hasPrefix(".json5") }, "\(run.errors)")
    }

    /// A profile that a person is in the middle of editing takes nothing away.
    @Test func keepsTheProfilesWhileOneIsBroken() throws {
        let hub = try RunningHub(folder, "--profiles", folder.path("profiles"))
        #expect(try hub.program.wait().status != 0, "a folder that is named has to be there")
        try folder.write("profiles.txt", "")
        mkdir(folder.path("profiles"), 0o700)
        let other = try RunningHub(folder, "--profiles", folder.path("profiles"))
        try other.waitsFor("inbox/refused")
        try folder.write("profiles/broken.json5", "{ id: 'broken', ")
        other.program.signal(SIGHUP)
        try other.waits { other.program.errors.contains("settings not reloaded") }
        #expect(other.program.errors.contains("broken.json5"))
        try folder.write("profiles/broken.json5", "")
        unlink(folder.path("profiles/broken.json5"))
        other.program.signal(SIGHUP)
        try other.waits { other.program.errors.contains("settings reloaded") }
        #expect(try other.stop().status == 0)
    }

    @Test(arguments: [("error", Int32(74)), ("retry", 75), ("ignore", 0)])
    func appliesPolicyIfSourceCannotStart(policy: String, status: Int32) throws {
        _ = try folder.options()
        try folder.write("config.json5", "{ hub: { sources: { inbox: '\(policy)' } } }")
        try folder.write("inbox", "a file, not a folder")
        let hub = try RunningHub(folder)
        switch policy {
        case "error": #expect(try hub.program.wait().status == status)
        case "ignore":
            try hub.waits { hub.program.errors.contains("the hub runs without it") }
            #expect(try hub.stop().status == status)
        default:
            try hub.waits { hub.program.errors.contains("retrying in 2 s") }
            unlink(folder.path("inbox"))
            try hub.waits { hub.program.errors.contains("it works again") }
            try hub.drop("one.csv", Self.one)
            try hub.waitsFor("inbox/done/one.csv")
            #expect(try hub.stop().status == 0)
        }
    }
}
