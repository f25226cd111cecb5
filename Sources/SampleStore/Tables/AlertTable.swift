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
    public var subject: String
    /// The type.
    public var type: SampleType
    /// The kind of condition.
    public var condition: Condition
    /// The bound in the type's canonical unit, or in hours.
    public var bound: Double
    /// When it was added. Earlier readings raise no alert.
    public var made: Instant
    /// The start of the last reading that was checked.
    public var checked: Instant?
    /// Since when the condition is met, or `nil` if it is not.
    public var raised: Instant?
}

/// The table `alert`: conditions on readings.
extension SampleStore.Alerts {
    /// The maximum number of alerts of a person.
    public static let most = 100
    /// The longest time without a reading, in hours.
    public static let longestMissing = 8784.0

    /// Returns the alerts of a person, or of everybody, in the order in which they were added.
    public func all(of subject: String? = nil) throws(StoreError) -> [Alert] {
        try connection.list(
            """
            SELECT id, subject, type, condition, bound, made, checked, raised FROM alert WHERE ?1 IS NULL OR subject = ?1 ORDER BY id
            """, [subject.map { .text($0) } ?? .null]
        ) { row -> Alert? in
            guard let type = SampleType(row.text(2)), let condition = Alert.Condition(rawValue: row.text(3)) else { return nil }
            return Alert(
                id: row.integer(0), subject: row.text(1), type: type, condition: condition, bound: row.real(4),
                made: Instant(microseconds: row.integer(5)),
                checked: row.isNull(6) ? nil : Instant(microseconds: row.integer(6)),
                raised: row.isNull(7) ? nil : Instant(microseconds: row.integer(7)))
        }.compactMap { $0 }
    }

    /// Adds an alert.
    ///
    /// - Parameter bound: In the type's canonical unit, or in hours.
    /// - Returns: The number of the alert.
    /// - Throws: ``StoreError`` of the kind `invalid` if the type is not a quantity, the bound is out of range, or there are too many.
    @discardableResult
    public func add(
        of subject: String, type: SampleType, _ condition: Alert.Condition, bound: Double, at now: Instant
    ) throws -> Int64 {
        guard type.kind == .quantity, bound.isFinite, condition != .missing || (bound > 0 && bound <= Self.longestMissing) else {
            throw StoreError(
                .invalid,
                "an alert has a quantity type and a number, or up to \(Int(Self.longestMissing)) hours without a reading")
        }
        return try connection.transaction {
            let count = try connection.integer("SELECT count(*) FROM alert WHERE subject = ?", .text(subject)) ?? 0
            guard count < Self.most else {
                throw StoreError(.invalid, "a person has at most \(Self.most) alerts")
            }
            try connection.run(
                "INSERT INTO alert(subject, type, condition, bound, made) VALUES(?, ?, ?, ?, ?)", .text(subject), .text(type.id),
                .text(condition.rawValue), .real(bound), .integer(now.microseconds))
            return connection.lastInsertedRow
        }
    }

    /// Removes an alert.
    ///
    /// - Parameter subject: The person that it must belong to, or `nil` for anybody.
    /// - Returns: Whether there was one.
    @discardableResult
    public func remove(_ id: Int64, of subject: String? = nil) throws -> Bool {
        try connection.transaction {
            try connection.run(
                "DELETE FROM alert WHERE id = ?1 AND (?2 IS NULL OR subject = ?2)", .integer(id),
                subject.map { .text($0) } ?? .null)
            guard connection.changes > 0 else { return false }
            try removeAlertEvents(of: id)
            return true
        }
    }

    /// Records the state of an alert after a check.
    ///
    /// - Parameter before: The state that the check began with.
    /// - Returns: Whether it was recorded. It is not if another check recorded a state in the meantime.
    func save(_ alert: Alert, after before: Alert) throws(StoreError) -> Bool {
        try connection.run(
            "UPDATE alert SET checked = ?2, raised = ?3 WHERE id = ?1 AND checked IS ?4 AND raised IS ?5", .integer(alert.id),
            .optional(alert.checked?.microseconds), .optional(alert.raised?.microseconds),
            .optional(before.checked?.microseconds), .optional(before.raised?.microseconds))
        return connection.changes > 0
    }
}
