import CryptographyKit
import FoundationEssentials
import Glibc
import HTTPServerKit
import HealthModel
import Ingestion

/// The settings of the HTTP API: the key `api` of the configuration.
///
///     api: {
///         listen: "127.0.0.1:8642",           // or "unix:/run/vitalgate/api"; another address needs a certificate
///         hosts: ["hub.home"],                // names beside localhost and the address that requests may call it by
///         certificate: "/etc/vitalgate/api.pem", key: "/etc/vitalgate/api-key.pem",
///         plain: true,                        // another address than loopback without TLS
///         proxy: "172.30.32.2",               // a reverse proxy that is trusted
///         proxyOnly: true,                    // connections from other addresses are closed
///     }
package struct APIConfiguration: Decodable, Sendable {
    package var listen: ListeningAddress
    /// Allowed host names besides `localhost` and its own address.
    package var hosts: [String] = []
    /// The path of a certificate with its chain, PEM.
    package var certificate: String?
    /// The path of its key, PEM.
    package var key: String?
    /// Whether an address other than loopback may be served without TLS.
    package var isPlain = false
    /// The IP address of a trusted reverse proxy.
    package var proxy: String?
    /// Whether only this proxy may connect.
    package var acceptsOnlyProxy = false

    /// The key of the configuration that has these settings.
    let section: String

    /// The keys of the object `api`.
    static let knownKeys = ["listen", "hosts", "certificate", "key", "plain", "proxy", "proxyOnly"]

    package init(from decoder: any Decoder) throws { try self.init(from: decoder, section: "api") }

    /// Decodes the settings of another server that has the same ones.
    ///
    /// - Parameters:
    ///   - section: Its key of the configuration.
    ///   - others: The keys that it has besides.
    init(from decoder: any Decoder, section: String, others: [String] = []) throws {
        self.section = section
        let members = try decoder.members(hasOnly: Self.knownKeys + others)
        guard let listen = ListeningAddress(try members.decode(String.self, forKey: SettingKey("listen"))) else {
            throw members.fault(
                "listen", "expected an address and a port such as 127.0.0.1:8642 or [::1]:8642, or unix: and a path")
        }
        self.listen = listen
        (hosts, isPlain) = (try members["hosts"] ?? [], try members["plain"] ?? false)
        (certificate, key) = (try members["certificate"], try members["key"])
        proxy = try members["proxy"]
        guard proxy.map(HostGuard.isAddress) ?? true else {
            throw members.fault("proxy", "expected an IP address such as 172.30.32.2")
        }
        acceptsOnlyProxy = try members["proxyOnly"] ?? false
        guard proxy != nil || !acceptsOnlyProxy else {
            throw members.fault("proxyOnly", "set '\(section).proxy' to the IP address that may connect")
        }
        guard (certificate == nil) == (key == nil) else {
            throw members.fault("'certificate' and 'key' must be set together")
        }
        guard listen.isLoopback || certificate != nil || isPlain else {
            throw members.fault(
                "listen", "other machines can reach this address: set 'certificate' and 'key', or set 'plain' to true")
        }
    }

    /// Returns the security problems on this machine, such as a private key that other users can read, or unencrypted access over
    /// the network.
    package func weaknesses(at now: Instant) -> [Weakness] { weaknesses(at: now, of: "health data and tokens") }

    /// - Parameter contents: The data that the server sends and receives, in words.
    func weaknesses(at now: Instant, of contents: String) -> [Weakness] {
        var found = [certificate.flatMap { Self.end(of: $0, at: now) }].compactMap { $0 }
        var status = stat()
        if let key, stat(key, &status) == 0, status.st_mode & 0o004 != 0 {
            found.append(
                Weakness(
                    isBroken: true, text: "\(key): every user of this machine can read the certificate's key",
                    command: "sudo chmod o= \(key)"))
        }
        // The network between them is that of the proxy.
        if !listen.isLoopback, certificate == nil, !acceptsOnlyProxy {
            found.append(
                Weakness(
                    isBroken: false,
                    text:
                        "plain HTTP at \(listen): anyone on the network can read \(contents): "
                        + "set '\(section).certificate' and '\(section).key'"
                ))
        }
        return found
    }

    /// Returns a warning if the certificate has expired or expires soon.
    private static func end(of path: String, at now: Instant) -> Weakness? {
        guard let bytes = SmallFile.read(path, limit: 1 << 20),
            let certificate = try? Certificate(pem: String(decoding: bytes, as: UTF8.self))
        else { return nil }
        let left = certificate.expires - now.microseconds / 1_000_000
        guard left < expiryWarning else { return nil }
        let day = String(Instant(seconds: certificate.expires).description.prefix(10))
        return Weakness(
            isBroken: left <= 0, text: "\(path): the certificate \(left <= 0 ? "expired" : "expires") on \(day)",
            command: "vitalgate api certificate")
    }

    /// The remaining lifetime in seconds below which a certificate is reported.
    private static let expiryWarning: Int64 = 30 * 86_400

    /// A security problem.
    package struct Weakness: Sendable {
        /// Whether it is an error; else a warning.
        package let isBroken: Bool
        /// The description for the user.
        package let text: String
        /// The command that fixes it, if there is one.
        package var command: String?
    }

    func expanded(_ expand: (String) -> String) -> APIConfiguration {
        var whole = self
        (whole.certificate, whole.key) = (certificate.map(expand), key.map(expand))
        return whole
    }
}
