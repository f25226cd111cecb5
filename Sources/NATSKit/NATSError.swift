import CNATS

/// The reason why a request to a broker failed.
package struct NATSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reaction that the error needs.
    package enum Kind: Hashable, Sendable {
        /// The broker cannot be reached, or the connection broke.
        case unreachable
        /// The subject has no subscriber. The broker reports this at once.
        case noResponders
        /// No reply came in time. Whether the request was handled is unknown.
        case timeout
        /// The broker refuses the credentials or the certificate.
        case unauthorised
        /// The message is longer than the broker allows.
        case tooLarge
        case invalid
    }

    /// The reaction that the error needs.
    package var kind: Kind
    /// The library's words. They contain no secrets and no content of messages.
    package var reason: String

    package var description: String { reason }

    init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }

    init(_ status: natsStatus) {
        kind =
            switch status {
            case NATS_NO_RESPONDERS: .noResponders
            case NATS_TIMEOUT: .timeout
            case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED, NATS_SSL_ERROR, NATS_SECURE_CONNECTION_REQUIRED: .unauthorised
            case NATS_MAX_PAYLOAD: .tooLarge
            case NATS_INVALID_ARG, NATS_INVALID_SUBJECT, NATS_ADDRESS_MISSING: .invalid
            default: .unreachable
            }
        reason = natsStatus_GetText(status).map { String(cString: $0) } ?? "unknown error"
    }

    /// Throws unless the status is OK.
    static func check(_ status: natsStatus) throws(NATSError) {
        guard status == NATS_OK else { throw NATSError(status) }
    }
}
