import Glibc
import HTTPServerTesting
import Testing

/// `GET /metrics` of a real hub and of a store without one, asked by curl.
@Suite struct MetricsTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var socket: String { folder.path("metrics.socket") }

    /// - Parameter more: other keys of the object `metrics`, and after it.
    private func configure(_ more: String = "", others: String = "") throws {
        try folder.write(
            "config.json5",
            "{ subject: \"\(Family.person)\", store: \"\(folder.store)\", metrics: { listen: \"unix:\(socket)\"\(more) },"
                + " \(others) }\n")
    }

    private var environment: [String: String] { Vitalgate.environment(home: folder.root) }

    private func arguments(_ words: [String]) -> [String] { ["--config", folder.path("config.json5")] + words }

    private func run(_ words: String...) throws -> Vitalgate.Run {
        try Vitalgate.run(arguments(words), environment: environment)
    }

    private func started(_ words: String...) throws -> RunningVitalgate {
        let process = try RunningVitalgate(arguments(words), environment: environment)
        #expect(eventually { process.errors.contains("metrics: listening at") }, "\(process.errors)")
        return process
    }

    private func ask(_ words: [String] = [], _ url: String = "http://localhost/metrics") throws -> String {
        try RunningVitalgate(
            command: ["/usr/bin/curl", "-sS", "--unix-socket", socket, url] + words, environment: environment
        ).wait().output
    }

    /// The values by name and labels. Fails if a line has another form.
    private func values(_ text: String) throws -> [String: Double] {
        var (values, helped, typed) = ([String: Double](), Set<Substring>(), Set<Substring>())
        for line in text.split(separator: "\n") {
            if let match = line.firstMatch(of: #/^# (HELP|TYPE) ([a-z_]+) \S/#) {
                let isNew = match.1 == "HELP" ? helped.insert(match.2).inserted : typed.insert(match.2).inserted
                #expect(isNew, "\(line)")
            } else {
                let match = try #require(
                    line.wholeMatch(of: #/(([a-z_]+)(?:\{(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)+\})?) (\S+)/#), "\(line)")
                #expect(typed.contains(match.2) && helped.contains(match.2), "\(line)")
                #expect(values[String(match.1)] == nil, "\(line)")
                let number: Double? = Double(String(match.3))
                #expect(number != nil, "\(line)")
                values[String(match.1)] = number
            }
        }
        #expect(text.hasSuffix("\n") && !values.isEmpty, "\(text)")
        return values
    }

    /// The text is what Prometheus itself accepts.
    private func expectLint(_ text: String) throws {
        let programs: [String] = ["/usr/bin/promtool", "/usr/local/bin/promtool"]
        guard let promtool = programs.first(where: { access($0, X_OK) == 0 }) else { return }
        let file = try folder.write("metrics.txt", text)
        let checked = try RunningVitalgate(command: [promtool, "check", "metrics"], environment: environment, input: file).wait()
        #expect(checked.status == 0 && checked.errors.isEmpty, "\(checked.errors)\(checked.output)")
    }

    @Test func metricsShowHubState() throws {
        try folder.write("token", "a made-up token\n")
        #expect(chmod(folder.path("token"), 0o600) == 0)
        try configure(
            ", token: { file: \"\(folder.path("token"))\" }",
            others: "targets: { archive: { kind: \"files\", folder: \"\(folder.path("archive"))\" } }")
        let hub = try started("--store", folder.store, "run", "--simulate")
        let header = ["-H", "Authorization: Bearer a made-up token"]
        var now: [String: Double] = [:]
        #expect(
            eventually {
                now = (try? values(ask(header))) ?? [:]
                return now["vitalgate_today_readings{outcome=\"stored\"}"] ?? 0 >= 5
                    && now["vitalgate_target_waiting_changes{target=\"archive\"}"] == 0
            }, "\(now)")
        #expect(now["vitalgate_hub_running"] == 1 && now["vitalgate_store_writable"] == 1)
        for source in ["radio", "serial", "inbox", "simulation", "api"] {
            #expect(now["vitalgate_source_running{source=\"\(source)\"}"] != nil, "\(source)")
        }
        #expect(now["vitalgate_source_running{source=\"simulation\"}"] == 1)
        let clock = Double(Glibc.time(nil))
        let name = "{device=\"simulated:strap\"}"
        let last = try #require(now["vitalgate_device_last_reading_timestamp_seconds" + name])
        #expect(last > clock - 120 && last < clock + 5)
        #expect(now["vitalgate_device_battery_ratio" + name] == 0.9)
        #expect(now["vitalgate_device_silent" + name] == 0 && now["vitalgate_devices"] == 2)
        #expect(try #require(now["vitalgate_commit_duration_seconds"]) < 10)
        for process in ["hub", "api", "others"] {
            let bytes = try #require(now["vitalgate_process_resident_memory_bytes{process=\"\(process)\"}"])
            #expect(bytes > 1e6 && bytes < 1e9, "\(process)")
        }
        #expect(now["vitalgate_refused_requests_total{bound=\"streams\"}"] == 0 && now["vitalgate_wrong_tokens_total"] == 0)
        #expect(now["vitalgate_target_delivering{target=\"archive\"}"] == 1)
        #expect(try #require(now["vitalgate_target_delivered_changes_total{target=\"archive\"}"]) > 0)
        try expectLint(try ask(header))
        // Others learn nothing.
        for words in [[], ["-H", "Authorization: Bearer a made-up"], ["-H", "Authorization: Bearer "]] {
            let refused = try ask(words)
            #expect(refused.contains("\"status\":401") && !refused.contains("vitalgate_"), "\(refused)")
        }
        hub.signal(SIGTERM)
        #expect(try hub.wait().status == 0)
        #expect(access(socket, F_OK) != 0)
    }

    /// `status`, which is its model, and the metrics have the same numbers.
    @Test func metricsWithoutHubEqualStatus() throws {
        try configure()
        let file = try folder.write(
            "scale.csv",
            "time,type,value,unit\n2026-11-20T06:31:00Z,bodyMass,71.6231,kg\n2026-11-20T06:32:00Z,heartRate,9000,/min\nx,y,z\n")
        _ = try run("import", file)
        #expect(try run("people", "add", "Annabel").status == 0)
        #expect(
            try run(
                "devices", "adopt", "C0:01:02:03:04:01", "--profile", "sig-heart-rate", "--name", "Annabel's strap", "--person",
                "Annabel"
            ).status == 0)
        let server = try started("api", "serve")
        let (text, status) = (try ask(), try JSON(run("status", "--format", "ndjson").last))
        let now = try values(text)
        #expect(now["vitalgate_hub_running"] == 0)
        for outcome in ["stored", "duplicate", "quarantined", "refused"] {
            #expect(
                now["vitalgate_today_readings{outcome=\"\(outcome)\"}"] == status["today"][outcome].double, "\(outcome)")
        }
        #expect(now["vitalgate_today_readings{outcome=\"stored\"}"] == 1 && now["vitalgate_quarantine_readings"] == 1)
        #expect(now["vitalgate_store_bytes"] == status["store"]["bytes"].double && now["vitalgate_devices"] == 1)
        for word in ["71.6", "9000", "bodyMass", "heartRate", "Annabel", Family.person] {
            #expect(!text.contains(word), "\(word)")
        }
        try expectLint(text)
        #expect(try ask(["-o", "/dev/null", "-w", "%{content_type}"]) == "text/plain; version=0.0.4; charset=utf-8")
        #expect(try ask([], "http://localhost/").contains("\"status\":404"))
        #expect(try ask([], "http://localhost/v1/samples").contains("\"status\":404"))
        #expect(try ask(["-d", "x"]).contains("\"status\":4"))
        let renamed = try ask([], "http://evil.example/metrics")
        #expect(renamed.contains("\"status\":421") && renamed.contains("metrics.hosts"))
        server.signal(SIGTERM)
        #expect(try server.wait().status == 0)
    }

    @Test(
        arguments: [
            ("{ listen: \"0.0.0.0:9464\", plain: true }", "set 'token'"),
            ("{ listen: \"0.0.0.0:9464\", token: { environment: \"T\" } }", "'metrics.listen': other machines"),
            ("{ listen: \"127.0.0.1:9464\", port: 1 }", "'metrics.port': unknown key"),
            ("{ listen: \"127.0.0.1:9464\", token: \"secret\" }", "metrics"),
            ("{ listen: \"127.0.0.1:9464\", token: { file: \"token\" } }", "'metrics.token': the path"), ("{}", "listen"),
        ])
    func refusedSettings(settings: String, reason: String) throws {
        try folder.write("config.json5", "{ metrics: \(settings) }\n")
        let refused = try run("--store", folder.store, "status")
        #expect(refused.status == 78 && refused.errors.contains(reason), "\(refused.errors)")
    }

    /// A file that everybody may read protects nothing.
    @Test func openTokenFile() throws {
        try folder.write("token", "a made-up token\n")
        #expect(chmod(folder.path("token"), 0o644) == 0)
        try configure(", token: { file: \"\(folder.path("token"))\" }")
        _ = try run("import", try folder.write("one.csv", RunCommandTests.one))
        let refused = try run("api", "serve")
        #expect(refused.status == 78 && refused.errors.contains("every user of this machine can read it"), "\(refused.errors)")
    }
}
