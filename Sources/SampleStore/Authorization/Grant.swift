import HealthModel

/// What a client may with one person's objects of one type.
public struct Grant: Hashable, Sendable {
    /// Whose.
    public var subject: String
    /// Which.
    public var type: ObjectType
    /// What it may read.
    public var reading: Reading
    /// Whether it may write, and read what it wrote.
    public var mayWrite: Bool

    /// What a client may read of a type. Asked about object by object, nothing is `all`.
    public enum Reading: Hashable, Sendable {
        /// Nothing.
        case none
        /// What starts at an instant or later; all of it from `Instant(microseconds: .min)` on.
        case from(Instant)
        /// Named objects, of a type that is asked about object by object, and those that come later as well where the person said so.
        case objects(future: Bool)
    }

    /// Puts it together.
    public init(subject: String, type: ObjectType, reading: Reading, mayWrite: Bool) {
        (self.subject, self.type, self.reading, self.mayWrite) = (subject, type, reading, mayWrite)
    }
}

extension Grant.Reading {
    /// All there is, of a type that is not asked about object by object.
    public static let all = Grant.Reading.from(Instant(microseconds: .min))
}
