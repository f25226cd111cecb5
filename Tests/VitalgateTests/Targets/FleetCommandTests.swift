import ExportTesting
import Glibc
import HTTPServerKit
import HTTPServerTesting
import Testing

/// A fleet as a user runs it: enrollment, reports, commands, and revocation, with Debian's nats-server and PostgreSQL.
@Suite struct FleetCommandTests {
    let center: TestFolder
    let hub: TestFolder
    let server: PostgreSQLServer
    let broker: NATSServer
    /// The trusted certificate of a broker with TLS.
    private let authority: String?
    let collector: RunningVitalgate

    init() throws { try self.init(broker: []) }

    /// - Parameters:
    ///   - more: further lines of the broker's configuration.
    ///   - certificate: the certificate of a broker with TLS, or `nil` for one without.
    init(broker more: [String], certificate: Certificate? = nil) throws {
        let (center, server) = (try TestFolder(), try PostgreSQLServer())
        let key = try center.vitalgate("fleet", "key", center.path("collector.seed")).last
        #expect(try center.vitalgate("fleet", "key", center.path("commands.seed")).status == 0)
        let secure = certificate.map { $0.path }
        try center.write("config.json5", Self.configuration(center, server, key, port: FreePort.find(), secure))
        #expect(try center.vitalgate("collect", "--create").status == 0)
        try center.write("users.conf", try center.vitalgate("fleet", "broker-config").output)
        // nats-server adds its own folder to the path of an included file, even if it begins with /.
        let up = String(repeating: "../", count: 20)
        let broker = try NATSServer(
            [
                "pid_file: \"\(center.path("nats.pid"))\"", "include \"\(up)\(center.path("users.conf").dropFirst())\"",
            ] + more + (certificate.map { ["tls { cert_file: \"\($0.path)\", key_file: \"\($0.key)\" }"] } ?? []))
        try center.write("config.json5", Self.configuration(center, server, key, port: broker.port, secure))
        authority = secure
        (self.center, hub, self.server, self.broker) = (center, try TestFolder(), server, broker)
        collector = try center.start("collect")
        try until { try center.vitalgate("collect", "--check").status == 0 }
    }

    private static func configuration(
        _ center: TestFolder, _ server: PostgreSQLServer, _ key: String, port: UInt16, _ authority: String?
    ) -> String {
        let seed = center.path("collector.seed")
        let url = authority == nil ? "nats://127.0.0.1:\(port)" : "tls://localhost:\(port)"
        let trust = authority.map { ", certificateAuthority: '\($0)'" } ?? ""
        let broker = "fleet: 'study', servers: ['\(url)'], nkey: '\(key)', seedFile: '\(seed)'\(trust)"
        let database = "host: '\(server.folder)', database: 'postgres', user: 'vitalgate'"
        let users = "file: '\(center.path("users.conf"))', processFile: '\(center.path("nats.pid"))'"
        let commands = "seedFile: '\(center.path("commands.seed"))'"
        return
            "{ collect: { broker: { \(broker) }, database: { \(database) }, brokerUsers: { \(users) }, commands: { \(commands) }, page: { port: 0 } } }"
    }

    private var address: String { authority == nil ? "\(broker.url)/study" : "tls://localhost:\(broker.port)/study" }

    func end() throws {
        collector.signal(SIGTERM)
        #expect(try collector.wait().status == 0)
        server.stop()
    }

    /// Delivers as a user does, who repeats the command while the center is out of reach (status 69). A busy machine may need longer
    /// than the broker gives a client to sign in.
    func deliver() throws -> Vitalgate.Run {
        for _ in 0..<240 {
            let run = try hub.vitalgate("export", "center", "--once")
            guard run.status == 69, !run.errors.contains("credentials") else { return run }
            usleep(250_000)
        }
        return try hub.vitalgate("export", "center", "--once")
    }

    func join(_ folder: TestFolder, _ code: String) throws -> Vitalgate.Run {
        try folder.vitalgate(["fleet", "join", address, code] + (authority.map { ["--certificate-authority", $0] } ?? []))
    }

    func hubs() throws -> [JSON] {
        try center.vitalgate("fleet", "hubs", "--format", "ndjson").lines.map { try JSON($0) }
    }

