/// A hub's report to the center. It contains no health values and no names of people.
public struct HubReport: Codable, Hashable, Sendable {
    /// The version of the hub's software.
    public var version: String
    /// The number of the last change in the hub's store.
    public var lastChange: Int64
    /// The number of changes that wait for delivery.
    public var waiting: Int
    /// The number of readings in quarantine.
    public var quarantined: Int
    /// The number of the last order that the hub has carried out, or 0.
    public var order: Int64
    /// The result of that order, or `nil` before the first.
    public var result: OrderResult?
    /// The number of an order that the hub has refused because its signature is not valid, or `nil`.
    public var refused: Int64?
    /// The lowest battery level of a device in percent, or `nil` if none is known.
    public var lowestBattery: Int?
    /// The number of devices without a reading for a day, or `nil` while no hub runs.
    public var silentDevices: Int?

    /// A report.
    public init(version: String, lastChange: Int64, waiting: Int, quarantined: Int, order: Int64, result: OrderResult?) {
        (self.version, self.lastChange, self.waiting) = (version, lastChange, waiting)
        (self.quarantined, self.order, self.result) = (quarantined, order, result)
    }

    /// The longest report in bytes.
    static let longest = 16_384
    private static let longestVersion = 64

    /// Whether all members are within their bounds.
    var isValid: Bool {
        version.utf8.count <= Self.longestVersion && !version.utf8.contains(0) && min(lastChange, order) >= 0
            && min(waiting, quarantined) >= 0 && refused ?? 0 >= 0
            && (0...100).contains(lowestBattery ?? 0) && silentDevices ?? 0 >= 0
            && (result.map { $0.output.utf8.count <= OrderResult.longestOutput && !$0.output.utf8.contains(0) } ?? true)
    }
}

/// The result of an order.
public struct OrderResult: Codable, Hashable, Sendable {
    /// The exit status of the command on the hub, 0 if it succeeded.
    public var code: Int
    /// Counts as one line of JSON, or empty. It contains no values and no names.
    public var output: String

    /// The result of a command.
    public init(code: Int, output: String = "") { (self.code, self.output) = (code, output) }

    /// The longest output in bytes.
    public static let longestOutput = 4096
}
