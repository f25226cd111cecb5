import ExportTesting
import FoundationEssentials
import Glibc
import HTTPServerTesting
import Testing

/// `setup`: a hub opens its page to the network, as curl sees it, and closes it again.
@Suite struct SetupCommandTests {
    private let folder: TestFolder
    private static let original = "// mine\n{\n    store: \"STORE\", // here\n}\n"

    init() throws { folder = try TestFolder() }

    private var config: String { folder.path("config.json5") }
    private var environment: [String: String] { Vitalgate.environment(home: folder.root) }

    private func run(_ words: String...) throws -> Vitalgate.Run {
        try Vitalgate.run(["--config", config] + words, environment: environment)
    }

    private func text() throws -> String { try String(contentsOf: URL(filePath: config), encoding: .utf8) }

    @Test func opensAndCloses() throws {
        let original = Self.original.replacing("STORE", with: folder.path("s.db"))
        try folder.write("config.json5", original)
        // Without a terminal it needs --yes.
        let asked = try run("setup", "hub.home", "127.0.0.1")
        #expect(asked.status == 0 && asked.errors.contains("nothing was changed"), "\(asked)")
        #expect(try text() == original)

        let opened = try run("setup", "--yes", "--port", "8642", "hub.home", "127.0.0.1")
        #expect(opened.status == 0 && opened.output.contains("authority.pem"), "\(opened)")
        let changed = try text()
        #expect(changed.contains("listen: \"0.0.0.0:8642\"") && changed.contains("store: \"\(folder.path("s.db"))\", // here"))
        var status = stat()
        #expect(stat(folder.path("tls/hub-key.pem"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        let again = try run("setup", "--yes")
        #expect(again.status == 0 && again.errors.contains("set up already"), "\(again)")

        // The configuration serves the page with that certificate, on a free port.
        try folder.write("config.json5", changed.replacing("0.0.0.0:8642", with: "127.0.0.1:0"))
        try folder.write("weight.csv", "time,type,value,unit\n2026-11-20T06:31:00Z,bodyMass,70,kg\n")
        #expect(try run("import", folder.path("weight.csv")).status == 0)
        let server = try RunningVitalgate(["--config", config, "api", "serve"], environment: environment)
        defer { server.signal(SIGTERM) }
        #expect(eventually { server.errors.contains("listening at") })
        let port = try #require(
            server.errors.split(whereSeparator: \.isNewline).first { $0.contains("listening at") }?.split(separator: ":").last)
        let link = try run("page", "open").output
        #expect(link.hasPrefix("https://hub.home:"), "\(link)")
        let curl =
            "curl -sS --cacert tls/authority.pem --resolve hub.home:\(port):127.0.0.1 https://hub.home:\(port)/openapi.json"
        let answer = try RunningVitalgate(
            command: ["/bin/sh", "-c", "cd \(folder.root) && \(curl) 2>&1"], environment: environment
        ).wait()
        #expect(answer.output.hasPrefix("{\"openapi\":\"3.1.0\""), "\(answer.output.prefix(200))")

        try folder.write("config.json5", changed)
        #expect(try run("setup", "--undo").status == 0)
        #expect(try text() == original)
        #expect(try run("setup", "--undo").errors.contains("has not changed"))
    }

    @Test func keepsExistingConfiguration() throws {
        let own = "{ api: { listen: \"127.0.0.1:8642\" } }\n"
        try folder.write("config.json5", own)
        let refused = try run("setup", "--yes")
        #expect(refused.status == 78 && refused.errors.contains("127.0.0.1:8642"), "\(refused)")
        for words in [["setup", "--yes", "--port", "0"], ["setup", "--yes", "a b"]] {
            try folder.write("config.json5", "{}\n")
            #expect(try Vitalgate.run(["--config", config] + words, environment: environment).status != 0)
            #expect(try text() == "{}\n")
        }
    }
}