    @Test func aHubJoinsAndIsRevoked() throws {
        let code = try center.vitalgate("fleet", "enroll", "--name", "ward-3").last
        var run = try join(hub, code)
        #expect(run.status == 0 && run.errors.contains("belongs to the fleet 'study' as 'ward-3'"), "\(run)")
        // The secret part of the key is on the hub only, for its owner.
        let seed = try #require(hub.text("center.seed").split(separator: "\n").first.map(String.init))
        #expect(hub.mode("center.seed") == 0o600)
        #expect(seed.hasPrefix("SU") && !center.text("users.conf").contains(seed))
        let key = try #require(try hubs().first?["key"].text)
        #expect(center.text("users.conf").contains(key))

        try hub.vitalgate("import", hub.write("a.csv", InboxTests.csv(40)))
        run = try deliver()
        #expect(run.status == 0 && run.errors.contains("40 changes delivered"), "\(run)")

        // The code is of no use to another hub, and neither is a wrong one.
        let other = try TestFolder()
        run = try join(other, code)
        #expect(run.status == 69 && run.errors.contains("unknown, expired or already used"), "\(run)")
        #expect(!other.text("config.json5").contains("targets"))
        #expect(try join(other, "AAAAA-AAAAA-AAAAA-AAAAA").status == 77)
        #expect(try join(other, "hello").status == 64)
        #expect(try center.vitalgate("fleet", "enroll", "--name", "ward-3").status == 69)

        #expect(try center.vitalgate("fleet", "revoke", "ward-3").status == 0)
        try hub.vitalgate("import", hub.write("b.csv", InboxTests.csv(41)))
        run = try hub.vitalgate("export", "center", "--once")
        // The target has worked, but this is not an outage.
        #expect(run.status == 69 && run.errors.contains("refuses our credentials"), "\(run)")
        try until { !center.text("users.conf").contains(key) }
        #expect(try center.vitalgate("fleet", "hubs").output.contains("revoked"))

        // A code of another hub does not let its store join again. A code for it does, and its readings go on.
        #expect(try hub.vitalgate("targets", "remove", "center").status == 0)
        run = try join(hub, center.vitalgate("fleet", "enroll", "--name", "ward-4").last)
        #expect(run.status == 69 && run.errors.contains("fleet replace ward-3"), "\(run)")
        let next = try center.vitalgate("fleet", "replace", "ward-3").last
        #expect(try join(hub, next).status == 0)
        #expect(try hub.vitalgate("targets", "retry", "center").status == 0)
        run = try deliver()
        #expect(run.status == 0, "\(run)")
        try end()
    }

    /// The center erases a person without the hub, and refuses the person's later readings until it readmits the person.
    @Test func theCenterErasesAPerson() throws {
        try joinWithReadings()
        let person = try #require(try JSON(hub.vitalgate("people", "list", "--format", "ndjson").last)["subject"].text)
        var run = try center.vitalgate("fleet", "erase", person.uppercased(), "--format", "ndjson")
        let shown = try JSON(run.last)
        #expect(run.status == 0 && shown["rows"].integer == 5 && shown["hubs"].list.count == 1, "\(run)")
        #expect(run.output.contains("ward-3") && run.errors.contains("--yes"), "\(run)")
        #expect(try center.vitalgate("fleet", "erase", "Anna").status == 64)
        run = try center.vitalgate("fleet", "erase", person, "--yes")
        #expect(run.status == 0, "\(run)")
        #expect(try JSON(center.vitalgate("fleet", "erase", person, "--format", "ndjson").last)["rows"].integer == 0)

        try hub.vitalgate("import", hub.write("b.csv", InboxTests.csv(7)))
        #expect(try deliver().status == 0)
        #expect(try JSON(center.vitalgate("fleet", "erase", person, "--format", "ndjson").last)["rows"].integer == 0)
        #expect(try center.vitalgate("fleet", "erase", person, "--readmit").status == 0)
        #expect(try hub.vitalgate("targets", "verify", "center").status == 0)
        #expect(try JSON(center.vitalgate("fleet", "erase", person, "--format", "ndjson").last)["rows"].integer == 7)
        try end()
    }

