import HealthModel

/// Checks the alerts of a store and records which conditions are met. Each change of a state gives one event, even if several processes
/// check.
///
///     let result = try store.alerts.check(at: now)
///     for event in result.events { notify(event) }
///     // Check again after the next commit, and at result.next at the latest.
extension SampleStore.Alerts {
    /// The result of a check.
    public struct AlertCheckResult: Hashable, Sendable {
        /// The changes since the last check.
        public var events: [AlertEvent] = []
        /// When the next alert for a missing reading is due.
        public var next: Instant?
    }

    /// When an alert for a missing reading is raised.
    public struct MissingRule: Hashable, Sendable {
        /// How long after the hours of the alert, in microseconds. Readings that the hub received before that may not be committed yet.
        public var settling: Int64
        /// Whether one is raised at all. It is not soon after a start or a step of the clock, when readings may still arrive.
        public var isRaised: Bool

        /// Creates a rule. The default raises an alert at once.
        public init(settling: Int64 = 0, isRaised: Bool = true) { (self.settling, self.isRaised) = (settling, isRaised) }
    }

    /// The state of an alert after a check, with the changes that led to it.
    private struct Checked {
        var alert: Alert
        var changes: [(kind: AlertEvent.Kind, time: Instant)] = []

        mutating func raise(at time: Instant) {
            guard alert.raised == nil else { return }
            alert.raised = time
            changes.append((.began, time))
        }

        mutating func end(at time: Instant) {
            guard alert.raised != nil else { return }
            alert.raised = nil
            changes.append((.ended, time))
        }
    }

    /// How old a reading may be to raise an alert, in microseconds: a day. Old readings from an import raise none.
    private static let alertAge: Int64 = 86_400_000_000
    private static let alertReadings = 100_000
    /// How far the recorded time of a check may stay behind, in microseconds: ten minutes. Not each reading makes a commit of its own.
    private static let alertLag: Int64 = 600_000_000

    /// Checks the alerts of all people.
    public func check(at now: Instant, missing rule: MissingRule = MissingRule()) throws -> AlertCheckResult {
        var result = AlertCheckResult()
        for alert in try all() {
            let checked = try alert.condition == .missing ? missing(alert, now, rule, &result.next) : crossed(alert, now)
            guard !checked.changes.isEmpty || Self.isBehind(alert, checked.alert) else { continue }
            result.events += try record(checked, after: alert, at: now)
        }
        return result
    }

    private static func isBehind(_ before: Alert, _ after: Alert) -> Bool {
        guard let checked = after.checked else { return false }
        return before.checked.map { checked.microseconds - $0.microseconds >= alertLag } ?? true
    }

    /// Records a new state with its events in one transaction.
    private func record(_ checked: Checked, after before: Alert, at now: Instant) throws -> [AlertEvent] {
        try connection.transaction {
            guard try save(checked.alert, after: before) else { return [] }
            return try Self.lastEpisode(checked.changes).map { try add($0.kind, of: checked.alert, time: $0.time, at: now) }
        }
    }

    /// Returns the end of an episode from before, and the last episode. A batch with many crossings gives no flood of events.
    private static func lastEpisode(
        _ changes: [(kind: AlertEvent.Kind, time: Instant)]
    ) -> [(kind: AlertEvent.Kind, time: Instant)] {
        guard let last = changes.lastIndex(where: { $0.kind == .began }) else { return changes }
        return changes.prefix { $0.kind == .ended } + changes[last...]
    }

    /// Checks the readings since the last check in order. A reading within the bound ends the alert.
    private func crossed(_ alert: Alert, _ now: Instant) throws -> Checked {
        var checked = Checked(alert: alert)
        var from = max(alert.made, Instant(microseconds: now.microseconds - Self.alertAge))
        if let last = alert.checked { from = max(from, Instant(microseconds: last.microseconds + 1)) }
        let cursor = try store.samples.cursor(
            matching: SampleQuery(types: [alert.type], from: from, subject: alert.subject, limit: Self.alertReadings))
        defer { cursor.close() }
        while let sample = try cursor.next()?.sample {
            if Self.meets(sample, alert) { checked.raise(at: sample.start) } else { checked.end(at: sample.start) }
            checked.alert.checked = sample.start
        }
        if checked.alert == alert, let raised = alert.raised { try review(&checked, since: raised, now) }
        return checked
    }

    private static func meets(_ sample: Sample, _ alert: Alert) -> Bool {
        alert.condition == .above ? sample.value > alert.bound : sample.value < alert.bound
    }

    /// Ends an alert whose readings were deleted or corrected since it was raised.
    private func review(_ checked: inout Checked, since raised: Instant, _ now: Instant) throws {
        let alert = checked.alert
        let cursor = try store.samples.cursor(
            matching: SampleQuery(types: [alert.type], from: raised, subject: alert.subject, descending: true, limit: 1))
        defer { cursor.close() }
        let latest = try cursor.next()?.sample
        if let latest, Self.meets(latest, alert) { return }
        checked.end(at: latest?.start ?? now)
    }

    /// Checks whether the latest reading is too long ago. Readings up to a day ahead of the clock count, because the clock may have been
    /// set back.
    private func missing(_ alert: Alert, _ now: Instant, _ rule: MissingRule, _ next: inout Instant?) throws -> Checked {
        var checked = Checked(alert: alert)
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                types: [alert.type], to: Instant(microseconds: now.microseconds + Self.alertAge + 1), subject: alert.subject,
                descending: true, limit: 1))
        defer { cursor.close() }
        let last = try cursor.next()?.sample.start
        let since = max(last ?? alert.made, alert.made)
        let due = Instant(microseconds: since.microseconds + Int64(alert.bound * 3_600_000_000))
        let raises = Instant(microseconds: due.microseconds + rule.settling)
        if raises > now {
            checked.end(at: min(since, now))
            next = min(next ?? raises, raises)
        } else if rule.isRaised {
            checked.raise(at: due)
        }
        if !checked.changes.isEmpty { checked.alert.checked = last }
        return checked
    }
}
