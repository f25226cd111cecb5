import HealthModel

/// The last copy of the store that ``SampleStore/backup(to:)`` made.
public struct LastBackup: Hashable, Sendable {
    /// When it was complete.
    public var time: Instant
    /// Whether it was on the disk of the store. If nobody has copied the file elsewhere, both are lost together.
    public var isOnSameDisk: Bool

    /// A copy with its time.
    public init(time: Instant, isOnSameDisk: Bool) { (self.time, self.isOnSameDisk) = (time, isOnSameDisk) }
}

extension SampleStore {
    private static let (backupTime, backupDisk) = ("backupTime", "backupDisk")

    /// The last copy of the store, or `nil` if none was noted.
    public var lastBackup: LastBackup? {
        get throws(StoreError) {
            guard let time = try connection.settings.integer(Self.backupTime) else { return nil }
            return LastBackup(
                time: Instant(microseconds: time), isOnSameDisk: try connection.settings.integer(Self.backupDisk) != 0)
        }
    }

    /// Notes that the store was copied.
    public func note(_ backup: LastBackup) throws {
        try connection.transaction {
            try connection.settings.set(Self.backupTime, to: .integer(backup.time.microseconds))
            try connection.settings.set(Self.backupDisk, to: .integer(backup.isOnSameDisk ? 1 : 0))
        }
    }

    /// When the first entry of the ledger was made, or `nil` if there is none.
    public var firstEntry: Instant? {
        get throws(StoreError) {
            try connection.ledger.accounts("ORDER BY id LIMIT 1", []).first.map { Instant(microseconds: $0.received) }
        }
    }
}
