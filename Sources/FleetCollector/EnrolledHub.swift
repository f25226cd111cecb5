/// A hub of the fleet, as the center knows it.
package struct EnrolledHub: Hashable, Sendable {
    /// Its number in the database.
    package var id: Int
    package var name: String
    /// The identifier of its store.
    package var store: String
    /// Its public NKey.
    package var key: String
    /// Whether it is shut out.
    package var isRevoked: Bool
    /// When it joined, as PostgreSQL writes times in UTC.
    package var enrolled: String
    /// The seconds since its last report or delivery, or `nil` before the first.
    package var silence: Int?
    /// The time of its last report or delivery, or `nil` before the first.
    package var seen: String?
    /// The version of its software, or `nil` before the first report. The following members are from the same report.
    package var version: String?
    /// The number of the last change in its store.
    package var lastChange: Int?
    /// The number of changes that waited for delivery.
    package var waiting: Int?
    /// The number of readings in quarantine.
    package var quarantined: Int?
    /// The lowest battery level of its devices in percent, or `nil` if none is known.
    package var lowestBattery: Int?
    /// The number of its devices without a reading for a day, or `nil` if no hub runs there.
    package var silentDevices: Int?
    /// Whether its delivery has stopped until a user acts.
    package var isStopped: Bool
    /// How often its store or the database was restored from a backup.
    package var epoch: Int
    /// When the hub noticed the last restoration, or `nil`.
    package var restored: String?
    /// The name of its machine and the path of its store.
    package var machine: String?
    /// The machine that has reported from a copy of its store within the last day, or `nil`.
    package var otherMachine: String?
    /// When that machine has last reported.
    package var otherSeen: String?
    /// Whether its last report was sealed.
    package var isSealed: Bool
    /// The number of the last order that it has carried out.
    package var lastOrder: Int
    /// The number of orders without a result.
    package var openOrders: Int
}

/// An order with its result, as the center knows it.
package struct RecordedOrder: Hashable, Sendable {
    package var number: Int64
    /// The name of its kind.
    package var kind: String
    /// When it was given.
    package var made: String
    /// When its result arrived, or `nil`.
    package var finished: String?
    /// The exit status of the command on the hub, or `nil` without a result.
    package var code: Int?
    /// Counts that the command has printed, as JSON, or empty.
    package var output: String
    /// Whether the hub has refused it because its signature is not valid.
    package var isRefused: Bool
}
