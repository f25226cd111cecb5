import HTTPClientKit

/// The reason why a WebSocket connection failed or ended.
package struct WebSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The server cannot be reached, the connection broke, or the peer was silent.
        case unreachable
        /// The server's certificate is not trusted.
        case untrusted
        case address
        /// The server answered the handshake with this HTTP status instead of 101.
        case rejected(Int)
        /// The peer closed the connection with this code (RFC 6455, section 7.4). 1005 means none.
        case closed(Int)
        /// A message is longer than the limit.
        case tooLong
        /// The peer violated the protocol.
        case invalid
    }

    package let kind: Kind
    /// A text for the user, without contents of messages.
    package let description: String

    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }

    init(_ failure: HTTPFailure) {
        description = failure.description
        kind =
            switch failure.kind {
            case .untrusted: .untrusted
            case .address: .address
            case .unreachable, .other: .unreachable
            }
    }
}
