import HealthModel

/// A repair that was applied to the store.
public struct StoredRepair: Sendable {
    /// The number of the repair.
    public var id: Int64
    /// The repair's entry in the ledger.
    public var ingest: Int64
    /// The canonical text of the repair.
    public var repair: String
    /// The conditions, as a JSON object of texts.
    public var conditions: String
    /// The component that requested the repair, such as `profile NAME`, or `nil` if a person did.
    public var source: String?
    /// When the repair was applied, in microseconds since 1970.
    public var applied: Int64
    /// `applied` or `undone`.
    public var state: String
    public var undone: Int64?
    /// The ledger entry of the undo.
    public var undoneBy: Int64?
    /// The number of samples that matched the conditions.
    public var matched: Int
    public var repaired: Int
    public var merged: Int
    public var alreadyRight: Int
    public var ambiguous: Int
    public var impossible: Int
}

/// A repaired sample and the sample that replaced it.
public struct RepairedPair: Sendable {
    public var old: SampleIdentity
    public var new: SampleIdentity
    /// Whether the new sample already existed because the same reading had been read correctly.
    public var isMerged: Bool
}