    /// Joins and delivers five readings.
    func joinWithReadings() throws {
        #expect(try join(hub, center.vitalgate("fleet", "enroll", "--name", "ward-3").last).status == 0)
        try hub.vitalgate("import", hub.write("a.csv", InboxTests.csv(5)))
        #expect(try deliver().status == 0)
    }

    func command(_ words: String...) throws {
        let run = try center.vitalgate(["fleet", "command", "ward-3"] + words)
        #expect(run.status == 0, "\(run)")
    }

    /// The exit status of each command that the hub was given, or `nil` without a result.
    func results() throws -> [Int?] {
        try center.vitalgate("fleet", "status", "ward-3", "--format", "ndjson").lines.dropFirst().reversed().map {
            try JSON($0)["code"].integer
        }
    }

    func sql(_ statement: String) throws {
        let words = ["/usr/bin/psql", "-h", server.folder, "-U", "vitalgate", "-d", "postgres", "-c", statement]
        #expect(try RunningVitalgate(command: words, environment: Vitalgate.environment(home: center.root)).wait().status == 0)
    }

    /// The limit of five minutes only ends a test that would hang.
    func until(_ isSo: () throws -> Bool) throws {
        for _ in 0..<3000 {
            if try isSo() { return }
            usleep(100_000)
        }
        Issue.record("it never came")
    }

    @Test func aConnectedHubRunsCommands() throws {
        try joinWithReadings()
        let exporter = try hub.start("export", "center")
        var run = try center.vitalgate("fleet", "check", "ward-3", "--format", "ndjson")
        #expect(run.status == 0, "\(run) \(exporter.errors)")
        #expect(try JSON(run.last)["equal"].integer == 5)
        let report = try #require(try hubs().first)
        #expect(report["version"].text?.isEmpty == false && report["waiting"].integer == 0)
        #expect(report["quarantined"].integer == 0 && (report["silence"].integer ?? 99) < 60)
        let table = try center.vitalgate("fleet", "hubs").lines
        #expect(table.count >= 2 && table.contains { $0.contains("ward-3") && $0.contains("enrolled") })
        #expect(try center.vitalgate("fleet", "hubs", "--names").output == "ward-3\n")

        let person = "7f9c24e8-3b1d-4c52-9f0e-2a6d1b8c4e57"
        try command("adopt", "--", "C0:01:02:03:04:01", "--profile", "sig-heart-rate", "--name", "strap")
        try command("assign", "--", "C0:01:02:03:04:01", "--person", person)
        try command("repair", "--", "--type", "heartRate", "--shift", "+1h")
        try command("adopt", "--", "C0:01:02:03:04:01", "--profile", "no-such-profile")
        try until { try results() == [0, 0, 0, 0, 64] }
        let device = try JSON(try hub.vitalgate("devices", "list", "--format", "ndjson").last)
        #expect((device["name"].text, device["subject"].text) == ("strap", person))
        // The repair has arrived at the center, too.
        try until { try JSON(try center.vitalgate("fleet", "check", "ward-3", "--format", "ndjson").last)["equal"].integer == 5 }
        #expect(try hub.vitalgate("query", "heartRate", "--format", "csv").output.contains("2026-01-01T01:00:00"))

        // A row that is lost at the center is found, and comes back.
        try sql("DELETE FROM vitalgate.sample WHERE value = 62")
        run = try center.vitalgate("fleet", "check", "ward-3", "--format", "ndjson")
        #expect(try run.status == 65 && JSON(run.last)["missing"].integer == 1, "\(run)")
        let day = try #require(try JSON(run.last)["days"].list.first)
        #expect((day["type"].text, day["day"].text) == ("heartRate", "2026-01-01"), "\(run)")
        #expect((day["here"].integer, day["there"].integer) == (5, 4), "\(run)")
        run = try center.vitalgate("fleet", "check", "ward-3")
        #expect(run.status == 65 && run.lines.last?.split(separator: " ") == ["heartRate", "2026-01-01", "5", "4"], "\(run)")
        #expect(try center.vitalgate("fleet", "check", "ward-3", "--repair").status == 0)
        run = try center.vitalgate("fleet", "check", "ward-3", "--format", "ndjson")
        #expect(try run.status == 0 && JSON(run.last)["equal"].integer == 5, "\(run)")

        // Options that would reach other files are refused.
        for words in [["repair", "--", "--store", "/tmp/x"], ["erase", "--", "me", "--without", "center"], ["shell", "ls"]] {
            run = try center.vitalgate(["fleet", "command", "ward-3"] + words)
            #expect(run.status == 64, "\(run)")
        }
        #expect(try center.vitalgate("fleet", "command", "ward-4", "verify").status == 64)
        #expect(!exporter.errors.contains("strap") && !exporter.errors.contains(person))
        exporter.signal(SIGTERM)
        #expect(try exporter.wait().status == 0)
        try end()
    }

