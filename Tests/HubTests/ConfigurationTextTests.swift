import FleetProtocol
import Testing

@testable import Hub

/// Settings that the center of a fleet changes in the text of a configuration. The rest stays byte for byte.
@Suite struct ConfigurationTextTests {
    private static func changed(_ text: String, _ settings: [String]) throws -> String {
        String(
            decoding: try ConfigurationText.setting(settings.map { try #require(HubSetting($0)) }, in: Array(text.utf8)),
            as: UTF8.self)
    }

    @Test(arguments: [
        ("", "hub.commitEvery=10", "{\n    hub: { commitEvery: 10 },\n}\n"),
        ("{ locale: 'en-US' } // mine", "locale=de-AT", "{ locale: \"de-AT\" } // mine"),
        (
            "{\n    // a\n    hub: { commitEvery: 30 /* b */, inbox: '/x' },\n}\n", "hub.commitEvery=10",
            "{\n    // a\n    hub: { commitEvery: 10 /* b */, inbox: '/x' },\n}\n"
        ),
        (
            "{\n  hub: {\n    inbox: '/x', // a\n  },\n}", "hub.heartbeats=series",
            "{\n  hub: {\n    inbox: '/x', // a\n    heartbeats: \"series\",\n  },\n}"
        ),
        ("{ store: '/s' }", "retention.heartRate=90d", "{ store: '/s', retention: { heartRate: \"90d\" } }"),
        ("{ retention: { all: '1y' } }", "retention.all=10y", "{ retention: { all: \"10y\" } }"),
    ])
    func changesOneSetting(text: String, setting: String, expected: String) throws {
        #expect(try Self.changed(text, [setting]) == expected)
        // Again, it changes nothing.
        #expect(try Self.changed(expected, [setting]) == expected)
    }

    @Test func severalAtOnce() throws {
        let text = "{\n    prune: \"never\", // kept\n}\n"
        #expect(
            try Self.changed(text, ["retention.heartRate=90d", "prune=daily", "retention.all=10y"])
                == "{\n    prune: \"daily\", // kept\n    retention: { heartRate: \"90d\", all: \"10y\" },\n}\n")
    }

    @Test(arguments: ["{ hub: 1 }", "{ hub: {}, hub: {} }", "[]", "{ hub: {"])
    func unusualTexts(text: String) {
        #expect(throws: ConfigurationError.self) { try Self.changed(text, ["hub.commitEvery=10"]) }
    }

    /// The center may set only keys that the configuration has, and every value is checked as in the file.
    @Test func theKeysExist() throws {
        let machine = Machine(environment: ["HOME": "/tmp"], now: { .init(seconds: 0) }, zoneDirectory: "/usr/share/zoneinfo")
        let examples = [
            "locale=de-AT", "units.bodyMass=kg", "retention.heartRate=90d", "prune=daily", "page.bloodPressure=esc-esh-2018",
            "hub.readingsPerSecond=10", "hub.commitEvery=10", "hub.heartbeats=series",
            "sealingKey=\(try #require(SealingKey.random()).publicText)",
        ]
        let settings = try examples.map { try #require(HubSetting($0)) }
        #expect(
            Set(settings.map { HubSetting.forms[$0.path[0]] == nil ? $0.path.joined(separator: ".") : $0.path[0] })
                == Set(HubSetting.forms.keys))
        let target = "{ targets: { center: { kind: 'fleet', fleet: 'study', servers: ['nats://localhost:4222'] } } }"
        let text = try ConfigurationText.setting(settings.map { $0.of(target: "center") }, in: Array(target.utf8))
        let configuration = try Configuration(text: text, of: "x", machine: machine)
        #expect(configuration.hub.commitEvery == 10 && configuration.prunesDaily && configuration.language == "de")
        for wrong in ["hub.commitEvery=0", "prune=hourly", "locale=x", "units.bodyMass=m", "retention.noSuchType=1d"] {
            #expect(throws: ConfigurationError.self, "\(wrong)") {
                let text = try ConfigurationText.setting([try #require(HubSetting(wrong))], in: [])
                _ = try Configuration(text: text, of: "x", machine: machine)
            }
        }
    }
}
