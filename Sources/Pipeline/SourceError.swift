/// A source cannot go on.
public struct SourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller can do something about.
    public enum Kind: Hashable, Sendable {
        /// There is nothing to read from: no such file, no permission.
        case noInput
        /// What is there is not what it should be.
        case malformed
        /// The reading itself failed.
        case inputOutput
    }

    /// What kind of error.
    public var kind: Kind
    /// What went wrong.
    public var reason: String
    /// How far the source was read.
    public var place: Place?

    /// Makes an error.
    public init(_ kind: Kind, _ reason: String, at place: Place? = nil) {
        self.kind = kind
        self.reason = reason
        self.place = place
    }

    public var description: String { place.map { "\($0): \(reason)" } ?? reason }
}
