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
    /// When the check noticed it.
    public var noticed: Instant
    /// Whether the reading arrived late, so that the message reports something that is over or began a while ago.
    public var isLate = false
    /// Whether the reading is implausible and quarantined, so that the message is doubtful.
    public var isDoubtful = false
    /// When a person acknowledged the beginning.
    public var acknowledged: Instant?
}

/// The acknowledgement of a message about an alert by a receiver.
public struct AlertReceipt: Hashable, Sendable {
    /// The receiver's name.
    public var receiver: String
    /// When it acknowledged the message.
    public var time: Instant
}

/// An entry of the history of alerts: from the beginning of an alert to its end.
public struct AlertEpisode: Hashable, Sendable {
    /// The beginning, with the alert.
    public var began: AlertEvent
    /// The end, or `nil` if it has not ended.
    public var ended: AlertEvent?
    /// The receivers that acknowledged the message about the beginning.
    public var receipts: [AlertReceipt] = []
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

/// The tables `alert_event`, `alert_delivery` and `alert_receiver`: the history of alerts, and what their receivers have.
extension SampleStore.Alerts {
    /// The number of events that are stored for each person. One person's events never remove those of another.
    static let maximumAlertEvents: Int64 = 10_000

    /// Adds an event and removes old ones of the same person. Used inside a transaction.
    func add(
        _ kind: AlertEvent.Kind, of alert: Alert, time: Instant, isLate: Bool, isDoubtful: Bool = false, at now: Instant
    ) throws(StoreError) -> AlertEvent {
        try connection.run(
            "INSERT INTO alert_event(alert, subject, kind, time, noticed, late, doubtful) VALUES(?, ?, ?, ?, ?, ?, ?)",
            .integer(alert.id), .text(alert.person), .text(kind.rawValue), .integer(time.microseconds),
            .integer(now.microseconds), .integer(isLate ? 1 : 0), .integer(isDoubtful ? 1 : 0))
        let id = connection.lastInsertedRow
        let oldest = try connection.integer(
            "SELECT id FROM alert_event WHERE subject = ? ORDER BY id DESC LIMIT 1 OFFSET ?", .text(alert.person),
            .integer(Self.maximumAlertEvents))
        if let oldest {
            try connection.run("DELETE FROM alert_event WHERE subject = ? AND id <= ?", .text(alert.person), .integer(oldest))
            try connection.run(
                "DELETE FROM alert_delivery WHERE subject = ? AND event <= ?", .text(alert.person), .integer(oldest))
        }
        return AlertEvent(id: id, alert: alert, kind: kind, time: time, noticed: now, isLate: isLate, isDoubtful: isDoubtful)
    }

    func acknowledgeEvent(of alert: Int64, at now: Instant) throws(StoreError) {
        try connection.run(
            """
            UPDATE alert_event SET acknowledged = ?2
            WHERE id = (SELECT max(id) FROM alert_event WHERE alert = ?1 AND kind = 'began')
            """, .integer(alert), .integer(now.microseconds))
    }

    /// Acknowledges the last beginning of an alert that is over. Returns `false` if it was acknowledged before.
    func acknowledgeEnded(_ alert: Int64, of person: String?, at now: Instant) throws(StoreError) -> Bool {
        try connection.run(
            """
            UPDATE alert_event SET acknowledged = ?3
            WHERE id = (SELECT max(id) FROM alert_event WHERE alert = ?1 AND kind = 'began') AND acknowledged IS NULL
                AND (?2 IS NULL OR subject = ?2)
            """, .integer(alert), .optional(person), .integer(now.microseconds))
        return connection.changes > 0
    }

    func removeAlertEvents(of alert: Int64) throws(StoreError) {
        try connection.run(
            "DELETE FROM alert_delivery WHERE event IN (SELECT id FROM alert_event WHERE alert = ?)", .integer(alert))
        try connection.run("DELETE FROM alert_event WHERE alert = ?", .integer(alert))
    }

    /// Returns the events after a number, the first ones first. Events of removed alerts are not among them.
    public func events(after id: Int64, limit: Int = 100) throws(StoreError) -> [AlertEvent] {
        try events("id > ? ORDER BY id LIMIT ?", [.integer(id), .integer(Int64(limit))])
    }

    private func events(_ condition: String, _ bindings: [Value]) throws(StoreError) -> [AlertEvent] {
        let alerts = Dictionary(try all().map { ($0.id, $0) }) { first, _ in first }
        return try connection.list(
            "SELECT id, alert, kind, time, noticed, late, acknowledged, doubtful FROM alert_event WHERE \(condition)", bindings
        ) { row -> AlertEvent? in
            guard let alert = alerts[row.integer(1)], let kind = AlertEvent.Kind(rawValue: row.text(2)) else { return nil }
            return AlertEvent(
                id: row.integer(0), alert: alert, kind: kind, time: Instant(microseconds: row.integer(3)),
                noticed: Instant(microseconds: row.integer(4)), isLate: row.integer(5) == 1,
                isDoubtful: row.integer(7) == 1, acknowledged: row.optionalInteger(6).map { Instant(microseconds: $0) })
        }.compactMap { $0 }
    }

    /// Returns the history of alerts, the latest beginning first.
    ///
    /// - Parameters:
    ///   - person: The person, or `nil` for everybody.
    ///   - alert: One alert, or `nil` for all.
    public func history(of person: String? = nil, alert: Int64? = nil, limit: Int = 100) throws -> [AlertEpisode] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let began = try events(
            """
            kind = 'began' AND (?1 IS NULL OR subject = ?1) AND (?2 IS NULL OR alert = ?2) ORDER BY id DESC LIMIT ?3
            """, [.optional(person), .optional(alert), .integer(Int64(limit))])
        return try began.map { event in
            let ended = try events(
                "kind = 'ended' AND alert = ? AND id > ? ORDER BY id LIMIT 1", [.integer(event.alert.id), .integer(event.id)])
            let receipts = try connection.list(
                "SELECT receiver, time FROM alert_delivery WHERE event = ? ORDER BY receiver", [.integer(event.id)]
            ) { AlertReceipt(receiver: $0.text(0), time: Instant(microseconds: $0.integer(1))) }
            return AlertEpisode(began: event, ended: ended.first, receipts: receipts)
        }
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
    ///
    /// - Parameters:
    ///   - events: The events that it acknowledged now.
    ///   - now: The time of the acknowledgement.
    public func save(_ receiver: AlertReceiver, acknowledged events: [AlertEvent] = [], at now: Instant? = nil) throws {
        try connection.transaction {
            try connection.run(
                "UPDATE alert_receiver SET delivered = ?2, failing = ?3, words = ?4 WHERE name = ?1", .text(receiver.name),
                .integer(receiver.delivered), .optional(receiver.failing?.microseconds), .optional(receiver.words))
            for event in events {
                try connection.run(
                    "INSERT OR IGNORE INTO alert_delivery(event, receiver, subject, time) VALUES(?, ?, ?, ?)", .integer(event.id),
                    .text(receiver.name), .text(event.alert.person), .integer((now ?? event.noticed).microseconds))
            }
        }
    }

    /// Removes receivers that are no longer configured.
    public func forgetReceivers(except names: [String]) throws {
        for receiver in try receivers() where !names.contains(receiver.name) {
            try connection.run("DELETE FROM alert_receiver WHERE name = ?", .text(receiver.name))
        }
    }
}
