import HealthModel
import Pipeline

/// Checks the alerts of a store and records which conditions are met. Each change of a state gives one event, even if several processes
/// check.
///
///     let result = try store.alerts.check(at: now)
///     for event in result.events { notify(event) }
///     // Check again after the next commit, and at result.next at the latest.
///
/// A check follows the change log: it judges each reading once, in the order of arrival, by its own time (``AlertEvaluator``). Readings that are
/// quarantined as implausible (``GateRule/isDoubt``) are judged like others, and their events are marked as doubtful.
extension SampleStore.Alerts {
    /// The result of a check.
    public struct AlertCheckResult: Hashable, Sendable {
        /// The changes since the last check.
        public var events: [AlertEvent] = []
        /// When an alert is due without a further reading.
        public var next: Instant?
    }

    /// When an alert for a missing reading is raised.
    public struct MissingRule: Hashable, Sendable {
        /// A step of the hub's clock, in microseconds, and the last change before it.
        public struct Step: Hashable, Sendable {
            var after: Int64
            var by: Int64

            /// Creates a step.
            public init(after: Int64, by: Int64) { (self.after, self.by) = (after, by) }
        }

        /// How long after the hours of the alert, in microseconds. Readings that the hub received before that may not be committed yet.
        public var settling: Int64
        /// Whether one is raised at all. It is not soon after a start or a step of the clock, when readings may still arrive.
        public var isRaised: Bool
        /// The steps of the clock since the start.
        public var steps: [Step] = []

        /// Creates a rule. The default raises an alert at once.
        public init(settling: Int64 = 0, isRaised: Bool = true) { (self.settling, self.isRaised) = (settling, isRaised) }
    }

    /// How many changes, and how much time in microseconds, the recorded progress may stay behind. Not each reading makes a commit of its
    /// own. The next check judges these readings again, with the same result.
    private static let alertLag: (changes: Int64, time: Int64) = (5000, 600_000_000)

    /// Checks the alerts of all people.
    public func check(at now: Instant, missing rule: MissingRule = MissingRule()) throws -> AlertCheckResult {
        var result = AlertCheckResult()
        let alerts = try all()
        guard !alerts.isEmpty else { return result }
        var evaluators = alerts.map { AlertEvaluator($0, store: store, now: now) }
        try evaluate(&evaluators)
        for (before, var evaluator) in zip(alerts, evaluators) {
            if before.condition == .missing { try evaluator.lookForMissing(rule) } else { try evaluator.finish() }
            if let due = evaluator.due { result.next = min(result.next ?? due, due) }
            guard !evaluator.changes.isEmpty || Self.isEarlier(before, evaluator.alert) else { continue }
            result.events += try record(evaluator, after: before, at: now)
        }
        return result
    }

    /// Passes the changes since the last check to the alerts.
    private func evaluate(_ evaluators: inout [AlertEvaluator]) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let last = try store.lastChange()
        let crossing = evaluators.indices.filter { evaluators[$0].alert.condition != .missing }
        try evaluateQuarantined(&evaluators, crossing)
        guard let first = crossing.map({ evaluators[$0].alert.seq }).min(), first < last else { return }
        let types = Set(crossing.map { evaluators[$0].alert.type })
        try store.changes.read(after: first, types: types) { change in
            let origin = change.sample.origin
            for index in crossing
            where evaluators[index].alert.seq < change.seq && evaluators[index].alert.type == origin.type
                && evaluators[index].alert.person == origin.person
            {
                try evaluators[index].evaluate(change)
            }
        }
        for index in crossing { evaluators[index].alert.seq = last }
    }

    /// Passes the implausible readings that were quarantined since the last check to the alerts.
    private func evaluateQuarantined(_ evaluators: inout [AlertEvaluator], _ crossing: [Int]) throws {
        let last = try connection.quarantine.lastNumber()
        guard let first = crossing.map({ evaluators[$0].alert.quarantined }).min(), first < last else { return }
        let series = try store.allSeries().filter { series in
            crossing.contains { evaluators[$0].alert.type == series.type && evaluators[$0].alert.person == series.person }
        }.map(\.id)
        try store.quarantine.readDoubtful(after: first, through: last, of: series) { quarantined in
            let origin = quarantined.stored.sample.origin
            for index in crossing
            where evaluators[index].alert.quarantined < quarantined.id && evaluators[index].alert.type == origin.type
                && evaluators[index].alert.person == origin.person
            {
                try evaluators[index].evaluate(doubtful: quarantined.stored)
            }
        }
        for index in crossing { evaluators[index].alert.quarantined = last }
    }

    private static func isEarlier(_ before: Alert, _ after: Alert) -> Bool {
        guard before.condition != .missing else { return before.reading != after.reading || before.checked != after.checked }
        if after.quarantined != before.quarantined { return true }
        // The clock was set back.
        if let last = before.last, let moved = after.last, moved < last { return true }
        if after.seq - before.seq >= alertLag.changes { return true }
        guard let checked = after.checked else { return false }
        return before.checked.map { abs(checked.microseconds - $0.microseconds) >= alertLag.time } ?? true
    }

    /// Records a new state with its events in one transaction.
    private func record(_ evaluator: AlertEvaluator, after before: Alert, at now: Instant) throws -> [AlertEvent] {
        try connection.transaction {
            guard try save(evaluator.alert, after: before) else { return [] }
            return try evaluator.reportedChanges.map {
                try add(
                    $0.kind, of: evaluator.alert, time: $0.time, isLate: $0.isLate, isDoubtful: $0.isDoubtful, at: now)
            }
        }
    }
}

