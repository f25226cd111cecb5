import HealthModel

/// One entry of the change log, as a reader sees it.
public enum StoreChange: Sendable {
    case added(StoredSample)
    case deleted(StoredDeletion)

    /// Its number; a reader that keeps it as its anchor sees what comes behind.
    public var seq: Int64 {
        switch self {
        case .added(let stored): stored.seq
        case .deleted(let deletion): deletion.seq
        }
    }
}

/// A sample that is no longer there, as readers of changes hear of it.
public struct StoredDeletion: Sendable {
    /// The sample as it was: whoever handed it on has to know whose it was, of which type, from where, of when, and how much.
    public var sample: QuantitySample
    /// The sample that a correction put in its place.
    public var replacedBy: String?
    /// The ingest that deleted it.
    public var ingest: Int64
    /// The deletion's place in the change log.
    public var seq: Int64

    /// The sample's UUID.
    public var uuid: SampleIdentity { sample.identity }
    /// The sample's type.
    public var type: QuantityType { sample.origin.type }
}

extension SampleStore {
    /// Gives every change behind an anchor to `body`, in order, each once; a sample that was added and deleted since shows as deleted
    /// only.
    ///
    /// - Parameter anchor: the number of the last change seen; 0 for all. A number says nothing of the store that it is of: readers
    ///   keep an ``Anchor``.
    func changes(after anchor: Int64, types: Set<QuantityType>?, _ body: (StoreChange) throws -> Void) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let names = Dictionary(uniqueKeysWithValues: try series(matching: SampleQuery(types: types)).map { ($0.id, $0.type) })
        try ChangeReader(connection: connection, series: names).read(after: anchor, body)
    }
}
