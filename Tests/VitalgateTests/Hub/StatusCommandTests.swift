import Glibc
import PipelineTesting
import Testing

/// `status` in a second shell, with a real hub.
@Suite struct StatusCommandTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func simulated() throws -> RunningHub {
        let hub = try RunningHub(folder, "--simulate")
        try hub.waits("it answers") { try status().status == 0 }
        return hub
    }

    private func status(_ arguments: String...) throws -> Vitalgate.Run { try folder.vitalgate(["status"] + arguments) }

    private func object() throws -> JSON { try JSON(status("--format", "ndjson").last) }

    private func list(_ json: JSON) -> [JSON] { if case .list(let list) = json { list } else { [] } }

    @Test func showsSourcesDevicesAndDay() throws {
        let hub = try simulated()
        // The thermometer measures once, the strap until its ten readings are in the ledger.
        try hub.waits { try object()["today"]["stored"].integer ?? 0 >= 10 }
        let status = try object()
        #expect(status["hub"]["process"].integer == Int(hub.program.process))
        #expect(list(status["sources"]).compactMap { $0["name"].text } == ["radio", "serial", "inbox", "simulation"])
        let devices = list(status["devices"])
        #expect(devices.compactMap { $0["name"].text } == ["Simulated strap", "Simulated thermometer"])
        #expect(devices.allSatisfy { $0["state"].text == "live" && $0["source"].text == "simulation" && $0["last"].text != nil })
        #expect(status["store"]["bytes"].integer ?? 0 > 0)
        let today = status["today"]
        #expect(today["read"].integer == (today["stored"].integer ?? 0) + (today["duplicate"].integer ?? 0))
        #expect(folder.mode("store.db.sock") == 0o660)
        let table = try self.status()
        #expect(table.status == 0 && table.errors.isEmpty)
        #expect(table.output.contains("Simulated strap") && table.output.contains("running since"))
        let csv = try self.status("--format", "csv")
        #expect(csv.lines.first == "part,name,field,value")
        #expect(csv.output.contains("device,simulated:strap,source,simulation"))
        #expect(try self.status("--follow", "--format", "csv").status == 64)
        #expect(try hub.stop().status == 0)
        #expect(!folder.exists("store.db.sock"))
    }

    /// The output contains no value of the store.
    @Test func showsNoValues() throws {
        let hub = try RunningHub.started(folder)
        var csv = "time,type,value,unit\n"
        for index in 0..<9 { csv += "2026-01-01T00:00:0\(index)Z,bodyMass,7\(index).62\(index)31,kg\n" }
        try hub.drop("weights.csv", csv)
        try hub.waitsFor("inbox/done/weights.csv.account.json")
        for arguments in [[], ["--format", "ndjson"], ["--format", "csv"]] {
            let run = try folder.vitalgate(["status"] + arguments)
            for text in ["weights", "bodyMass"] + (0..<9).map({ "7\($0).62" }) { #expect(!run.output.contains(text)) }
            #expect(run.output.contains("9"), "but how many")
        }
        #expect(try object()["today"]["stored"].integer == 9)
        try hub.stop()
    }

    @Test func whereNoHubRuns() throws {
        let idle = try status()
        #expect(idle.status == 66)
        #expect(idle.errors.contains("no hub runs on") && idle.errors.contains("there is no store"))
        let hub = try simulated()
        try hub.waits { try object()["today"]["stored"].integer ?? 0 >= 5 }
        // Its socket stays.
        hub.program.signal(SIGKILL)
        _ = try hub.program.wait()
        #expect(folder.exists("store.db.sock"))
        let run = try status("--format", "ndjson")
        #expect(run.status == 69)
        #expect(run.errors.contains("no hub runs on \(folder.store)"))
        let known = try JSON(run.last)
        #expect(known["hub"] == .null && list(known["sources"]).isEmpty)
        #expect(list(known["devices"]).allSatisfy { $0["last"].text != nil && $0["state"] == .null })
        #expect(known["today"]["stored"].integer ?? 0 >= 5)
        #expect(try status().output.contains("not running"))
        #expect(try status("--follow").status == 69)
        // The next one takes its place.
        let next = try simulated()
        #expect(folder.mode("store.db.sock") == 0o660)
        #expect(try next.stop().status == 0)
    }

    @Test func twoFollowAndOneNeverReads() throws {
        let hub = try simulated()
        try hub.waits { try status().status == 0 }
        let (first, second) = (try Pipe(), try Pipe())
        let followers = [
            try folder.start("status", "--follow", output: first), try folder.start("status", "--follow", output: second),
        ]
        let sleeper = try folder.start("status", "--follow", output: try Pipe())
        sleeper.signal(SIGSTOP)
        for pipe in [first, second] {
            let lines = try pipe.readLines(4).map { try JSON($0) }
            #expect(lines.allSatisfy { $0["hub"]["process"].integer == Int(hub.program.process) })
            let stored = lines.compactMap { $0["today"]["stored"].integer }
            #expect(stored == stored.sorted() && (stored.last ?? 0) > (stored.first ?? 0), "\(stored)")
        }
        #expect(try status().status == 0)
        #expect(try hub.stop().status == 0, "nobody keeps it from ending")
        for follower in followers {
            let run = try follower.wait()
            #expect(run.status == 69)
            #expect(run.errors == "vitalgate: the hub has stopped\n")
        }
        sleeper.signal(SIGKILL)
    }

    @Test func followingEndsWhenHubIsKilled() throws {
        let hub = try simulated()
        try hub.waits { try status().status == 0 }
        let pipe = try Pipe()
        let follower = try folder.start("status", "--follow", "--format", "ndjson", output: pipe)
        _ = try pipe.readLines(2)
        hub.program.signal(SIGKILL)
        #expect(try follower.wait().status == 69)
        #expect(try folder.vitalgate("store", "check").status == 0)
    }

    @Test func ignoresHubOfOtherStore() throws {
        mkdir(folder.path("run"), 0o700)
        let environment = ["RUNTIME_DIRECTORY": folder.path("run")]
        let program = try RunningVitalgate(
            try folder.options() + ["run", "--inbox", folder.path("inbox")],
            environment: Vitalgate.environment(home: folder.root, environment))
        let hub = RunningHub(folder, watching: program)
        // The file is there before anybody may connect.
        try hub.waits("it answers") { try folder.vitalgate(["status"], environment: environment).status == 0 }
        #expect(folder.mode("run/hub.sock") == 0o660)
        #expect(!folder.exists("store.db.sock"))
        #expect(try folder.vitalgate(["status"]).status == 69, "nothing tells where it is")
        try folder.vitalgate(["import", try folder.write("one.csv", RunCommandTests.one)], store: folder.path("other.db"))
        let other = try folder.vitalgate(["status"], store: folder.path("other.db"), environment: environment)
        #expect(other.status == 69)
        // A second hub in the same directory does not take the socket, and works without.
        let second = try RunningVitalgate(
            try folder.options(store: folder.path("other.db")) + ["run", "--once", "--inbox", folder.path("second")],
            environment: Vitalgate.environment(home: folder.root, environment)
        ).wait()
        #expect(second.status == 0)
        #expect(second.errors.contains("warning: 'vitalgate status' cannot reach this hub"), "\(second.errors)")
        #expect(try folder.vitalgate(["status"], environment: environment).status == 0)
        #expect(try hub.stop().status == 0)
    }

    /// On a terminal it draws a page and leaves the last one on the screen.
    @Test func aPageOnATerminal() throws {
        let hub = try simulated()
        try hub.waits { try status().status == 0 }
        let pty = try Pty()
        let terminal = open(pty.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(terminal) }
        var size = winsize(ws_row: 13, ws_col: 140, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
        let view = try RunningVitalgate(
            try folder.options() + ["status", "--follow"],
            environment: Vitalgate.environment(home: folder.root, ["TERM": "xterm"]), output: terminal)
        var text = ""
        // Drawn once, and again when the sensors went on.
        try hub.waits {
            text += String(decoding: pty.read(waiting: 100), as: UTF8.self)
            return text.split(separator: "\u{1B}[H").count > 3
        }
        #expect(text.hasPrefix("\u{1B}[?1049h\u{1B}[?25l\u{1B}[H"))
        #expect(text.contains("Simulated strap"))
        // A smaller window truncates the page, and is noticed at once.
        size.ws_row = 9
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
        view.signal(SIGWINCH)
        try hub.waits {
            text += String(decoding: pty.read(waiting: 100), as: UTF8.self)
            return text.contains("(5 more lines)")
        }
        view.signal(SIGINT)
        try hub.waits {
            text += String(decoding: pty.read(waiting: 100), as: UTF8.self)
            return text.contains("\u{1B}[?1049l") && text.hasSuffix("simulated:thermometer\n")
        }
        #expect(try view.wait().status == 0)
        #expect(try hub.stop().status == 0)
    }
}