    /// Commands wait for a hub without a connection, and run once each. Erasing waits until the hub is stopped.
    @Test func commandsWaitForTheHub() throws {
        try joinWithReadings()
        let me = try #require(
            try hub.vitalgate("people", "list", "--format", "ndjson").lines.map { try JSON($0) }.first {
                $0["me"] == .boolean(true)
            }?[
                "subject"
            ].text)
        try command("repair", "--", "--type", "heartRate", "--shift", "+1h")
        try command("erase", me)
        let lock = open(hub.store + "-hub", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        var run = try deliver()
        #expect(run.status == 0 && run.errors.contains("has to wait"), "\(run)")
        #expect(try results() == [0, nil])
        close(lock)
        run = try deliver()
        #expect(try run.status == 0 && results() == [0, 0], "\(run)")
        #expect(try hub.vitalgate("query", "heartRate", "--format", "ndjson").output.isEmpty)
        // Each ran once: there is one repair.
        run = try deliver()
        #expect(!run.errors.contains("ended with status"), "\(run)")
        // A hub that does not allow commands gets none.
        let key = try center.vitalgate("fleet", "key", center.path("commands.seed")).last
        #expect(hub.text("config.json5").contains(", commandKey: \"\(key)\""))
        try hub.write("config.json5", hub.text("config.json5").replacing(", commandKey: \"\(key)\"", with: ""))
        try command("verify")
        #expect(try deliver().status == 0)
        #expect(try results() == [0, 0, nil])
        try end()
    }
}

