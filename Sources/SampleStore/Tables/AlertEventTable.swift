import HealthModel

/// A change of an alert's state.
public struct AlertEvent: Hashable, Sendable {
    /// The kind of change.
    public enum Kind: String, Sendable {
        /// The condition is met.
        case began
        /// The condition is no longer met.
        case ended
    }

    /// The number of the event. Later events have greater numbers.
    public let id: Int64
    /// The alert, with its state after the last check.
    public var alert: Alert
    /// The kind of change.
    public var kind: Kind
    /// The start of the reading that changed the state, or when a reading had been missing for the hours of the alert.
    public var time: Instant
}

/// The progress of a receiver of alerts, such as a webhook.
public struct AlertReceiver: Hashable, Sendable {
    /// The name in the configuration.
    public let name: String
    /// The number of the last event that it has.
    public var delivered: Int64
    /// Since when deliveries fail, or `nil` if they do not.
    public var failing: Instant?
    /// The last error, or `nil` if deliveries do not fail. It contains no health values, names of people, or secrets.
    public var words: String?
}

/// The tables `alert_event` and `alert_receiver`: changes of alerts, and what their receivers have.
extension SampleStore.Alerts {
    /// How long an event is stored, in microseconds: a week. A receiver that is away for longer misses it.
    static let alertEventAge: Int64 = 7 * 86_400_000_000
    private static let mostAlertEvents: Int64 = 10_000

    /// Adds an event and removes old ones. Used inside a transaction.
    func add(_ kind: AlertEvent.Kind, of alert: Alert, time: Instant, at now: Instant) throws(StoreError) -> AlertEvent {
        try connection.run(
            "INSERT INTO alert_event(alert, subject, kind, time, noticed) VALUES(?, ?, ?, ?, ?)", .integer(alert.id),
            .text(alert.subject), .text(kind.rawValue), .integer(time.microseconds), .integer(now.microseconds))
        let id = connection.lastInsertedRow
        try connection.run(
            "DELETE FROM alert_event WHERE noticed < ? OR id <= ?", .integer(now.microseconds &- Self.alertEventAge),
            .integer(id - Self.mostAlertEvents))
        return AlertEvent(id: id, alert: alert, kind: kind, time: time)
    }

    func removeAlertEvents(of alert: Int64) throws(StoreError) {
        try connection.run("DELETE FROM alert_event WHERE alert = ?", .integer(alert))
    }

    /// Returns the events after a number, the first ones first. Events of removed alerts are not among them.
    public func events(after id: Int64, limit: Int = 100) throws(StoreError) -> [AlertEvent] {
        let alerts = Dictionary(try all().map { ($0.id, $0) }) { first, _ in first }
        return try connection.list(
            "SELECT id, alert, kind, time FROM alert_event WHERE id > ? ORDER BY id LIMIT ?",
            [.integer(id), .integer(Int64(limit))]
        ) { row -> AlertEvent? in
            guard let alert = alerts[row.integer(1)], let kind = AlertEvent.Kind(rawValue: row.text(2)) else { return nil }
            return AlertEvent(id: row.integer(0), alert: alert, kind: kind, time: Instant(microseconds: row.integer(3)))
        }.compactMap { $0 }
    }

    /// Returns the number of events that a receiver does not have yet.
    public func eventsWaiting(for receiver: AlertReceiver) throws(StoreError) -> Int {
        Int(try connection.integer("SELECT count(*) FROM alert_event WHERE id > ?", .integer(receiver.delivered)) ?? 0)
    }

    /// Returns the receivers that have ever been used, ordered by name.
    public func receivers() throws(StoreError) -> [AlertReceiver] {
        try connection.list("SELECT name, delivered, failing, words FROM alert_receiver ORDER BY name") { row in
            AlertReceiver(
                name: row.text(0), delivered: row.integer(1),
                failing: row.isNull(2) ? nil : Instant(microseconds: row.integer(2)), words: row.optionalText(3))
        }
    }

    /// Returns a receiver. A new one gets no events from before.
    public func receiver(named name: String) throws -> AlertReceiver {
        if let known = try receivers().first(where: { $0.name == name }) { return known }
        return try connection.transaction {
            // The number of the last event, even if that was removed.
            let last = try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'alert_event'") ?? 0
            try connection.run("INSERT OR IGNORE INTO alert_receiver(name, delivered) VALUES(?, ?)", .text(name), .integer(last))
            return AlertReceiver(name: name, delivered: last)
        }
    }

    /// Records what a receiver has.
    public func save(_ receiver: AlertReceiver) throws(StoreError) {
        try connection.run(
            "UPDATE alert_receiver SET delivered = ?2, failing = ?3, words = ?4 WHERE name = ?1", .text(receiver.name),
            .integer(receiver.delivered), .optional(receiver.failing?.microseconds), .optional(receiver.words))
    }

    /// Removes receivers that are no longer configured.
    public func forgetReceivers(except names: [String]) throws {
        for receiver in try receivers() where !names.contains(receiver.name) {
            try connection.run("DELETE FROM alert_receiver WHERE name = ?", .text(receiver.name))
        }
    }
}
