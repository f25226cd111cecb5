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

extension SampleStore {
    /// The counts of files and devices in the ledger entries that began at or after a time, in microseconds since 1970.
    public func readingCounts(since start: Int64) throws(StoreError) -> ReadingCounts {
        let statement = try connection.statement(
            """
            SELECT total(stored), total(duplicate), total(quarantined), total(refused),
                (SELECT total(count) FROM skipped WHERE ingest IN
                    (SELECT id FROM ingest WHERE received >= ?1 AND kind IN \(IngestKind.bringing)))
            FROM ingest WHERE received >= ?1 AND kind IN \(IngestKind.bringing)
            """)
        defer { statement.reset() }
        try statement.bind([.integer(start)])
        var counts = ReadingCounts()
        guard try statement.step() else { return counts }
        counts.stored = Int(statement.integer(0))
        counts.duplicate = Int(statement.integer(1))
        counts.quarantined = Int(statement.integer(2))
        counts.refused = Int(statement.integer(3))
        counts.skipped = Int(statement.integer(4))
        return counts
    }
}
