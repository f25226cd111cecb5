import HealthModel

/// A condition on a person's readings of a type, and whether it is met.
public struct Alert: Hashable, Sendable {
    /// The kind of condition.
    public enum Condition: String, CaseIterable, Sendable {
        /// A reading is above the bound.
        case above
        /// A reading is below the bound.
        case below
        /// There is no reading for as many hours as the bound.
        case missing
    }

    /// The number of the alert.
    public let id: Int64
    /// The person.
    public var person: String
    /// The type.
    public var type: SampleType
    /// The kind of condition.
    public var condition: Condition
    /// The bound in the type's canonical unit, or in hours.
    public var bound: Double
    /// The address of the adopted device whose readings are missing, or `nil` for readings of any source.
    public var device: String?
    /// How it begins and ends.
    public var timing: AlertTiming
    /// When it was added. Readings from before raise no alert.
    public var made: Instant
    /// The number of the last change that was judged.
    var seq: Int64
    /// The number of the last quarantined reading that was judged.
    var quarantined: Int64
    /// The UUID of the reading that decides the state. Of the readings that have arrived it is the latest one by measured time.
    var reading: String?
    /// The time of that reading, or `nil` if its time is not known, such as after the clock was set back.
    public var checked: Instant?
    /// Whether that reading ends the alert.
    var isWithin: Bool
    /// The first and the last reading beyond the limit, without one within it in between.
    var since: Instant?
    var last: Instant?
    /// Since when the condition is met, or `nil` if it is not.
    public var raised: Instant?
    /// When a person acknowledged the raised alert, or `nil` if it is open.
    public var acknowledged: Instant?
}

/// How readings around a limit begin and end an alert. Times are in microseconds, between the readings' own times.
public struct AlertTiming: Hashable, Sendable {
    /// How far within the limit a reading must be to end the alert, in the type's canonical unit.
    public var margin: Double
    /// How long readings must be beyond the limit before the alert begins.
    public var lasting: Int64
    /// How long no reading must be beyond the limit before the alert ends.
    public var hold: Int64

    /// Creates a timing.
    public init(margin: Double = 0, lasting: Int64 = 0, hold: Int64 = 0) {
        (self.margin, self.lasting, self.hold) = (margin, lasting, hold)
    }

    /// Each reading begins or ends the alert at once.
    public static let immediate = AlertTiming()
    /// The timing of an alert for which a person chose nothing. It begins at once and ends after three minutes, so that a value that
    /// varies around the limit gives one message.
    public static let defaultTiming = AlertTiming(hold: 180_000_000)
    /// The longest time, in microseconds: a day.
    public static let maximumDuration: Int64 = 86_400_000_000
}

/// The table `alert`: conditions on readings.
extension SampleStore.Alerts {
    /// The maximum number of alerts of a person.
    public static let maximum = 100
    /// The longest time without a reading, in hours.
    public static let maximumMissing = 8784.0

    /// Returns the alerts of a person, or of everybody, in the order in which they were added.
    public func all(of person: String? = nil) throws(StoreError) -> [Alert] {
        try connection.list(
            """
            SELECT id, subject, type, condition, bound, margin, lasting, hold, made, seq, reading, checked, within, since, last, raised,
                acknowledged, held, device
            FROM alert WHERE ?1 IS NULL OR subject = ?1 ORDER BY id
            """, [person.map { .text($0) } ?? .null]
        ) { row -> Alert? in
            guard let type = SampleType(row.text(2)), let condition = Alert.Condition(rawValue: row.text(3)) else { return nil }
            func time(_ column: Int32) -> Instant? { row.optionalInteger(column).map { Instant(microseconds: $0) } }
            return Alert(
                id: row.integer(0), person: row.text(1), type: type, condition: condition, bound: row.real(4),
                device: row.optionalText(18),
                timing: AlertTiming(margin: row.real(5), lasting: row.integer(6), hold: row.integer(7)),
                made: Instant(microseconds: row.integer(8)), seq: row.integer(9), quarantined: row.integer(17),
                reading: row.optionalText(10),
                checked: time(11),
                isWithin: row.integer(12) == 1, since: time(13), last: time(14), raised: time(15), acknowledged: time(16))
        }.compactMap { $0 }
    }

