import ExportTesting
import Testing

/// `sources add` and `sources remove`, with the output of `scan` and `status`.
@Suite struct SourceEditingTests {
    private let folder: TestFolder
    private static let original = "// mine\n{\n    hub: { commitEvery: 5 }, // here\n    // The end.\n}\n"
    private static let sensor = "A4:C1:38:02:83:F4"
    private static let raw = "0201060716d2fc4002c409"

    init() throws {
        folder = try TestFolder()
        try folder.write("config.json5", Self.original)
    }

    private var config: String { folder.text("config.json5") }

    /// Runs the program with a line on its standard input.
    private func typing(_ line: String, _ words: [String]) throws -> (status: Int32, output: String) {
        let quoted = ([try Vitalgate.binary()] + (try folder.options()) + words).map { "'\($0)'" }.joined(separator: " ")
        let run = try RunningVitalgate(
            command: ["/bin/sh", "-c", "printf '%s\\n' '\(line)' | \(quoted) 2>&1"],
            environment: Vitalgate.environment(home: folder.root)
        ).wait()
        return (run.status, run.output)
    }

    @Test func homeAssistantIsCheckedAddedAndRemoved() throws {
        let server = try HomeAssistantServer()
        defer { server.kill() }
        try server.receive([HomeAssistantServer.advert(Self.sensor, Self.raw)])
        let words = ["sources", "add", "homeassistant", server.url, "--name", "house"]
        let wrong = try typing("guess", words)
        #expect(wrong.status == 69 && wrong.output.contains("refuses the token") && !wrong.output.contains("guess"), "\(wrong)")
        let member = try typing("member", words)
        #expect(member.status == 69 && member.output.contains("administrator"), "\(member)")
        #expect(config == Self.original && !folder.exists("house.token"))
        let right = try typing("good", words)
        #expect(right.status == 0 && right.output.contains("1 radio: double 01") && !right.output.contains("good"), "\(right)")
        #expect(folder.mode("house.token") == 0o600)
        let far = try typing("good", ["sources", "add", "homeassistant", "http://ha.example.org", "--name", "far"])
        #expect(far.status == 64 && far.output.contains("unencrypted"), "\(far)")
        let again = try typing("good", words)
        #expect(again.status == 64 && again.output.contains("already has a source 'house'"), "\(again)")
        let other = ["sources", "add", "homeassistant", server.url, "--token-file", folder.path("house.token")]
        #expect(try folder.vitalgate(other).status == 0)
        #expect(config.contains("sources: {\n        house: {") && config.contains("homeassistant: { kind:"))
        #expect(try folder.vitalgate("sources", "remove", "homeassistant").status == 0)

        let scan = try folder.vitalgate("scan", "--seconds", "1", "--format", "ndjson")
        #expect(scan.output.contains("\"address\":\"\(Self.sensor)\"") && scan.output.contains("bthome-v2"), "\(scan)")
        #expect(scan.output.contains(#""receivers":[{"receiver":"house: double 01","strength":-60}]"#), "\(scan)")
        let removed = try folder.vitalgate("sources", "remove", "house")
        #expect(removed.status == 0 && removed.errors.contains("is still in \(folder.path("house.token"))"), "\(removed)")
        #expect(config.contains("// mine") && config.contains("// here") && !config.contains("house"))
        #expect(try folder.vitalgate("sources", "remove", "house").status == 64)
    }

    /// A hub without an adapter, whose devices Home Assistant hears.
    @Test func hubListens() throws {
        let server = try HomeAssistantServer()
        defer { server.kill() }
        try server.receive([HomeAssistantServer.advert(Self.sensor, Self.raw)])
        #expect(try typing("good", ["sources", "add", "homeassistant", server.url, "--name", "house"]).status == 0)
        let adopted = try folder.vitalgate("devices", "adopt", Self.sensor, "--seconds", "5")
        #expect(adopted.status == 0 && adopted.errors.contains("read by bthome-v2"), "\(adopted)")
        let hub = try RunningHub(folder, inbox: false)
        try hub.waits { hub.count("listening to the radios of Home Assistant 2026.2.3") == 1 }
        try server.receive([HomeAssistantServer.advert(Self.sensor, "0201060716d2fc4002c509")])
        try hub.waits {
            try folder.vitalgate("status", "--format", "ndjson").output.contains(
                #""receivers":[{"name":"house: double 01","strength":-60"#)
        }
        let status = try folder.vitalgate("status")
        #expect(status.output.contains("1 radio") && status.output.contains("from memory"), "\(status)")
        #expect(status.output.contains("house: double 01"), "\(status)")
        try hub.stop()
        let query = try folder.vitalgate("query", "all", "--format", "ndjson")
        #expect(query.output.contains("\"value\":25.01") && !query.output.contains("\"value\":25,"), "\(query)")
    }
}
