import Glibc
import HealthModel

/// What came in, summed up over entries of the ledger.
public struct Intake: Hashable, Sendable {
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
    public func intake(since start: Int64) throws(StoreError) -> Intake {
        let statement = try connection.statement(
            """
            SELECT total(stored), total(duplicate), total(quarantined), total(refused),
                (SELECT total(count) FROM skipped WHERE ingest IN
                    (SELECT id FROM ingest WHERE received >= ?1 AND kind IN \(IngestKind.bringing)))
            FROM ingest WHERE received >= ?1 AND kind IN \(IngestKind.bringing)
            """)
        defer { statement.reset() }
        try statement.bind([.integer(start)])
        var intake = Intake()
        guard try statement.step() else { return intake }
        intake.stored = Int(statement.integer(0))
        intake.duplicate = Int(statement.integer(1))
        intake.quarantined = Int(statement.integer(2))
        intake.refused = Int(statement.integer(3))
        intake.skipped = Int(statement.integer(4))
        return intake
    }

    /// The latest start of any sample of a device, by its key; nothing where it has none.
    public func lastStart(ofDevice key: String) throws(StoreError) -> Instant? {
        let statement = try connection.statement(
            "SELECT max((SELECT max(start) FROM sample WHERE series = series.id)) FROM series WHERE device = ?")
        defer { statement.reset() }
        try statement.bind([.text(key)])
        guard try statement.step() else { return nil }
        return statement.optionalInteger(0).map { Instant(microseconds: $0) }
    }

    /// Bytes of the database and its write-ahead log, as the file system has them.
    public var bytes: Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }
}
