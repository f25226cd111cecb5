import HTTPServerKit
import HealthModel
import Pipeline

/// The settings of the metrics: the key `metrics` of the configuration.
///
///     metrics: {
///         listen: "127.0.0.1:9464",                           // the same keys as in `api`
///         token: { file: "/etc/vitalgate/metrics.token" },    // needed if other machines can connect
///     }
package struct MetricsConfiguration: Decodable, Sendable {
    /// The address, the names and the certificate of the server.
    package var server: APIConfiguration
    /// The token that requests must contain, or `nil` if they need none.
    package var token: Secret?

    /// The keys of the object `metrics`.
    static let knownKeys = APIConfiguration.knownKeys + [tokenKey]
    private static let tokenKey = "token"

    package init(from decoder: any Decoder) throws {
        server = try APIConfiguration(from: decoder, section: "metrics", others: [Self.tokenKey])
        do {
            token = try decoder.container(keyedBy: SettingKey.self).decodeIfPresent(
                Secret.self, forKey: SettingKey(Self.tokenKey))
        } catch let fault as SettingsFault {
            throw ConfigurationError("'metrics.\(fault.key)': \(fault.words)")
        }
        guard server.listen.isLoopback || token != nil else {
            throw ConfigurationError("'metrics.listen': other machines can reach this address: set 'token'")
        }
    }

    /// Returns the security problems on this machine.
    package func weaknesses(at now: Instant) -> [APIConfiguration.Weakness] {
        server.weaknesses(at: now, of: "the metrics and their token")
    }

    /// Returns the settings with expanded paths.
    func expanded(_ expand: (String) -> String) -> MetricsConfiguration {
        var whole = self
        whole.server = server.expanded(expand)
        return whole
    }
}
