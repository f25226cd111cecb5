/// A hub of the fleet, as the center knows it.
public struct EnrolledHub: Hashable, Sendable {
    /// Its number in the database.
    public var id: Int
    /// Its name.
    public var name: String
    /// The identifier of its store.
    public var store: String
    /// Its public NKey.
    public var key: String
    /// Whether it is shut out.
    public var isRevoked: Bool
    /// When it joined, as PostgreSQL writes times in UTC.
    public var enrolled: String
    /// The seconds since its last report or delivery, or `nil` before the first.
    public var silence: Int?
    /// The time of its last report or delivery, or `nil` before the first.
    public var seen: String?
    /// The version of its software, or `nil` before the first report. The following members are from the same report.
    public var version: String?
    /// The number of the last change in its store.
    public var lastChange: Int?
    /// The number of changes that waited for delivery.
    public var waiting: Int?
    /// The number of readings in quarantine.
    public var quarantined: Int?
    /// The lowest battery level of its devices in percent, or `nil` if none is known.
    public var lowestBattery: Int?
    /// The number of its devices without a reading for a day, or `nil` if no hub runs there.
    public var silentDevices: Int?
    /// Whether its delivery has stopped until a user acts.
    public var isStopped: Bool
    /// How often its store or the database was restored from a backup.
    public var epoch: Int
    /// When the hub noticed the last restoration, or `nil`.
    public var restored: String?
    /// The name of its machine and the path of its store.
    public var machine: String?
    /// The machine that has reported from a copy of its store within the last day, or `nil`.
    public var otherMachine: String?
    /// When that machine has last reported.
    public var otherSeen: String?
    /// Whether its last report was sealed.
    public var isSealed: Bool
    /// The number of the last order that it has carried out.
    public var lastOrder: Int
    /// The number of orders without a result.
    public var openOrders: Int
}

/// An order with its result, as the center knows it.
public struct RecordedOrder: Hashable, Sendable {
    /// Its number.
    public var number: Int64
    /// The name of its kind.
    public var kind: String
    /// When it was given.
    public var made: String
    /// When its result arrived, or `nil`.
    public var finished: String?
    /// The exit status of the command on the hub, or `nil` without a result.
    public var code: Int?
    /// Counts that the command has printed, as JSON, or empty.
    public var output: String
    /// Whether the hub has refused it because its signature is not valid.
    public var isRefused: Bool
}
