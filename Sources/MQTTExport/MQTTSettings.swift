import HealthModel
import Pipeline

/// Where a broker is, how it is entered, and under which topics.
public struct MQTTSettings: ExporterSettings {
    /// `url`, `user`, `password`, `certificateAuthority`, `topic`, `discovery`, `homeAssistant`, `staleAfter`.
    public static let keys = [
        "url", "user", "password", "certificateAuthority", "topic", "discovery", "homeAssistant", "staleAfter",
    ]

    /// A name or an address.
    public var host: String
    /// 1883, with TLS 8883, where nothing is said.
    public var port: Int
    /// Whether the connection is encrypted, and the broker's certificate checked.
    public var isEncrypted: Bool
    /// Who we are there.
    public var user: String?
    /// Nothing where the broker needs none.
    public var password: Secret?
    /// A file of certificates that the broker's may be signed by; the system's without it.
    public var certificateAuthority: String?
    /// What all topics begin with, but for those of discovery.
    public var topic: String
    /// What Home Assistant's topics of discovery begin with; empty where it is told nothing.
    public var discovery: String
    /// Home Assistant's version: it writes `µ` in another way from 2025.8 on.
    public var homeAssistant: HomeAssistantVersion
    /// Seconds after which a reading no longer says how things are: by type, `other` for all that are not named.
    public var staleAfter: [String: Int]

    /// A day, where nothing is said.
    private static let stale = 86_400

    /// A broker on this machine, where nothing else is said.
    public init(
        host: String = "localhost", port: Int? = nil, isEncrypted: Bool = false, user: String? = nil, password: Secret? = nil,
        certificateAuthority: String? = nil, topic: String = "vitalgate", discovery: String = "homeassistant",
        homeAssistant: HomeAssistantVersion = .newest, staleAfter: [String: Int] = [:]
    ) {
        (self.host, self.port, self.isEncrypted) = (host, port ?? (isEncrypted ? 8883 : 1883), isEncrypted)
        (self.user, self.password, self.certificateAuthority) = (user, password, certificateAuthority)
        (self.topic, self.discovery, self.homeAssistant, self.staleAfter) = (topic, discovery, homeAssistant, staleAfter)
    }

    /// After how many seconds a reading of a type no longer says how things are; `nil` where the last one stays.
    func staleAfter(_ type: SampleType) -> Int? {
        staleAfter[type.id] ?? staleAfter["other"] ?? (Self.stays(type) ? nil : Self.stale)
    }

    /// What is measured once a week or once a year, and is true until it is measured again: what a scale says, a height.
    private static func stays(_ type: SampleType) -> Bool {
        guard type.kind == .quantity, type.aggregation == .discreteArithmetic else { return false }
        if ["kg", "m", "cm", "kg/m2", "Ohm", "mL/kg/min", "kcal/d"].contains(type.canonicalUnit.code) { return true }
        return (type.id.hasPrefix("body") || type.id.hasPrefix("muscle")) && type.canonicalUnit.code == "%"
    }

    /// As a person would write it.
    var url: String { "\(isEncrypted ? "mqtts" : "mqtt")://\(host):\(port)" }

    private enum Key: String, CodingKey {
        case url, user, password, certificateAuthority, topic, discovery, homeAssistant, staleAfter
    }

    /// - Throws: ``SettingsFault`` where a value does not fit.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let address = try Self.address(members.decode(String.self, forKey: .url))
        self.init(
            host: address.host, port: address.port, isEncrypted: address.isEncrypted,
            user: try members.decodeIfPresent(String.self, forKey: .user),
            password: try members.decodeIfPresent(Secret.self, forKey: .password),
            certificateAuthority: try members.decodeIfPresent(String.self, forKey: .certificateAuthority),
            topic: try members.decodeIfPresent(String.self, forKey: .topic) ?? "vitalgate",
            discovery: try members.decodeIfPresent(String.self, forKey: .discovery) ?? "homeassistant",
            staleAfter: try members.decodeIfPresent([String: Int].self, forKey: .staleAfter) ?? [:])
        if let text = try members.decodeIfPresent(String.self, forKey: .homeAssistant) {
            guard let version = HomeAssistantVersion(text) else {
                throw SettingsFault("homeAssistant", "expected a version such as \"2025.4\"")
            }
            guard version.isSupported else {
                throw SettingsFault(
                    "homeAssistant", "Home Assistant has to be 2024.12 or newer: an older one makes no sensors of what it is told"
                )
            }
            homeAssistant = version
        }
        guard Self.isLevel(topic) else {
            throw SettingsFault("topic", "expected letters, digits, - and _, at most 64 of them")
        }
        guard discovery.isEmpty || discovery.split(separator: "/", omittingEmptySubsequences: false).allSatisfy(Self.isLevel)
        else {
            throw SettingsFault("discovery", "expected letters, digits, - and _, parted by /, or nothing")
        }
        guard staleAfter.values.allSatisfy({ (1...315_576_000).contains($0) }) else {
            throw SettingsFault("staleAfter", "expected seconds, from 1 to ten years")
        }
        guard certificateAuthority == nil || isEncrypted else {
            throw SettingsFault("certificateAuthority", "nothing is verified with mqtt://; mqtts:// is")
        }
        guard user != nil || password == nil else { throw SettingsFault("password", "there is no user to it") }
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
        throw SettingsFault("url", "expected mqtt://HOST:PORT or mqtts://HOST:PORT; who we are there stands in 'user'")
    }

    private static func isLevel(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }
}
