/// The brokers' addresses and our credentials.
package struct NATSSettings: Hashable, Sendable {
    /// How a client proves who it is.
    package enum Credentials: Hashable, Sendable {
        case none
        case password(user: String, password: String)
        /// The public NKey and the path of the file with its seed.
        case key(public: String, seedFile: String)
        /// The public NKey and the seed itself.
        case seed(public: String, seed: String)
        /// The path of a `.creds` file with a JWT and a seed.
        case file(String)
    }

    /// URLs such as `nats://broker:4222`, or `tls://broker:4222` for an encrypted connection. The servers of a cluster are tried in turn.
    package var servers: [String]
    package var credentials: Credentials
    /// The path of a file with trusted certificates, or `nil` for the system's.
    package var certificateAuthority: String?
    /// The name of the client in the broker's reports.
    package var name: String
    /// The beginning of the subjects of replies, or `nil` for `_INBOX`. A broker can allow each client only its own.
    package var replies: String?

    /// Settings without credentials by default.
    package init(servers: [String], credentials: Credentials = .none, certificateAuthority: String? = nil, name: String) {
        (self.servers, self.credentials, self.certificateAuthority, self.name) = (
            servers, credentials, certificateAuthority, name
        )
    }

    /// Whether a URL is one that ``servers`` may have.
    package static func isValid(server url: String) -> Bool {
        guard let scheme = ["nats://", "tls://"].first(where: url.hasPrefix) else { return false }
        let rest = url.dropFirst(scheme.count)
        // Credentials do not belong into an address, which logs show.
        return !rest.isEmpty && rest.utf8.count <= 300 && rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !rest.contains("@")
    }
}
