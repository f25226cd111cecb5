/// Why a target did not take what it was given, as far as somebody has to act on it.
public struct DeliveryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is to be done about it.
    public enum Kind: Hashable, Sendable {
        /// Nobody answers, the answer was lost, or it was the target's own failure: the same again, later.
        case unreachable
        /// It asks to be left alone for a while (HTTP 429, 503 with Retry-After).
        case busy(Duration)
        /// It takes all of this, but not at once (HTTP 413): half of it.
        case tooLarge
        /// There is something in it that it will never take: half of it, down to what that is.
        case refused
        /// It took all of this but the changes at these places, in order, which it will never take.
        case refusedSome([Int])
        /// It knows us and lets us not (HTTP 401, 403): nothing more until a person has looked.
        case unauthorised
        /// It is not what it has to be, such as a database without our tables: nothing more until a person has looked.
        case unfit
    }

    /// What is to be done.
    public var kind: Kind
    /// The target's own words, or the system's; no health value, no name and no secret is in them.
    public var reason: String

    /// An error in the target's words.
    public init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    public var description: String { reason }
}
