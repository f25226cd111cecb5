import HomeAssistantKit
import Pipeline

/// Another receiver of the hub: an entry of the configuration's key `sources`.
///
///     sources: {
///         house: { kind: "homeassistant", url: "https://ha.example.org", token: { file: "/etc/vitalgate/house.token" } },
///     }
package struct SourceConfiguration: NamedSetting, Equatable, Sendable {
    /// The kinds of receivers.
    package enum Kind: String, CaseIterable, Sendable {
        /// The Bluetooth radios and proxies of a Home Assistant.
        case homeassistant
    }

    /// The name in commands: lower-case letters, digits, `-`.
    package let name: String
    /// The kind of receiver.
    package let kind: Kind
    package let settings: HomeAssistantSettings

    package static let (key, noun) = ("sources", "source")
    /// The keys of an entry.
    static let knownKeys = ["kind"] + HomeAssistantSettings.settings.map(\.key)

    init(name: String, from decoder: any Decoder) throws {
        self.name = name
        let members = try decoder.container(keyedBy: SettingKey.self)
        kind = try members.kind { (_: Kind) in Self.knownKeys }
        settings = try members.settings { try HomeAssistantSettings(from: decoder) }
    }
}
