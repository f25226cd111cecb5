import HealthModel
import SampleStore

/// How far a reader of changes has come, as HealthKit's `HKQueryAnchor`.
///
/// It is opaque and lasts: keep it with what you made of the changes, and go on from it in another process, years later. Written down it is a text, by
/// ``description`` or as `Codable`.
///
/// An anchor is of one store. Used with another one, with one that was put back from a backup, or where it is ahead of the store, a query throws
/// ``HealthStoreError/unknownAnchor(_:)``, and never tells half of the changes in silence.
public struct QueryAnchor: Hashable, Comparable, Sendable, CustomStringConvertible {
    let anchor: Anchor

    init(_ anchor: Anchor) { self.anchor = anchor }

    /// Before the first change of any store.
    public static let beginning = QueryAnchor(Anchor.beginning)

    /// Reads an anchor that was written down; `nil` where the text is none.
    public init?(_ text: some StringProtocol) {
        guard let anchor = Anchor(text) else { return nil }
        self.init(anchor)
    }

    public var description: String { anchor.description }

    /// Whether a reader with the one has seen less than a reader with the other, both of one store.
    public static func < (one: QueryAnchor, other: QueryAnchor) -> Bool { one.anchor < other.anchor }
}

extension QueryAnchor: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let anchor = QueryAnchor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the text is no anchor of a store")
        }
        self = anchor
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension HealthStore {
    /// The anchor of a reader who has seen everything that is there now.
    public func currentAnchor() async throws -> QueryAnchor {
        QueryAnchor(try await readers.read { store in try store.lastAnchor() })
    }
}

extension SampleStore {
    /// - Throws: ``HealthStoreError/unknownAnchor(_:)``
    func check(_ anchor: QueryAnchor) throws {
        if let reason = try reasonNotToKnow(anchor.anchor) { throw HealthStoreError.unknownAnchor(reason) }
    }
}
