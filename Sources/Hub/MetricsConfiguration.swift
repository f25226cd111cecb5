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
        let members = try decoder.container(keyedBy: SettingKey.self)
        token = try members.settings { try members[Self.tokenKey] }
        guard server.listen.isLoopback || token != nil else {
            throw members.fault("listen", "other machines can reach this address: set 'token'")
        }
    }

    /// Returns the security problems on this machine.
    package func weaknesses(at now: Instant) -> [APIConfiguration.Weakness] {
        server.weaknesses(at: now, of: "the metrics and their token")
    }

    func expanded(_ expand: (String) -> String) -> MetricsConfiguration {
        var whole = self
        whole.server = server.expanded(expand)
        return whole
    }
}
