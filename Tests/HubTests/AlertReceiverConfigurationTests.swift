import HealthModel
import Hub
import PipelineTesting
import Testing

/// The configuration's `alerts`.
@Suite struct AlertReceiverConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(_ text: String) throws -> Configuration {
        try folder.write(Array(text.utf8), to: "config.json5")
        let now = FixedClock().now
        let machine = Machine(environment: ["HOME": folder.path], now: { now }, zoneDirectory: folder.file("zones"))
        return try Configuration(path: folder.file("config.json5"), machine: machine)
    }

    @Test func eachKindIsRead() throws {
        let configuration = try read(
            """
            { alerts: {
                phone: { kind: "webhook", url: "https://receiver.example.org/a", secret: { file: "/etc/vitalgate/phone.secret" } },
                lamp: { kind: "command", command: ["/usr/local/bin/lamp", "red"] },
                home: { kind: "mqtt", url: "mqtt://localhost", user: "me", password: { environment: "MQTT" }, discovery: "" },
            } }
            """)
        #expect(configuration.alerts.map(\.name) == ["home", "lamp", "phone"])
        #expect(configuration.alerts.map(\.kind) == [.mqtt, .command, .webhook])
        #expect(try read("{}").alerts.isEmpty)
    }

    @Test(arguments: [
        ("{ x: { kind: 'files' } }", "'alerts.x.kind': expected one of command, webhook, mqtt"),
        ("{ x: {} }", "'alerts.x.kind': expected one of command, webhook, mqtt"),
        ("{ X: { kind: 'command', command: ['a'] } }", "'alerts.X': a receiver's name has at most 64 characters"),
        ("{ x: { kind: 'command' } }", "'alerts.x.command': expected a list: a program and its arguments"),
        ("{ x: { kind: 'webhook', url: 'ftp://a' } }", "'alerts.x.url': the address must begin with http:// or https://"),
        (
            "{ x: { kind: 'webhook', url: 'http://a', format: 'ndjson' } }",
            "'alerts.x.format': unknown key for webhook, expected one of kind, url, secret, certificateAuthority"
        ),
        ("{ x: { kind: 'mqtt', url: 'mqtt://a', staleAfter: {} } }", "'alerts.x.staleAfter': unknown key for mqtt"),
        ("{ x: { kind: 'mqtt', url: 'mqtt://a', types: [] } }", "'alerts.x.types': unknown key for mqtt"),
    ]) func aMistakeIsNamed(text: String, words: String) throws {
        #expect { try read("{ alerts: \(text) }") } throws: { error in
            (error as? ConfigurationError)?.description.contains(words) == true
        }
    }
}
