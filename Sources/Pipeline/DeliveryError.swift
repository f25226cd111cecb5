/// The reason why a delivery to a target failed, and what can be done about it.
public struct DeliveryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reaction that the error needs.
    public enum Kind: Hashable, Sendable {
        /// The target is unreachable, its response was lost, or it had an internal failure. Retry the same batch later.
        case unreachable
        /// The target asks for a pause (HTTP 429, 503 with Retry-After).
        case busy(Duration)
        /// The batch is too large for one request (HTTP 413). Retry with half of it.
        case tooLarge
        /// The batch contains something that the target will never accept. Split it until the culprit is found.
        case refused
        /// The target accepted everything except the changes at these indexes (ascending), which it will never accept.
        case refusedSome([Int])
        /// The target rejects our credentials (HTTP 401). Deliveries stop until the user has fixed this.
        case unauthorised
        /// The target forbids the request (HTTP 403): either everything, or records of one kind. ``Exporter/checkAccess()`` finds out which.
        case forbidden
        /// The target has the wrong form, such as a database without our tables. Deliveries stop until the user has fixed this.
        case unfit
    }

    /// The reaction that the error needs.
    public var kind: Kind
    /// Whether the target rejects our credentials or our permissions.
    public var isAboutAccess: Bool { kind == .unauthorised || kind == .forbidden }
    /// The target's or the system's error text. It contains no health values, names or secrets.
    public var reason: String
    /// Whether it is known that the target does not recover by itself, so that it is not an outage.
    public var isLasting: Bool

    /// An error with the target's text.
    public init(_ kind: Kind, _ reason: String, isLasting: Bool = false) {
        self.kind = kind
        self.reason = reason
        self.isLasting = isLasting
    }

    public var description: String { reason }
}
