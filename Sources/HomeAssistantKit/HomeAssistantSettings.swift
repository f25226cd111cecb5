import Pipeline

package struct HomeAssistantSettings: ExporterSettings, Equatable {
    /// `url`, `token`, `certificateAuthority`, `allowUnencrypted`.
    package static let settings = Key.settings

    package var address: HomeAssistantAddress
    /// A long-lived access token of an administrator.
    package var token: Secret
    /// The path of a file with trusted certificates, or `nil` for the system's.
    package var certificateAuthority: String?

    package init(address: HomeAssistantAddress, token: Secret, certificateAuthority: String? = nil) {
        (self.address, self.token, self.certificateAuthority) = (address, token, certificateAuthority)
    }

    private enum Key: String, ExporterSettingKey {
        case url, token, certificateAuthority, allowUnencrypted

        var form: ExporterSetting.Form {
            switch self {
            case .token: .secret
            case .allowUnencrypted: .boolean
            default: .text
            }
        }
    }

    /// - Throws: ``SettingsFault`` if a value is invalid.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let text = try members.decode(String.self, forKey: .url)
        do throws(HomeAssistantAddress.Fault) {
            address = try HomeAssistantAddress(text)
        } catch {
            throw SettingsFault("url", error.description)
        }
        guard let token = try members.decodeIfPresent(Secret.self, forKey: .token) else {
            throw SettingsFault("token", "expected a long-lived access token of an administrator of Home Assistant")
        }
        self.token = token
        certificateAuthority = try members.decodeIfPresent(String.self, forKey: .certificateAuthority)
        let allowsUnencrypted = try members.decodeIfPresent(Bool.self, forKey: .allowUnencrypted) ?? false
        guard address.isSafe || allowsUnencrypted else {
            throw SettingsFault(
                "url",
                "http:// sends the token unencrypted, and it can do everything in that Home Assistant: use https://, or set "
                    + "allowUnencrypted to true if you trust the network between")
        }
    }
}
