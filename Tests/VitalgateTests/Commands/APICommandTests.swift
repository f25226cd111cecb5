import ExportTesting
import FoundationEssentials
import Glibc
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
        try folder.write("config.json5", "{ subject: \"\(Household.subject)\", api: { \(api) } }\n")
    }

    private var environment: [String: String] { Vitalgate.environment(home: folder.root) }

    private func arguments(_ words: [String]) -> [String] { ["--config", folder.path("config.json5")] + words }

    private func run(_ words: [String]) throws -> Vitalgate.Run { try Vitalgate.run(arguments(words), environment: environment) }

    private func ask(_ words: [String]) throws -> Vitalgate.Run {
        try RunningVitalgate(
            command: ["/usr/bin/curl", "-sS", "--unix-socket", folder.path("api.socket")] + words, environment: environment
        ).wait()
    }

    /// Waits until it listens: what it says to that is the last thing that it does before.
    private func started(_ words: [String]) throws -> RunningVitalgate {
        let process = try RunningVitalgate(arguments(words), environment: environment)
        for _ in 0..<3000 {
            if process.errors.contains("listens at") { return process }
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
        // What was asked is in no log.
        #expect(!ended.errors.contains("samples") && !ended.errors.contains("evil"))
        #expect(access(folder.path("api.socket"), F_OK) != 0)
    }

    @Test func aClientReadsWhatItWasGranted() throws {
        let process = try started(["api", "serve"])
        defer { process.signal(SIGTERM) }
        let token = try run(["clients", "add", "page", "--purpose", "Charts"]).output.filter { !$0.isNewline }
        let words = ["http://localhost/v1/samples?format=ndjson", "-H", "Authorization: Bearer \(token)"]
        #expect(try ask(words).output == "")
        #expect(try run(["clients", "grant", "page", "--read", "bodyTemperature"]).status == 0)
        #expect(try ask(words).output.contains("\"value\":37.0"))
        #expect(try run(["clients", "remove", "page"]).status == 0)
        #expect(try ask(words).output.contains("\"status\":401"))
    }

    @Test func theHubServesItself() throws {
        let process = try started(["run", "--inbox", folder.path("inbox")])
        #expect(try ask(["http://localhost/v1/samples"]).output.contains("\"status\":401"))
        #expect(try run(["status", "--format", "ndjson"]).output.contains("{\"name\":\"api\",\"state\":\"running\""))
        process.signal(SIGTERM)
        #expect(try process.wait().status == 0)
        #expect(access(folder.path("api.socket"), F_OK) != 0)
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
    }

    @Test func nothingListensUnlessItIsConfigured() throws {
        try folder.write("config.json5", "{}\n")
        let run = try run(["api", "serve"])
        #expect(run.status == 78 && run.errors.contains("api.listen"))
    }

    @Test(
        arguments: [
            ("listen: \"8642\"", "expected an address"), ("hosts: []", "api.listen"),
            ("listen: \"0.0.0.0:0\"", "other machines reach this address"), ("listen: \"127.0.0.1:0\", port: 1", "unknown key"),
            ("listen: \"0.0.0.0:0\", certificate: \"a.pem\"", "needs its key"),
            ("listen: \"0.0.0.0:0\", certificate: \"/nowhere\", key: \"/nowhere\"", "cannot be read"),
        ])
    func aWrongConfigurationIsExplained(api: String, words: String) throws {
        try configure(api)
        let run = try run(["api", "serve"])
        #expect(run.status != 0 && run.errors.contains(words), "\(run.errors)")
    }

    @Test func theDocumentIsForEverybodyAndTheStoreForNobody() throws {
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
