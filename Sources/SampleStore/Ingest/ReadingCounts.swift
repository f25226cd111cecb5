import HealthModel

/// What came in, summed up over entries of the ledger.
public struct ReadingCounts: Hashable, Sendable {
    /// Readings that became samples.
    public var stored = 0
    /// Readings that were there already.
    public var duplicate = 0
    /// Readings that are held.
    public var quarantined = 0
    /// Readings that could not be read.
    public var refused = 0
    /// Frames, rows and elements that hold no reading to keep.
    public var skipped = 0

    public init() {}

    /// Every reading that entered ended somewhere.
    public var read: Int { stored + duplicate + quarantined + refused }
}

extension SampleStore {
    /// What files and devices brought in the ingests that began at a time or after it, microseconds since 1970.
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