/// Judges the readings of one alert in the order of arrival.
///
/// The reading that decides the state is the latest one by its own time. A time after the reading's arrival counts as the time of its
/// arrival, so a reading that is stamped ahead does not hide the ones that follow it. A time after the hub's current time counts as not
/// known, because the hub's clock was ahead: the next reading decides. A reading that is earlier than the deciding one and beyond the limit
/// reports something that is over. It gives a beginning and an end that are marked as late, once for neighboring readings.
struct AlertEvaluator {
    struct Change {
        var kind: AlertEvent.Kind
        var time: Instant
        var isLate: Bool
        var isDoubtful: Bool
    }

    var alert: Alert
    private(set) var changes: [Change] = []
    /// When the alert begins or ends without a further reading.
    private(set) var due: Instant?
    private let store: SampleStore
    private let now: Instant
    /// Whether the deciding reading was deleted or replaced.
    private var isReviewed = false
    /// Whether the reading that is judged is implausible.
    private var isDoubtful = false

    /// How old a reading may be when it arrives to raise an alert, in microseconds: a day. Old readings from an import raise none.
    private static let age: Int64 = 86_400_000_000
    /// From which age the message is marked as late, in microseconds: ten minutes.
    private static let lateAge: Int64 = 600_000_000

    init(_ alert: Alert, store: SampleStore, now: Instant) {
        (self.alert, self.store, self.now) = (alert, store, now)
        guard alert.condition != .missing else { return }
        if let checked = alert.checked, checked > now { self.alert.checked = nil }
        (self.alert.since, self.alert.last) = (alert.since.map { min($0, now) }, alert.last.map { min($0, now) })
    }

    /// The changes that give an event: the end of an episode from before, and the last episode. A batch with many crossings gives no flood of
    /// events.
    var reportedChanges: [Change] {
        guard let last = changes.lastIndex(where: { $0.kind == .began }) else { return changes }
        return changes.prefix { $0.kind == .ended } + changes[last...]
    }

    // MARK: Readings

    mutating func evaluate(_ change: SampleChange) throws {
        switch change {
        case .deleted(let deletion):
            guard deletion.uuid.description == alert.reading else { return }
            (alert.reading, alert.checked, isReviewed) = (nil, nil, true)
        case .added(let stored):
            guard try isArrival(stored) else {
                // A correction may have moved the deciding reading.
                isReviewed = true
                return
            }
            try evaluate(stored)
        }
    }

    /// Judges a reading that is quarantined as implausible. It can begin the alert, and ends none.
    mutating func evaluate(doubtful stored: StoredSample) throws {
        guard isBeyond(stored.sample.value) else { return }
        isDoubtful = true
        defer { isDoubtful = false }
        try evaluate(stored)
    }

