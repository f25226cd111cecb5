import HealthModel

/// The permissions of a client for one person's objects of one type.
public struct Grant: Hashable, Sendable {
    /// The person whose objects they are.
    public var person: String
    /// The type of the objects.
    public var type: ObjectType
    /// The objects that the client may read.
    public var reading: Reading
    /// Whether the client may write objects and read back the ones it wrote.
    public var mayWrite: Bool

    /// The two permissions, which are requested and granted separately.
    public enum Access: String, Hashable, Sendable, CaseIterable {
        case read, write
    }

    /// The objects of a type that a client may read. A type that is granted object by object never has `all`.
    public enum Reading: Hashable, Sendable {
        /// No objects.
        case none
        /// Objects that start at this instant or later. With `Instant(microseconds: .min)`, all objects.
        case from(Instant)
        /// The objects that the person selected, for a type that is granted object by object. If `future` is true,
        /// later objects are included too.
        case objects(future: Bool)
    }

    /// Creates a grant.
    public init(person: String, type: ObjectType, reading: Reading, mayWrite: Bool) {
        (self.person, self.type, self.reading, self.mayWrite) = (person, type, reading, mayWrite)
    }
}

extension Grant.Reading {
    /// All objects, for a type that is not granted object by object.
    public static let all = Grant.Reading.from(Instant(microseconds: .min))
}
