import HealthModel

/// The numbers of incoming readings, summed over ledger entries.
public struct ReadingCounts: Hashable, Sendable {
    /// Readings that became samples.
    public var stored = 0
    /// Readings that the store already had.
    public var duplicate = 0
    /// Readings that were put into quarantine.
    public var quarantined = 0
    /// Readings that were refused.
    public var refused = 0
    /// Frames, rows and elements without a reading to store.
    public var skipped = 0

    public init() {}

    /// The number of all readings, each of which has one of these outcomes.
    public var read: Int { stored + duplicate + quarantined + refused }
}

extension SampleStore.Ledger {
    /// The counts of files and devices in the ledger entries that began at or after a time, in microseconds since 1970.
    public func readingCounts(since start: Int64) throws(StoreError) -> ReadingCounts {
        try connection.ledger.readingCounts(since: start)
    }
}
