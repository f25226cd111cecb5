/// A hub's report to the center. It contains no health values and no names of people.
package struct HubReport: Codable, Hashable, Sendable {
    /// The version of the hub's software.
    package var version: String
    /// The number of the last change in the hub's store.
    package var lastChange: Int64
    /// The number of changes that wait for delivery.
    package var waiting: Int
    package var quarantined: Int
    /// The number of the last order that the hub has carried out, or 0.
    package var order: Int64
    /// The result of that order, or `nil` before the first.
    package var result: OrderResult?
    /// The number of an order that the hub has refused because its signature is not valid, or `nil`.
    package var refused: Int64?
    /// The lowest battery level of a device in percent, or `nil` if none is known.
    package var lowestBattery: Int?
    /// The number of devices without a reading for a day, or `nil` while no hub runs.
    package var silentDevices: Int?

    /// The machine and the path of the hub's store, or `nil` if the hub is of an older version. A copy of the store has others.
    package var machine: Machine?
    /// Whether delivery has stopped until a user acts.
    package var isStopped: Bool?
    /// When the hub noticed that its store or the database was restored from a backup, in microseconds since 1970. `nil` after the
    /// comparison that follows.
    package var restored: Int64?

    /// The machine that feeds the center from a store.
    package struct Machine: Codable, Hashable, Sendable {
        /// An identifier that reveals nothing.
        package var id: String
        /// The name of the machine and the path of the store.
        package var name: String

        package init(id: String, name: String) { (self.id, self.name) = (id, name) }

        fileprivate var isValid: Bool {
            id.utf8.count <= 64 && name.utf8.count <= 4096 && !id.utf8.contains(0) && !name.utf8.contains(0)
        }
    }

    package init(version: String, lastChange: Int64, waiting: Int, quarantined: Int, order: Int64, result: OrderResult?) {
        (self.version, self.lastChange, self.waiting) = (version, lastChange, waiting)
        (self.quarantined, self.order, self.result) = (quarantined, order, result)
    }

    /// The longest report in bytes.
    static let maximumLength = 16_384
    private static let maximumVersionLength = 64

    /// Whether all members are within their bounds.
    var isValid: Bool {
        version.utf8.count <= Self.maximumVersionLength && !version.utf8.contains(0) && min(lastChange, order) >= 0
            && min(waiting, quarantined) >= 0 && refused ?? 0 >= 0
            && (0...100).contains(lowestBattery ?? 0) && silentDevices ?? 0 >= 0
            && machine?.isValid != false && restored ?? 0 >= 0
            && (result.map { $0.output.utf8.count <= OrderResult.maximumOutputLength && !$0.output.utf8.contains(0) } ?? true)
    }
}

package struct OrderResult: Codable, Hashable, Sendable {
    /// The exit status of the command on the hub, 0 if it succeeded.
    package var code: Int
    /// One line of JSON, or empty: counts, or the ``FailureReason`` of an order that failed. It contains no values and no names.
    package var output: String

    package init(code: Int, output: String = "") { (self.code, self.output) = (code, output) }

    /// The longest output in bytes.
    package static let maximumOutputLength = 4096
}