/// A hub runs only commands that the center has signed.
extension FleetCommandTests {
    @Test func unsignedCommandsAreRefused() throws {
        try joinWithReadings()
        #expect(hub.text("config.json5").contains("commandKey: \"U"))
        let known = "SELECT id FROM vitalgate.fleet_hub"
        // Another program writes into the database, and changes a command that waits.
        try sql(
            """
            INSERT INTO vitalgate.fleet_order(hub, number, kind, arguments, signature)
            VALUES((\(known)), 1, 'adopt', '{C0:01:02:03:04:01,--profile,sig-heart-rate}', 'AAAA'),
                ((\(known)), 2, 'repair', '{--type,heartRate,--shift,+1h}', NULL)
            """)
        try command("adopt", "--", "C0:01:02:03:04:02", "--profile", "sig-heart-rate")
        try sql("UPDATE vitalgate.fleet_order SET arguments = '{C0:01:02:03:04:03,--profile,sig-heart-rate}' WHERE number = 3")
        try command("adopt", "--", "C0:01:02:03:04:04", "--profile", "sig-heart-rate")
        // A command that ran is valid under its own number only.
        try command("verify")
        try sql("UPDATE vitalgate.fleet_order SET number = 6 WHERE number = 4")
        let run = try deliver()
        #expect(run.status == 0 && run.errors.contains("refused command 1: the center's key has not signed it"), "\(run)")
        #expect(!run.errors.contains("C0:01"), "\(run)")
        for _ in 0..<3 { #expect(try deliver().status == 0) }
        #expect(try results() == [nil, nil, nil, 0, nil])
        let status = try center.vitalgate("fleet", "status", "ward-3")
        #expect(status.lines.filter { $0.contains("refused") }.count == 4, "\(status)")
        #expect(try hub.vitalgate("devices", "list", "--format", "ndjson").output.isEmpty)
        #expect(try hub.vitalgate("query", "heartRate", "--format", "csv").output.contains("2026-01-01T00:00:00"))

        // A foreign collector cannot put its own key into the hub's configuration.
        let code = try center.vitalgate("fleet", "enroll", "--name", "ward-4").last
        let key = try center.vitalgate("fleet", "key", center.path("other.seed")).last
        try sql("UPDATE vitalgate.fleet_code SET command_key = '\(key)' WHERE name = 'ward-4'")
        let other = try TestFolder()
        let joined = try join(other, code)
        #expect(joined.status == 69 && joined.errors.contains("does not belong to the code"), "\(joined)")
        #expect(!other.text("config.json5").contains("targets"))
        try end()
    }
}

/// The table of hubs as a page.
extension FleetCommandTests {
    @Test func thePageShowsTheHubs() throws {
        let place = #/page at http://127\.0\.0\.1:([0-9]+)/#
        try until { collector.errors.contains(place) }
        let port = try #require(collector.errors.firstMatch(of: place).flatMap { UInt16($0.1) })
        let address = ListeningAddress.tcp(host: "127.0.0.1", port: port)
        func get(_ target: String, _ headers: String = "", method: String = "GET") throws -> RawClient.Answer {
            let client = try #require(RawClient(address))
            return try #require(client.get(target, headers, method: method))
        }
        #expect(try get("/").text.contains("No hub has joined yet."))
        try joinWithReadings()
        let answer = try get("/")
        #expect(answer.status == 200)
        #expect(answer.text.contains("<th scope=\"row\">ward-3</th><td>Enrolled</td>"), "\(answer.text)")
        #expect(answer.text.contains("http-equiv=\"refresh\" content=\"30\"") && !answer.text.contains("<script"))
        #expect(!answer.text.contains("heartRate"))
        #expect(try get("/", "Accept-Language: de-AT\r\n").text.contains("<td>Aufgenommen</td>"))
        // No other site can show it in a frame, or read it under a name of its own.
        #expect(answer.headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
        #expect(answer.headers["x-frame-options"] == "DENY")
        let foreign = try #require(RawClient(address))
        #expect(foreign.send("GET / HTTP/1.1\r\nHost: attacker.example\r\n\r\n"))
        #expect(foreign.answer()?.status == 421)
        let style = try #require(answer.text.firstMatch(of: #/href="(\/page\/static\/page\.css[^"]*)"/#)?.1)
        #expect(try get(String(style)).headers["content-type"] == "text/css; charset=utf-8")
        for target in ["/page/static/page.js", "/page/", "/v1/samples", "/page/static/../page.css"] {
            #expect(try [400, 404].contains(get(target).status), "\(target)")
        }
        #expect(try get("/", method: "POST").status == 405)
        server.stop()
        #expect(try get("/").status == 503)
        collector.signal(SIGTERM)
        #expect(try collector.wait().status == 0)
    }
}

/// The center gives profiles to a hub.
extension FleetCommandTests {
    @Test func theCenterInstallsProfiles() throws {
        mkdir(hub.path("profiles"), 0o700)
        #expect(try hub.vitalgate("run", "--simulate", "--once").status == 0)
        #expect(try join(hub, center.vitalgate("fleet", "enroll", "--name", "ward-3").last).status == 0)
        let folders = "profiles: ['\(hub.path("profiles"))'],\n    targets:"
        try hub.write("config.json5", hub.text("config.json5").replacing("targets:", with: folders))
        let running = try RunningHub(hub, "--simulate")
        let ours = try hub.vitalgate("profile", "show", "aranet4").output
        let newer = ours.replacing("version: \"1\"", with: "version: \"77\"")
        var run = try center.vitalgate("fleet", "profile", "ward-3", center.write("aranet4.json5", newer))
        #expect(run.status == 0, "\(run)")
        try until { try results() == [0] }
        #expect(hub.text("profiles/aranet4.json5") == newer)
        try running.waits("reload") { running.count("settings reloaded") > 0 }
        #expect(try center.vitalgate("fleet", "status", "ward-3").output.contains(#"{"changed":true,"reloaded":true}"#))
        let list = ["--profiles", hub.path("profiles"), "profile", "list", "--format", "ndjson"]
        let known = try hub.vitalgate(list).lines.map { try JSON($0) }
        #expect(known.first { $0["id"].text == "aranet4" }?["version"].text == "77")

        // A profile that fails its own tests, or a file that is no profile, stays at the center.
        let wrong = newer.replacing("scale: \"0.05\"", with: "scale: \"0.06\"")
        run = try center.vitalgate("fleet", "profile", "ward-3", center.write("aranet4.json5", wrong))
        #expect(run.status == 65 && run.errors.contains("aranet4"), "\(run)")
        #expect(try center.vitalgate("fleet", "profile", "ward-3", center.write("b.json5", "{ id: 'b' }")).status == 65)
        #expect(try center.vitalgate("fleet", "profile", "ward-3", center.path("missing.json5")).status == 65)
        // The hub checks what it gets, and reports that it may not write.
        try command("profile", "--", "{ id: 'b' }")
        mkdir(hub.path("profiles/other.json5"), 0o700)
        try command("profile", "--", newer.replacing("id: \"aranet4\"", with: "id: \"other\""))
        try until { try results() == [0, 78, 77] }
        try running.stop()
        try end()
    }
}

/// The center changes settings, and sees the batteries of a running hub's devices.
extension FleetCommandTests {
    @Test func theCenterChangesSettings() throws {
        // Only a demo store accepts simulated readings.
        #expect(try hub.vitalgate("run", "--simulate", "--once").status == 0)
        #expect(try join(hub, center.vitalgate("fleet", "enroll", "--name", "ward-3").last).status == 0)
        let text = hub.text("config.json5")
        try hub.write("config.json5", text.replacing("targets:", with: "locale: \"en-US\", // ours\n    targets:"))
        let running = try RunningHub(hub, "--simulate")
        try until { try hubs().first?["lowestBattery"].integer != nil }
        let report = try #require(try hubs().first)
        #expect((50...90).contains(report["lowestBattery"].integer ?? 0) && report["silentDevices"].integer == 0)

        #expect(try center.vitalgate("fleet", "set", "ward-3", "locale=de-AT", "hub.commitEvery=5").status == 0)
        try until { try results() == [0] }
        let changed = hub.text("config.json5")
        #expect(changed.contains("locale: \"de-AT\", // ours") && changed.contains("hub: { commitEvery: 5 }"), "\(changed)")
        #expect(changed.contains("commandKey"))
        try running.waits("reload") { running.count("settings reloaded") > 0 }
        #expect(try center.vitalgate("fleet", "status", "ward-3").output.contains(#"{"changed":true,"reloaded":true}"#))

        // A value that the hub would refuse changes nothing, and neither does a file that it may not write.
        #expect(try center.vitalgate("fleet", "set", "ward-3", "hub.commitEvery=0").status == 0)
        try until { try results() == [0, 78] }
        #expect(hub.text("config.json5") == changed)
        #expect(try center.vitalgate("fleet", "set", "ward-3", "api.listen=0.0.0.0:80").status == 64)
        #expect(try center.vitalgate("fleet", "set", "ward-3").status == 64)
        try running.stop()
        #expect(!running.program.errors.contains("de-AT"))
        try end()
    }
}

/// A hub whose service may not change the configuration, as with the Debian package.
extension FleetCommandTests {
    @Test func hubWithReadOnlyConfiguration() throws {
        try joinWithReadings()
        let text = hub.text("config.json5")
        #expect(mkdir(hub.path("etc"), 0o755) == 0)
        try hub.write("etc/config.json5", text)
        chmod(hub.path("etc"), 0o555)
        defer { chmod(hub.path("etc"), 0o755) }
        func deliver() throws -> Vitalgate.Run {
            try Vitalgate.runWithoutPrivileges(
                ["--store", hub.store, "--config", hub.path("etc/config.json5"), "export", "center", "--once"],
                environment: Vitalgate.environment(home: hub.root))
        }
        #expect(try center.vitalgate("fleet", "set", "ward-3", "locale=de-AT").status == 0)
        var run = try deliver()
        #expect(run.status == 0 && run.errors.contains("(set) ended with status 77"), "\(run)")
        #expect(try results() == [77])
        #expect(hub.text("etc/config.json5") == text)
        // The next command runs once the service may change the file.
        chmod(hub.path("etc"), 0o755)
        #expect(try center.vitalgate("fleet", "set", "ward-3", "locale=de-AT").status == 0)
        run = try deliver()
        #expect(try run.status == 0 && results() == [77, 0], "\(run)")
        #expect(hub.text("etc/config.json5").contains("locale: \"de-AT\""))
        try end()
    }
}