    private mutating func evaluate(_ stored: StoredSample) throws {
        let sample = stored.sample
        let (start, received) = (sample.start, min(sample.received, now))
        guard received.microseconds - start.microseconds <= Self.age else { return }
        // A time of adding after the arrival comes from a clock that was ahead.
        if start < alert.made, alert.made <= sample.received { return }
        let time = time(of: sample)
        if let time, let checked = alert.checked, time < checked { return try evaluateLate(stored, at: time) }
        (alert.reading, alert.checked) = (stored.uuid.description, time)
        step(sample, at: time ?? now)
    }

    /// The time of a reading, at most that of its arrival. `nil` if it is after the hub's time.
    private func time(of sample: Sample) -> Instant? {
        let time = min(sample.start, sample.received)
        return time > now ? nil : time
    }

    private mutating func step(_ sample: Sample, at time: Instant) {
        if isBeyond(sample.value) {
            alert.isWithin = false
            alert.since = alert.since ?? time
            alert.last = time
            if let since = alert.since, time.microseconds - since.microseconds >= alert.timing.lasting { raise(at: sample.start) }
        } else if alert.raised == nil {
            (alert.isWithin, alert.since, alert.last) = (true, nil, nil)
        } else if isWithin(sample.value) {
            alert.isWithin = true
            if let last = alert.last, time.microseconds - last.microseconds < alert.timing.hold { return }
            end(at: sample.start)
        } else {
            // It is within the margin.
            (alert.isWithin, alert.last) = (false, time)
        }
    }

    /// Reports a reading that is earlier than the deciding one.
    private mutating func evaluateLate(_ stored: StoredSample, at time: Instant) throws {
        let sample = stored.sample
        guard alert.raised == nil, alert.timing.lasting == 0, isBeyond(sample.value), try !hasNeighbor(stored) else { return }
        changes.append(Change(kind: .began, time: sample.start, isLate: true, isDoubtful: isDoubtful))
        changes.append(Change(kind: .ended, time: alert.checked ?? now, isLate: true, isDoubtful: isDoubtful))
    }

    /// Whether the reading before or after a late one is beyond the limit too, so that it has been reported.
    private func hasNeighbor(_ stored: StoredSample) throws -> Bool {
        let start = stored.sample.start
        for descending in [true, false] {
            let cursor = try store.samples.cursor(
                matching: SampleQuery(
                    types: [alert.type], from: descending ? Instant(microseconds: start.microseconds - Self.age) : start,
                    to: descending ? Instant(microseconds: start.microseconds + 1) : nil, person: alert.person,
                    descending: descending, limit: 1000))
            defer { cursor.close() }
            while let other = try cursor.next() {
                // Later arrivals are judged later.
                guard other.seq < stored.seq else { continue }
                if isBeyond(other.sample.value) { return true }
                break
            }
        }
        return false
    }

    /// Whether a sample is a reading that arrived, and not the same reading that a repair, an undo, or a restoration put back.
    private func isArrival(_ stored: StoredSample) throws -> Bool {
        let connection = store.connection
        // An accepted implausible reading was judged when it arrived.
        if case .string(let rule)? = stored.sample.metadata?["acceptedAgainst"], GateRule(rule).isDoubt { return false }
        for key in try connection.samples.keys(of: stored.uuid) where key.start == stored.sample.start.microseconds {
            if let origin = try connection.repairs.origin(of: key)?.key {
                guard let before = try connection.samples.stored(at: origin, among: .tombstones)?.sample,
                    before.origin.person == alert.person, before.origin.type == alert.type
                else { return true }
                return isBeyond(before.value) != isBeyond(stored.sample.value)
            }
            guard try connection.changeTable.isMoved(stored.seq, series: key.series) else { return true }
            return stored.sample.metadata?["acceptedAgainst"] != nil
        }
        return true
    }

    private func isBeyond(_ value: Double) -> Bool { alert.condition == .above ? value > alert.bound : value < alert.bound }

    /// Whether a value ends the alert.
    private func isWithin(_ value: Double) -> Bool {
        let margin = alert.timing.margin
        return alert.condition == .above ? value <= alert.bound - margin : value >= alert.bound + margin
    }

    // MARK: States

    private mutating func raise(at time: Instant, isLate: Bool? = nil) {
        guard alert.raised == nil else { return }
        (alert.raised, alert.acknowledged) = (time, nil)
        let isLate = isLate ?? (now.microseconds - time.microseconds > Self.lateAge)
        changes.append(Change(kind: .began, time: time, isLate: isLate, isDoubtful: isDoubtful))
    }

