/// The rule for the UUIDs that an object contains, such as the samples of a correlation or the routes of a workout. A UUID is data, and
/// anyone can write it into a file. It leads only to objects of the same person. If a client saved the object, it leads only to objects
/// that this client saved.
///
/// All other UUIDs lead nowhere, like those of objects that do not exist.
public struct ReferenceRule: Hashable, Sendable {
    private let subject: String
    /// The source of the client that saved the object, or `nil` if no client did.
    private let client: String?

    /// Creates the rule for the references in an object.
    ///
    /// - Parameter origin: The origin of the object.
    public init(of origin: Origin) {
        subject = origin.subject
        client = Self.isClient(origin.source.id) ? origin.source.id : nil
    }

    /// Whether a reference may lead to an object of a person and source.
    public func permits(subject: String, source: String) -> Bool {
        subject == self.subject && (client == nil || client == source)
    }

    /// Whether a reference may lead to an object.
    public func permits(_ other: Sample) -> Bool {
        permits(subject: other.origin.subject, source: other.origin.source.id)
    }

    /// The prefix of the source ids of clients.
    public static let clientPrefix = "client."

    /// Whether the id of a source is that of a client.
    public static func isClient(_ source: String) -> Bool {
        source.hasPrefix(clientPrefix) && Int64(source.dropFirst(clientPrefix.count)) != nil
    }
}
