import WebSocketKit

/// A failed command or a failed connection.
package struct HomeAssistantError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failures, by their remedy.
    package enum Kind: Hashable, Sendable {
        /// It is away, still starting, or did not answer in time. Try again.
        case unreachable
        /// The address or the certificate is wrong.
        case address
        /// The token was refused. Never try it again by yourself, because failed logins can ban the address.
        case token
        /// The token's user is not an administrator.
        case rights
        /// This version or configuration cannot do it.
        case unfit
        /// It refused one command, with its code.
        case command(String)
    }

    package let kind: Kind
    /// A text for the user, without secrets and values.
    package let description: String

    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }

    init(_ error: WebSocketError) {
        switch error.kind {
        case .untrusted, .address: self.init(.address, error.description)
        case .rejected(let status):
            // A proxy answers like this while Home Assistant restarts, and 403 means that this address is banned.
            self.init(
                status == 403 || status == 404 ? .address : .unreachable,
                status == 403
                    ? "Home Assistant rejects this machine's address (HTTP status 403): see ip_bans.yaml in its configuration"
                    : error.description)
        case .tooLong, .invalid: self.init(.unfit, error.description)
        case .closed(1009): self.init(.unfit, "a message was too large for Home Assistant")
        case .unreachable, .closed: self.init(.unreachable, error.description)
        }
    }
}
