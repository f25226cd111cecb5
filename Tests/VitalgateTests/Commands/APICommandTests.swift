import ExportTesting
import FoundationEssentials
import Glibc
import HTTPServerTesting
import Testing

/// `api serve` and the hub's own service, asked by curl.
@Suite struct APICommandTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write("thermometer.csv", "time,type,value,unit\n2026-11-20T06:31:00Z,bodyTemperature,37.0,Cel\n")
        try configure("listen: \"unix:\(folder.path("api.socket"))\"")
        _ = try run(["import", folder.path("thermometer.csv")])
    }

    private func configure(_ api: String) throws {
        try folder.write("config.json5", "{ subject: \"\(Family.person)\", api: { \(api) } }\n")
    }

    private var environment: [String: String] { Vitalgate.environment(home: folder.root) }

    private func arguments(_ words: [String]) -> [String] { ["--config", folder.path("config.json5")] + words }

    private func run(_ words: [String]) throws -> Vitalgate.Run { try Vitalgate.run(arguments(words), environment: environment) }

    private func ask(_ words: [String]) throws -> Vitalgate.Run {
        try RunningVitalgate(
            command: ["/usr/bin/curl", "-sS", "--unix-socket", folder.path("api.socket")] + words, environment: environment
        ).wait()
    }

    /// Waits for its message that it listens, which is the last step before.
    private func started(_ words: [String]) throws -> RunningVitalgate {
        let process = try RunningVitalgate(arguments(words), environment: environment)
        for _ in 0..<30_000 {
            if process.errors.contains("listening at") { return process }
            usleep(10_000)
        }
        Issue.record("it does not listen: \(process.errors)")
        return process
    }

    @Test func servesUntilItIsStopped() throws {
        let process = try started(["api", "serve"])
        let document = try ask(["http://localhost/openapi.json"])
        #expect(document.output == (try run(["api", "openapi"]).output))
        #expect(document.output.hasPrefix("{\"openapi\":\"3.1.0\""))
        #expect(try ask(["http://localhost/v1/samples"]).output.contains("\"status\":401"))
        #expect(try ask(["http://evil.example/v1/samples"]).output.contains("\"status\":421"))
        process.signal(SIGTERM)
        let ended = try process.wait()
        #expect(ended.status == 0)
        // No log contains the requests.
        #expect(!ended.errors.contains("samples") && !ended.errors.contains("evil"))
        #expect(access(folder.path("api.socket"), F_OK) != 0)
    }

    @Test func clientReadsGrantedTypes() throws {
        let process = try started(["api", "serve"])
        let token = try run(["clients", "add", "page", "--purpose", "Charts"]).output.filter { !$0.isNewline }
        let words = ["http://localhost/v1/samples?format=ndjson", "-H", "Authorization: Bearer \(token)"]
        #expect(try ask(words).output == "")
        #expect(try run(["clients", "grant", "page", "--read", "bodyTemperature"]).status == 0)
        #expect(try ask(words).output.contains("\"value\":37.0"))
        // Its reads are in the ledger after the service has ended.
        process.signal(SIGTERM)
        #expect(try process.wait().status == 0)
        let ledger = try run(["clients", "log", "page", "--format", "ndjson"]).output
        #expect(ledger.contains("\"type\":\"bodyTemperature\",\"count\":"), "\(ledger)")
        #expect(!ledger.contains("heartRate"))
        #expect(try run(["clients", "forget", "page"]).status == 0)
        let again = try started(["api", "serve"])
        defer { again.signal(SIGTERM) }
        #expect(try ask(words).output.contains("\"status\":401"))
    }

    /// Killed in the midst of writing, and asked the same again: nothing is lost, and nothing is there twice.
    @Test func aKilledServiceDoublesNothing() throws {
        let token = try run(["clients", "add", "scale", "--purpose", "Weighs"]).output.filter { !$0.isNewline }
        #expect(try run(["clients", "grant", "scale", "--write", "bodyMass"]).status == 0)
        func save(_ number: Int) throws -> Vitalgate.Run {
            let rows = (0..<20).map { row in
                #"{"type":"bodyMass","start":"2026-11-21T07:\#(10 + number):\#(10 + row)Z","value":\#(60 + row).5,"unit":"kg"}"#
            }
            return try ask([
                "http://localhost/v1/samples", "-H", "Authorization: Bearer \(token)", "-H", "Idempotency-Key: \(number)",
                "--json",
                "{\"samples\":[\(rows.joined(separator: ","))]}",
            ])
        }
        for round in 0..<8 {
            let process = try started(["api", "serve"])
            let sending = try RunningVitalgate(
                command: ["/bin/sh", "-c", "sleep 0.0\(round); kill -9 \(process.process)"], environment: environment)
            _ = try save(round)
            _ = try sending.wait()
            _ = try process.wait()
            let again = try started(["api", "serve"])
            // An acknowledged sample is known after the kill, with the same answer. An unacknowledged one is stored now.
            let (first, second) = (try save(round).output, try save(round).output)
            #expect(first == second && first.split(separator: "\"outcome\":\"stored\"").count == 21, "\(first)")
            again.signal(SIGTERM)
            #expect(try again.wait().status == 0)
        }
        #expect(try run(["query", "bodyMass", "--format", "ndjson"]).lines.count == 160)
        #expect(try run(["store", "check", "--deep"]).output == "ok\n")
    }

    /// Killed within a stream and within an event: a client that reconnects with the last event's id receives the rest, and nothing twice.
    @Test func streamResumesAfterKill() throws {
        let token = try run(["clients", "add", "scale", "--purpose", "Weighs"]).output.filter { !$0.isNewline }
        #expect(try run(["clients", "grant", "scale", "--write", "bodyMass"]).status == 0)
        let header = "Authorization: Bearer \(token)"
        func save(_ number: Int) throws {
            let line =
                #"{"type":"bodyMass","start":"2026-11-21T07:\#(10 + number / 10):\#(10 + number % 10)Z","value":\#(60 + number).5,"unit":"kg"}"#
            _ = try ask([
                "http://localhost/v1/samples", "-H", header, "-H", "Idempotency-Key: \(number)", "--json", line,
            ])
        }
        var (reported, last) = ([Double](), "")
        /// The content of a stream, except for a truncated event.
        func take(_ text: String) throws {
            for event in text.split(separator: "\n\n", omittingEmptySubsequences: false).dropLast() {
                for line in event.split(separator: "\n") {
                    if line.hasPrefix("id: ") { last = String(line.dropFirst(4)) }
                    if line.hasPrefix("data: ") { reported.append(try #require(JSON(String(line.dropFirst(6)))["value"].double)) }
                }
            }
        }
        func follow() throws -> RunningVitalgate {
            try RunningVitalgate(
                command: [
                    "/usr/bin/curl", "-sN", "--unix-socket", folder.path("api.socket"), "-H", header,
                    "http://localhost/v1/changes/stream\(last.isEmpty ? "?after=0" : "")",
                ] + (last.isEmpty ? [] : ["-H", "Last-Event-ID: \(last)"]), environment: environment)
        }
        for round in 0..<5 {
            let hub = try started(["run", "--inbox", folder.path("inbox")])
            let stream = try follow()
            let killing = try RunningVitalgate(
                command: ["/bin/sh", "-c", "sleep 0.\(1 + round); kill -9 \(hub.process)"], environment: environment)
            for number in 10 * round..<10 * round + 10 { try save(number) }
            _ = try killing.wait()
            _ = try hub.wait()
            try take(try stream.wait().output)
        }
        let hub = try started(["run", "--inbox", folder.path("inbox")])
        for number in 0..<50 { try save(number) }
        let stream = try follow()
        for _ in 0..<30_000 where reported.count + stream.output.split(separator: "\"value\"").count - 1 < 50 { usleep(10_000) }
        hub.signal(SIGTERM)
        #expect(try hub.wait().status == 0)
        try take(try stream.wait().output)
        #expect(reported.sorted() == (0..<50).map { 60.5 + Double($0) })
        #expect(try run(["store", "check", "--deep"]).output == "ok\n")
    }

    @Test func hubStartsServer() throws {
        let process = try started(["run", "--inbox", folder.path("inbox")])
        #expect(try ask(["http://localhost/v1/samples"]).output.contains("\"status\":401"))
        #expect(try run(["status", "--format", "ndjson"]).output.contains("{\"name\":\"api\",\"state\":\"running\""))
        process.signal(SIGTERM)
        #expect(try process.wait().status == 0)
        #expect(access(folder.path("api.socket"), F_OK) != 0)
    }

    /// A killed server process is restarted, and the hub continues.
    @Test func hubRestartsKilledServer() throws {
        let process = try started(["run", "--inbox", folder.path("inbox")])
        defer { process.signal(SIGTERM) }
        let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
        let child = try #require(processes.first { Self.parent(of: $0) == process.process && Self.serves($0) })
        kill(child, SIGKILL)
        #expect(eventually { process.errors.contains("api: the process ended (signal 9)") })
        #expect(eventually { process.errors.components(separatedBy: "listening at").count > 2 })
        #expect(try ask(["http://localhost/v1/samples"]).output.contains("\"status\":401"))
        #expect(try run(["status", "--format", "ndjson"]).output.contains("{\"name\":\"api\",\"state\":\"running\""))
    }

    private static func serves(_ process: Int32) -> Bool {
        let words = (try? Data(contentsOf: URL(filePath: "/proc/\(process)/cmdline")))?.split(separator: 0) ?? []
        return words.contains(Data("serve".utf8))
    }

    private static func parent(of process: Int32) -> Int32? {
        let status = try? String(contentsOf: URL(filePath: "/proc/\(process)/stat"), encoding: .utf8)
        return status.flatMap { $0.split(separator: ")").last?.split(separator: " ").dropFirst().first.flatMap { Int32($0) } }
    }

    @Test func servesOverTLS() throws {
        let certificate = try Certificate(in: folder.root)
        try configure("listen: \"0.0.0.0:0\", certificate: \"\(certificate.path)\", key: \"\(certificate.key)\"")
        let process = try started(["api", "serve"])
        defer { process.signal(SIGTERM) }
        let port = try #require(process.errors.split(whereSeparator: \.isNewline).first?.split(separator: ":").last)
        let answer = try RunningVitalgate(
            command: ["/usr/bin/curl", "-sS", "--cacert", certificate.path, "https://localhost:\(port)/openapi.json"],
            environment: environment
        ).wait()
        #expect(answer.output == (try run(["api", "openapi"]).output), "\(answer.errors)")
        // RFC 8996: 1.0 and 1.1 are not spoken.
        for (version, isSpoken) in [("-tls1", false), ("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)] {
            let answer = try RunningVitalgate(
                command: [
                    "/bin/sh", "-c",
                    "echo | timeout 20 openssl s_client -connect localhost:\(port) \(version) -cipher ALL@SECLEVEL=0 2>&1 || true",
                ], environment: environment
            ).wait()
            let isAgreed = answer.output.contains("Cipher is") && !answer.output.contains("Cipher is (NONE)")
            #expect(isAgreed == isSpoken, "\(version)")
        }
        let head = try RunningVitalgate(
            command: [
                "/usr/bin/curl", "-sS", "-o", "/dev/null", "-D", "-", "--cacert", certificate.path,
                "https://localhost:\(port)/openapi.json",
            ],
            environment: environment
        ).wait()
        #expect(head.output.lowercased().contains("strict-transport-security: max-age=0"), "\(head.output)")
        // Every user can read the test's key.
        #expect(process.errors.contains("every user of this machine can read the certificate"))
        #expect(try run(["doctor"]).output.contains("every user of this machine can read the certificate"))
    }

    @Test func warnsOfPlainHTTP() throws {
        try configure("listen: \"0.0.0.0:0\", plain: true")
        let process = try started(["api", "serve"])
        defer { process.signal(SIGTERM) }
        #expect(eventually { process.errors.contains("plain HTTP at") })
        #expect(try run(["doctor"]).output.contains("plain HTTP at"))
        try configure("listen: \"0.0.0.0:0\", plain: true, proxy: \"172.30.32.2\", proxyOnly: true")
        #expect(try !run(["doctor"]).output.contains("plain HTTP at"))
    }

    @Test func serverNeedsConfiguration() throws {
        try folder.write("config.json5", "{}\n")
        let run = try run(["api", "serve"])
        #expect(run.status == 78 && run.errors.contains("api.listen"))
    }

    @Test(
        arguments: [
            ("listen: \"8642\"", "expected an address"), ("hosts: []", "api.listen"),
            ("listen: \"0.0.0.0:0\"", "other machines can reach this address"),
            ("listen: \"127.0.0.1:0\", port: 1", "unknown key"),
            ("listen: \"0.0.0.0:0\", certificate: \"a.pem\"", "must be set together"),
            ("listen: \"127.0.0.1:0\", proxyOnly: true", "'api.proxyOnly': set 'api.proxy'"),
            ("listen: \"0.0.0.0:0\", certificate: \"/nowhere\", key: \"/nowhere\"", "cannot be read"),
        ])
    func aWrongConfigurationIsExplained(api: String, words: String) throws {
        try configure(api)
        let run = try run(["api", "serve"])
        #expect(run.status != 0 && run.errors.contains(words), "\(run.errors)")
    }

    @Test func onlyDocumentIsPublic() throws {
        let process = try started(["api", "serve"])
        defer { process.signal(SIGTERM) }
        for path in [
            "samples", "latest", "types", "sources", "devices", "changes", "changes/stream", "characteristics",
            "activity-summaries", "statistics?type=heartRate&every=1d",
        ] {
            let answer = try ask(["http://localhost/v1/\(path)", "-H", "Authorization: Bearer guessed"])
            #expect(answer.output.contains("\"status\":401") && !answer.output.contains("bodyTemperature"), "\(path)")
        }
    }
}
