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
    /// The address and its token.
    package let settings: HomeAssistantSettings

    package static let key = "sources"
    /// The keys of an entry.
    static let knownKeys = ["kind"] + HomeAssistantSettings.settings.map(\.key)

    init(name: String, from decoder: any Decoder) throws {
        self.name = name
        let path = "\(Self.key).\(name)"
        guard Self.isName(name) else {
            throw ConfigurationError("'\(path)': a source's name has at most 64 characters from a to z, 0 to 9 and -")
        }
        kind = try decoder.container(keyedBy: SettingKey.self).kind(at: path) { (_: Kind) in Self.knownKeys }
        do {
            settings = try HomeAssistantSettings(from: decoder)
        } catch let fault as SettingsFault {
            throw ConfigurationError("'\(path).\(fault.key)': \(fault.words)")
        }
    }
}
