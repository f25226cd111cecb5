import HealthModel
import Pipeline

/// The broker's address, credentials and topics.
package struct MQTTSettings: ExporterSettings {
    /// `url`, `user`, `password`, `certificateAuthority`, `topic`, `discovery`, `homeAssistant`, `staleAfter`.
    package static let settings = Key.settings

    /// The broker's name or address.
    package var host: String
    /// The port. The default is 1883, or 8883 with TLS.
    package var port: Int
    /// Whether the connection is encrypted, and the broker's certificate checked.
    package var isEncrypted: Bool
    package var user: String?
    /// The password, or `nil` if the broker needs none.
    package var password: Secret?
    /// The path of a file with trusted certificates, or `nil` for the system's.
    package var certificateAuthority: String?
    /// The prefix of all topics except those of discovery.
    package var topic: String
    /// The prefix of Home Assistant's discovery topics. Empty turns discovery off.
    package var discovery: String
    /// Home Assistant's version. From 2025.8 on it uses another character for `µ`.
    package var homeAssistant: HomeAssistantVersion
    /// Seconds after which a reading is no longer current, by type. `other` applies to all other types.
    package var staleAfter: [String: Int]

    /// The default: a day, in seconds.
    private static let stale = 86_400

    /// Creates settings. The defaults are for a broker on this machine.
    package init(
        host: String = "localhost", port: Int? = nil, isEncrypted: Bool = false, user: String? = nil, password: Secret? = nil,
        certificateAuthority: String? = nil, topic: String = "vitalgate", discovery: String = "homeassistant",
        homeAssistant: HomeAssistantVersion = .newest, staleAfter: [String: Int] = [:]
    ) {
        (self.host, self.port, self.isEncrypted) = (host, port ?? (isEncrypted ? 8883 : 1883), isEncrypted)
        (self.user, self.password, self.certificateAuthority) = (user, password, certificateAuthority)
        (self.topic, self.discovery, self.homeAssistant, self.staleAfter) = (topic, discovery, homeAssistant, staleAfter)
    }

    /// Returns the seconds after which a reading of a type is no longer current, or `nil` if it stays current.
    func staleAfter(_ type: SampleType) -> Int? {
        staleAfter[type.id] ?? staleAfter["other"] ?? (Self.stays(type) ? nil : Self.stale)
    }

    /// Whether the type is measured rarely and stays valid until the next measurement, such as weight or height.
    private static func stays(_ type: SampleType) -> Bool {
        guard type.kind == .quantity, type.aggregation == .discreteArithmetic else { return false }
        if ["kg", "m", "cm", "kg/m2", "Ohm", "mL/kg/min", "kcal/d"].contains(type.canonicalUnit.code) { return true }
        return (type.id.hasPrefix("body") || type.id.hasPrefix("muscle")) && type.canonicalUnit.code == "%"
    }

    /// The broker's URL, as the user would write it.
    var url: String { "\(isEncrypted ? "mqtts" : "mqtt")://\(host):\(port)" }

    private enum Key: String, ExporterSettingKey {
        case url, user, password, certificateAuthority, topic, discovery, homeAssistant, staleAfter

        var form: ExporterSetting.Form {
            switch self {
            case .password: .secret
            case .staleAfter: .numbers
            default: .text
            }
        }
    }

    /// - Throws: ``SettingsFault`` if a value is invalid.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let address = try Self.address(members.decode(String.self, forKey: .url))
        self.init(
            host: address.host, port: address.port, isEncrypted: address.isEncrypted,
            user: try members.decodeIfPresent(String.self, forKey: .user),
            password: try members.decodeIfPresent(Secret.self, forKey: .password),
            certificateAuthority: try members.decodeIfPresent(String.self, forKey: .certificateAuthority),
            topic: try members.decodeIfPresent(String.self, forKey: .topic) ?? "vitalgate",
            discovery: try members.decodeIfPresent(String.self, forKey: .discovery) ?? "homeassistant",
            staleAfter: try Self.byType(members.decodeIfPresent([String: Int].self, forKey: .staleAfter) ?? [:]))
        if let text = try members.decodeIfPresent(String.self, forKey: .homeAssistant) {
            guard let version = HomeAssistantVersion(text) else {
                throw SettingsFault("homeAssistant", "expected a version such as \"2025.4\"")
            }
            guard version.isSupported else {
                throw SettingsFault(
                    "homeAssistant", "Home Assistant must be 2024.12 or newer: older versions do not support device discovery"
                )
            }
            homeAssistant = version
        }
        guard Self.isLevel(topic) else {
            throw SettingsFault("topic", "expected letters, digits, - and _, at most 64 of them")
        }
        guard discovery.isEmpty || discovery.split(separator: "/", omittingEmptySubsequences: false).allSatisfy(Self.isLevel)
        else {
            throw SettingsFault("discovery", "expected letters, digits, - and _, separated by /, or nothing")
        }
        guard staleAfter.values.allSatisfy({ (1...315_576_000).contains($0) }) else {
            throw SettingsFault("staleAfter", "expected seconds, from 1 to ten years")
        }
        guard certificateAuthority == nil || isEncrypted else {
            throw SettingsFault("certificateAuthority", "mqtt:// does not verify the broker: use mqtts://")
        }
        guard user != nil || password == nil else { throw SettingsFault("password", "a password needs 'user'") }
    }

    /// Returns the values by the types' ids.
    private static func byType(_ values: [String: Int]) throws(SettingsFault) -> [String: Int] {
        var found: [String: Int] = [:]
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let id: String
            do throws(TypeNameError) {
                id = name == "other" ? name : try SampleType(anyName: name).id
            } catch {
                throw SettingsFault("staleAfter", error.description)
            }
            guard found.updateValue(value, forKey: id) == nil else {
                throw SettingsFault("staleAfter", "'\(id)' occurs twice, by different names")
            }
        }
        return found
    }

    private static func address(_ url: String) throws(SettingsFault) -> (host: String, port: Int?, isEncrypted: Bool) {
        for (scheme, isEncrypted) in [("mqtt://", false), ("mqtts://", true)] where url.hasPrefix(scheme) {
            var rest = url.dropFirst(scheme.count)
            if rest.last == "/" { rest.removeLast() }
            var port: Int?
            if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
                port = Int(rest[rest.index(after: colon)...])
                guard let port, (1...65_535).contains(port) else { break }
                rest = rest[..<colon]
            }
            if rest.first == "[", rest.last == "]" { rest = rest.dropFirst().dropLast() }
            guard !rest.isEmpty, !rest.contains("/"), !rest.contains("@"), rest.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { break }
            return (String(rest), port, isEncrypted)
        }
        throw SettingsFault("url", "expected mqtt://HOST:PORT or mqtts://HOST:PORT (set the name of the user in 'user')")
    }

    private static func isLevel(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }
}
