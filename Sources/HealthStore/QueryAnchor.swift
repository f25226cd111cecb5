import HealthModel
import SampleStore

/// A position in the change log, like HealthKit's `HKQueryAnchor`.
///
/// An anchor is opaque and does not expire. Store it with your results and continue from it later, even years later and in another
/// process. Its text form is ``description`` or its `Codable` representation.
///
/// An anchor belongs to one store. A query throws ``HealthStoreError/unknownAnchor(_:)`` if the anchor is from another store, if
/// the store was restored from a backup, or if the anchor is ahead of the store. It never returns partial changes silently.
public struct QueryAnchor: Hashable, Comparable, Sendable, CustomStringConvertible {
    let anchor: Anchor

    init(_ anchor: Anchor) { self.anchor = anchor }

    /// The anchor before the first change of any store.
    public static let beginning = QueryAnchor(Anchor.beginning)

    /// Parses the text form of an anchor. Returns `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        guard let anchor = Anchor(text) else { return nil }
        self.init(anchor)
    }

    public var description: String { anchor.description }

    /// Whether the first anchor is earlier than the second one. Both must belong to the same store.
    public static func < (one: QueryAnchor, other: QueryAnchor) -> Bool { one.anchor < other.anchor }
}

extension QueryAnchor: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let anchor = QueryAnchor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the text is not an anchor of a store")
        }
        self = anchor
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension HealthStore {
    /// The anchor after all current changes.
    public func currentAnchor() async throws -> QueryAnchor {
        QueryAnchor(try await readers.read { store in try store.changes.lastAnchor() })
    }
}

extension SampleStore {
    /// Checks that the store can continue from an anchor.
    ///
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``
    func check(_ anchor: QueryAnchor) throws {
        if let reason = try changes.reasonNotToKnow(anchor.anchor) { throw HealthStoreError.unknownAnchor(reason) }
    }
}
