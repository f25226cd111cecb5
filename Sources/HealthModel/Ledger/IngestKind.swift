/// The operation of a ledger entry. The raw value is stored and shown.
public enum IngestKind: String, Hashable, Sendable, CaseIterable {
    /// Readings from a file.
    case `import`
    /// Readings of one day that the hub received.
    case live
    /// Samples of one day that a program saved through the library.
    case save
    /// The user deleted samples.
    case delete
    /// The user restored deleted samples.
    case restore
    /// Another entry was undone.
    case undo
    /// The user accepted quarantined readings.
    case accept
    /// The user rejected quarantined readings.
    case reject
    /// Samples that ended before their type's earliest permitted date were removed permanently.
    case prune
    /// All data of a person was removed permanently.
    case erase
    /// Quarantined readings became samples because the device's clock, our own, or the case of a category is now known.
    case release
    /// Samples that repeat a reading in another unit became its duplicates.
    case merge
    /// Samples were repaired.
    case migrate
    /// A repair was undone.
    case undoRepair = "migrate undo"
}