    private mutating func end(at time: Instant) {
        (alert.since, alert.last) = (nil, nil)
        guard alert.raised != nil else { return }
        (alert.raised, alert.acknowledged) = (nil, nil)
        changes.append(Change(kind: .ended, time: time, isLate: false, isDoubtful: isDoubtful))
    }

    /// Applies corrections of the readings, and what is due without a further reading.
    mutating func finish() throws {
        if isReviewed { try review() }
        if alert.raised == nil, let since = alert.since, !alert.isWithin {
            let due = Instant(microseconds: since.microseconds + alert.timing.lasting)
            if due <= now { raise(at: alert.last ?? since) } else { self.due = due }
        } else if alert.raised != nil, alert.isWithin, let last = alert.last {
            let due = Instant(microseconds: last.microseconds + alert.timing.hold)
            if due <= now { end(at: alert.checked ?? now) } else { self.due = due }
        }
    }

    /// Finds the deciding reading after readings were deleted or corrected. A correction raises no alert by itself.
    private mutating func review() throws {
        let latest = try latest()
        (alert.reading, alert.checked) = (latest?.stored.uuid.description, latest?.time)
        guard let latest, !isWithin(latest.stored.sample.value) else {
            alert.isWithin = true
            return end(at: latest?.stored.sample.start ?? now)
        }
        alert.isWithin = false
        if alert.raised != nil { alert.last = latest.time ?? now }
    }

    /// Returns the latest reading with its time, which is `nil` if it is after the hub's time.
    private func latest() throws -> (stored: StoredSample, time: Instant?)? {
        let device = try alert.device.map { try SamplePredicate.or(store.devices.keys(of: $0).map { .deviceKey($0) }) }
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                types: [alert.type], person: alert.person, where: device, descending: true, limit: 10_000))
        defer { cursor.close() }
        var latest: (stored: StoredSample, time: Instant)?
        while let stored = try cursor.next(), latest.map({ stored.sample.start > $0.time }) ?? true {
            let time = min(stored.sample.start, stored.sample.received)
            if latest.map({ time > $0.time }) ?? true { latest = (stored, time) }
        }
        return latest.map { ($0.stored, $0.time > now ? nil : $0.time) }
    }

    // MARK: Missing readings

    /// Checks whether the latest reading is too long ago.
    mutating func lookForMissing(_ rule: SampleStore.Alerts.MissingRule) throws {
        let latest = try latest()
        let measured = try latest.map { try receive($0.stored, $0.time, rule) }
        // A time of adding after now comes from a clock that was ahead.
        let since = measured.map { alert.made <= now ? max($0, alert.made) : $0 } ?? added()
        let due = Instant(microseconds: since.microseconds + Int64(alert.bound * 3_600_000_000))
        let raises = Instant(microseconds: due.microseconds + rule.settling)
        if raises > now {
            if alert.raised != nil { end(at: since) }
            self.due = raises
        } else if rule.isRaised, alert.raised == nil {
            raise(at: due, isLate: false)
        }
    }

    /// When the alert was added, on the scale of the hub's current clock.
    private mutating func added() -> Instant {
        // If the clock was ahead, the time of the first check counts, also when the clock is past the time of adding.
        if alert.reading == nil, let checked = alert.checked, checked <= now { return checked }
        if alert.made <= now { return alert.made }
        (alert.reading, alert.checked) = (nil, now)
        return now
    }

    /// When a reading was measured, on the scale of the hub's current clock.
    private mutating func receive(_ stored: StoredSample, _ time: Instant?, _ rule: SampleStore.Alerts.MissingRule) throws
        -> Instant
    {
        // If the clock was ahead at an earlier start, the time of the first check that found the reading counts.
        if alert.reading == stored.uuid.description, let checked = alert.checked, checked <= now { return checked }
        let measured = min(stored.sample.start, stored.sample.received)
        let steps = rule.steps.filter { stored.seq <= $0.after }.reduce(0) { $0 + $1.by }
        let moved = Instant(microseconds: measured.microseconds &+ steps)
        if let time { return moved <= now && steps > 0 ? moved : time }
        if moved <= now, steps < 0 { return moved }
        (alert.reading, alert.checked) = (stored.uuid.description, now)
        return now
    }
}
