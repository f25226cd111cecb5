import HealthModel

/// An error that ends reading from a source.
public struct SourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The category of the error, for callers that react to it.
    public enum Kind: Hashable, Sendable {
        /// There is no input: no such file, or no permission.
        case noInput
        /// The input has the wrong form.
        case malformed
        /// Reading failed.
        case inputOutput
    }

    /// The category of the error.
    public var kind: Kind
    /// The cause of the error.
    public var reason: String
    /// The place up to which the source was read.
    public var place: Place?

    /// An error with its cause.
    public init(_ kind: Kind, _ reason: String, at place: Place? = nil) {
        self.kind = kind
        self.reason = reason.excerpt(maximum: Refusal.maximumReasonLength)
        self.place = place
    }

    public var description: String { place.map { "\($0): \(reason)" } ?? reason }
}