    /// Adds an alert.
    ///
    /// - Parameter device: The address of an adopted device, for missing readings of that device.
    ///
    /// - Parameter bound: In the type's canonical unit, or in hours.
    /// - Returns: The number of the alert.
    /// - Throws: ``StoreError`` of the kind `invalid` if the type is not a quantity, the bound is out of range, or there are too many.
    @discardableResult
    public func add(
        of person: String, type: SampleType, _ condition: Alert.Condition, bound: Double, device: String? = nil,
        timing: AlertTiming = .immediate, at now: Instant
    ) throws -> Int64 {
        guard type.kind == .quantity, bound.isFinite, condition != .missing || (bound > 0 && bound <= Self.maximumMissing) else {
            throw StoreError(
                .invalid,
                "an alert has a quantity type and a number, or up to \(Int(Self.maximumMissing)) hours without a reading")
        }
        guard timing.margin.isFinite, timing.margin >= 0, (0...AlertTiming.maximumDuration).contains(timing.lasting),
            (0...AlertTiming.maximumDuration).contains(timing.hold)
        else { throw StoreError(.invalid, "the margin of an alert is not negative, and its times are at most a day") }
        guard device == nil || condition == .missing else {
            throw StoreError(.invalid, "only an alert for missing readings is limited to a device")
        }
        return try connection.transaction {
            if let device, try !store.devices.adopted().contains(where: { $0.address == device }) {
                throw StoreError(.invalid, "no device \(device) is adopted")
            }
            let count = try connection.integer("SELECT count(*) FROM alert WHERE subject = ?", .text(person)) ?? 0
            guard count < Self.maximum else {
                throw StoreError(.invalid, "a person has at most \(Self.maximum) alerts")
            }
            try connection.run(
                """
                INSERT INTO alert(
                    subject, type, condition, bound, device, margin, lasting, hold, made, seq, held)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, .text(person), .text(type.id), .text(condition.rawValue), .real(bound), .optional(device),
                .real(timing.margin), .integer(timing.lasting), .integer(timing.hold), .integer(now.microseconds),
                .integer(try store.lastChange()),
                .integer(try connection.quarantine.lastNumber()))
            return connection.lastInsertedRow
        }
    }

    /// Removes an alert.
    ///
    /// - Parameter person: The person that it must belong to, or `nil` for anybody.
    /// - Returns: Whether there was one.
    @discardableResult
    public func remove(_ id: Int64, of person: String? = nil) throws -> Bool {
        try connection.transaction {
            try connection.run(
                "DELETE FROM alert WHERE id = ?1 AND (?2 IS NULL OR subject = ?2)", .integer(id),
                person.map { .text($0) } ?? .null)
            guard connection.changes > 0 else { return false }
            try removeAlertEvents(of: id)
            return true
        }
    }

    /// Removes the alerts about missing readings of a device. Used inside a transaction.
    func remove(ofDevice address: String) throws(StoreError) {
        for id in try connection.list("SELECT id FROM alert WHERE device = ?", [.text(address)], { $0.integer(0) }) {
            try removeAlertEvents(of: id)
            try connection.run("DELETE FROM alert WHERE id = ?", .integer(id))
        }
    }

    /// Returns the number of the last change of the store.
    public func lastChange() throws(StoreError) -> Int64 { try store.lastChange() }

    /// Records the state of an alert after a check.
    ///
    /// - Parameter before: The state that the check began with.
    /// - Returns: Whether it was recorded. It is not if another check recorded a state in the meantime.
    func save(_ alert: Alert, after before: Alert) throws(StoreError) -> Bool {
        try connection.run(
            """
            UPDATE alert SET seq = ?2, reading = ?3, checked = ?4, within = ?5, since = ?6, last = ?7, raised = ?8, acknowledged = ?9,
                held = ?14
            WHERE id = ?1 AND seq = ?10 AND reading IS ?11 AND checked IS ?12 AND raised IS ?13
            """, .integer(alert.id), .integer(alert.seq), .optional(alert.reading), .optional(alert.checked?.microseconds),
            .integer(alert.isWithin ? 1 : 0), .optional(alert.since?.microseconds), .optional(alert.last?.microseconds),
            .optional(alert.raised?.microseconds), .optional(alert.raised == nil ? nil : alert.acknowledged?.microseconds),
            .integer(before.seq), .optional(before.reading), .optional(before.checked?.microseconds),
            .optional(before.raised?.microseconds), .integer(alert.quarantined))
        return connection.changes > 0
    }

    /// Records that a person acknowledged a raised alert, or one that is over.
    ///
    /// - Parameter person: The person that it must belong to, or `nil` for anybody.
    /// - Returns: Whether it was not acknowledged yet.
    @discardableResult
    public func acknowledge(_ id: Int64, of person: String? = nil, at now: Instant) throws -> Bool {
        try connection.transaction {
            try connection.run(
                """
                UPDATE alert SET acknowledged = ?3
                WHERE id = ?1 AND (?2 IS NULL OR subject = ?2) AND raised IS NOT NULL AND acknowledged IS NULL
                """, .integer(id), .optional(person), .integer(now.microseconds))
            guard connection.changes > 0 else { return try acknowledgeEnded(id, of: person, at: now) }
            try acknowledgeEvent(of: id, at: now)
            return true
        }
    }
}
