import HealthModel

/// Checks the alerts of a store and records which conditions are met. One crossing of a bound gives one event.
///
///     let result = try store.checkAlerts(at: now)
///     for event in result.events { notify(event.alert) }
///     // Check again after the next commit, and at result.next at the latest.
extension SampleStore {
    /// A condition that is met since the last check.
    public struct AlertEvent: Hashable, Sendable {
        /// The alert.
        public var alert: Alert
        /// The start of the reading that crossed the bound, or when a reading had been missing for the hours of the alert.
        public var time: Instant
    }

    /// The result of a check.
    public struct AlertCheckResult: Hashable, Sendable {
        /// The conditions that are met since the last check.
        public var events: [AlertEvent] = []
        /// When the next alert for a missing reading is due.
        public var next: Instant?
    }

    /// How old a reading may be to raise an alert, in microseconds: a day. Old readings from an import raise none.
    private static let alertAge: Int64 = 86_400_000_000
    private static let alertReadings = 100_000

    /// Checks the alerts of all people.
    public func checkAlerts(at now: Instant) throws -> AlertCheckResult {
        var result = AlertCheckResult()
        for alert in try alerts() {
            let (checked, event) = alert.condition == .missing ? try missing(alert, now, &result.next) : try crossed(alert, now)
            if checked != alert { try save(checked) }
            if let event { result.events.append(AlertEvent(alert: checked, time: event)) }
        }
        return result
    }

    /// Checks the readings since the last check in order. A reading within the bound ends the alert.
    private func crossed(_ alert: Alert, _ now: Instant) throws -> (Alert, Instant?) {
        var (checked, event): (Alert, Instant?) = (alert, nil)
        var from = max(alert.made, Instant(microseconds: now.microseconds - Self.alertAge))
        if let last = alert.checked { from = max(from, Instant(microseconds: last.microseconds + 1)) }
        let cursor = try samples(
            matching: SampleQuery(types: [alert.type], from: from, subject: alert.subject, limit: Self.alertReadings))
        defer { cursor.close() }
        while let sample = try cursor.next()?.sample {
            let isMet = alert.condition == .above ? sample.value > alert.bound : sample.value < alert.bound
            if isMet, checked.raised == nil { event = sample.start }
            checked.raised = isMet ? checked.raised ?? sample.start : nil
            checked.checked = sample.start
        }
        return (checked, event)
    }

    /// Checks whether the last reading is too long ago.
    private func missing(_ alert: Alert, _ now: Instant, _ next: inout Instant?) throws -> (Alert, Instant?) {
        var checked = alert
        let cursor = try samples(
            matching: SampleQuery(
                types: [alert.type], to: Instant(microseconds: now.microseconds + 1), subject: alert.subject, descending: true,
                limit: 1))
        defer { cursor.close() }
        let last = try cursor.next()?.sample.start
        let since = max(last ?? alert.made, alert.made)
        let due = Instant(microseconds: since.microseconds + Int64(alert.bound * 3_600_000_000))
        checked.checked = last
        guard due <= now else {
            checked.raised = nil
            next = min(next ?? due, due)
            return (checked, nil)
        }
        let isNew = alert.raised == nil
        checked.raised = alert.raised ?? due
        return (checked, isNew ? due : nil)
    }
}
