/// The rule for the UUIDs that an object contains, such as the samples of a correlation or the routes of a workout. A UUID is data, and
/// anyone can write it into a file. It leads only to objects of the same person. If a client saved the object, it leads only to objects
/// that this client saved. In a correlation, it leads only to samples of the correlation's own time.
///
/// The rule applies when a reference is followed, so it holds for objects of any origin: imported, saved, quarantined or restored.
///
/// All other UUIDs lead nowhere, like those of objects that do not exist.
public struct ReferenceRule: Hashable, Sendable {
    private let person: String
    /// The source of the client that saved the object, or `nil` if no client did.
    private let client: String?
    /// The permitted start times in microseconds, or `nil` for any time.
    private let times: ClosedRange<Int64>?

    /// A file can round times to minutes, and its samples can be duplicates of exact ones.
    private static let resolution: Int64 = 60_000_000

    /// Creates the rule for references in the metadata of an object, which may lead to any time.
    ///
    /// - Parameter origin: The origin of the object.
    public init(of origin: Origin) { self.init(of: origin, times: nil) }

    /// Creates the rule for the references in an object's body.
    public init(in object: Sample) {
        let (start, end) = (object.start.microseconds, max(object.start.microseconds, object.end.microseconds))
        let isCorrelation = object.origin.kind == .correlation
        self.init(of: object.origin, times: isCorrelation ? start - Self.resolution...end + Self.resolution : nil)
    }

    private init(of origin: Origin, times: ClosedRange<Int64>?) {
        (person, self.times) = (origin.person, times)
        client = Self.isClient(origin.source.id) ? origin.source.id : nil
    }

    /// Whether a reference may lead to an object of a person and source that starts at a time in microseconds.
    public func permits(person: String, source: String, start: Int64) -> Bool {
        person == self.person && (client == nil || client == source) && times?.contains(start) ?? true
    }

    /// Whether a reference may lead to an object.
    public func permits(_ other: Sample) -> Bool {
        permits(person: other.origin.person, source: other.origin.source.id, start: other.start.microseconds)
    }

    /// The prefix of the source ids of clients.
    public static let clientPrefix = "client."

    /// Whether the id of a source is that of a client.
    public static func isClient(_ source: String) -> Bool {
        source.hasPrefix(clientPrefix) && Int64(source.dropFirst(clientPrefix.count)) != nil
    }
}
