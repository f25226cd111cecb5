import PipelineTesting
import Testing

@testable import Hub

/// An address is in logs, in reports and in the list of processes, so no target accepts one with a password.
@Suite struct TargetPasswordTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The addresses of each kind that has any. A new key fails the test until it is listed here.
    private static func addresses(_ kind: ExporterKind) -> [String] {
        switch kind {
        case .influxdb: ["url: 'http://u:hunter2@h', database: 'd'", "url: 'http://h/?u=u&p=hunter2', database: 'd'"]
        case .fhir: ["url: 'https://u:hunter2@h/fhir'", "url: 'https://h/fhir?token=hunter2'"]
        case .webhook: ["url: 'https://u:hunter2@h/x'"]
        case .mqtt: ["url: 'mqtt://u:hunter2@h'", "url: 'mqtts://u:hunter2@h:8883'"]
        case .fleet: ["fleet: 's', servers: ['nats://u:hunter2@h']", "fleet: 's', servers: ['tls://h', 'tls://u:hunter2@h']"]
        case .homeassistant:
            [
                "url: 'https://u:hunter2@h', token: { environment: 'T' }",
                "url: 'https://h/?t=hunter2', token: { environment: 'T' }",
            ]
        case .files, .postgresql, .command: []
        }
    }

    @Test(arguments: ExporterKind.allCases) func passwordInAddress(kind: ExporterKind) throws {
        let addresses = Self.addresses(kind)
        #expect(addresses.isEmpty != kind.settings.contains { ["url", "servers"].contains($0.key) }, "\(kind)")
        for address in addresses {
            let text = "{ targets: { x: { kind: '\(kind.rawValue)', \(address) } } }"
            try folder.write(Array(text.utf8), to: "config.json5")
            let now = FixedClock().now
            let machine = Machine(environment: ["HOME": folder.path], now: { now }, zoneDirectory: folder.file("zones"))
            #expect {
                try Configuration(path: folder.file("config.json5"), machine: machine)
            } throws: { error in
                let words = (error as? ConfigurationError)?.description ?? ""
                return words.contains("targets.x.") && !words.contains("hunter2")
            }
        }
    }
}
