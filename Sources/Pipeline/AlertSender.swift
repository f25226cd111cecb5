/// A message about an alert, for receivers outside of the store.
public struct AlertMessage: Hashable, Sendable {
    /// What the message reports.
    public enum Event: String, CaseIterable, Sendable {
        /// The condition is met.
        case began
        /// The condition is no longer met.
        case ended
        /// Nothing happened. A user tests the delivery.
        case test
        /// The messages that a receiver missed while it was away, in one.
        case summary
        /// Alerts cannot be evaluated.
        case failed
        /// Alerts are evaluated again.
        case resumed
        /// The backups at a location need attention, or no longer do.
        case backup
    }

    /// The id. A message that is sent again has the same one.
    public var id: String
    /// What it reports.
    public var event: Event
    /// The message as a JSON object.
    public var json: [UInt8]

    /// Creates a message.
    public init(id: String, event: Event, json: [UInt8]) { (self.id, self.event, self.json) = (id, event, json) }
}

/// The current state of an alert, for receivers that show states.
public struct AlertState: Hashable, Sendable {
    /// The number of the alert.
    public var alert: Int64
    /// The condition in words.
    public var title: String
    /// The state as a JSON object with the fields of a message, and `state`, which is `ON` or `OFF`.
    public var json: [UInt8]

    /// Creates a state.
    public init(alert: Int64, title: String, json: [UInt8]) { (self.alert, self.title, self.json) = (alert, title, json) }
}

/// Sends messages about alerts to one receiver.
///
/// It receives each message at least once, in order. It may block, and sets a limit to each wait.
public protocol AlertSender: AnyObject {
    /// Sends a message, and returns when the receiver has acknowledged it.
    func send(_ message: AlertMessage) throws(DeliveryError)

    /// Shows the states of all alerts. Most receivers show none.
    func show(_ states: [AlertState]) throws(DeliveryError)

    /// Ends the connection.
    func finish()
}

extension AlertSender {
    /// Shows nothing.
    public func show(_ states: [AlertState]) throws(DeliveryError) {}
    /// There is no connection.
    public func finish() {}
}
