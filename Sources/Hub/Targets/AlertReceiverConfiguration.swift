import CommandExport
import HealthModel
import MQTTExport
import Pipeline
import WebhookExport

/// One of the configuration's `alerts`: a receiver of alerts besides the page.
///
///     alerts: {
///         phone: { kind: "webhook", url: "https://receiver.example.org/alerts" },
///         lamp: { kind: "command", command: ["/usr/local/bin/lamp"] },
///         home: { kind: "mqtt", url: "mqtt://localhost" },
///     }
package struct AlertReceiverConfiguration: Sendable, NamedSetting {
    package enum Kind: String, CaseIterable, Sendable {
        case command, webhook, mqtt

        /// The keys of the target of the same kind that also apply to alerts.
        var keys: [String] {
            switch self {
            case .command: CommandExporter.Settings.keys
            case .webhook: WebhookExporter.Settings.keys.filter { $0 != "format" }
            case .mqtt: MQTTSettings.keys.filter { !["homeAssistant", "staleAfter"].contains($0) }
            }
        }
    }

    /// The name in commands: lower-case letters, digits, `-`.
    package let name: String
    package let kind: Kind
    private let make: @Sendable (_ store: String, _ now: @escaping () -> Instant) -> any AlertSender

    static let (key, noun) = ("alerts", "receiver")
    static let keys = Set(["kind"] + Kind.allCases.flatMap(\.keys))

    init(name: String, from decoder: any Decoder) throws {
        self.name = name
        let members = try decoder.container(keyedBy: SettingKey.self)
        kind = try members.kind { ["kind"] + $0.keys }
        make = try members.settings { [kind] in
            switch kind {
            case .command:
                let settings = try CommandExporter.Settings(from: decoder)
                return { _, _ in CommandAlertSender(settings) }
            case .webhook:
                let settings = try WebhookExporter.Settings(from: decoder)
                return { WebhookAlertSender(settings, now: $1) }
            case .mqtt:
                let settings = try MQTTSettings(from: decoder)
                return { store, _ in MQTTAlertSender(settings, name: name, store: store) }
            }
        }
    }

    /// Returns the sender. It has not connected yet.
    ///
    /// - Parameter store: The store's identifier.
    package func sender(store: String, now: @escaping () -> Instant) -> any AlertSender { make(store, now) }
}
