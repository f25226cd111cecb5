import HealthModel

/// A person's target for each day or week of a type.
public struct Goal: Hashable, Sendable {
    /// The interval of a target.
    public enum Span: String, CaseIterable, Sendable {
        case day, week
    }

    /// The type.
    public var type: SampleType
    /// The interval.
    public var span: Span
    /// The target in the type's canonical unit.
    public var value: Double

    /// Creates a goal.
    public init(type: SampleType, span: Span, value: Double) { (self.type, self.span, self.value) = (type, span, value) }
}

/// The table `goal`: targets of people.
extension SampleStore.People {
    /// Returns a person's goals by type.
    public func goals(of person: String) throws(StoreError) -> [SampleType: Goal] {
        var goals: [SampleType: Goal] = [:]
        for (type, span, value) in try connection.list(
            "SELECT type, span, value FROM goal WHERE subject = ?", [.text(person)],
            { ($0.text(0), $0.text(1), $0.real(2)) })
        {
            guard let type = SampleType(type), let span = Goal.Span(rawValue: span) else { continue }
            goals[type] = Goal(type: type, span: span, value: value)
        }
        return goals
    }

    /// Sets a person's goal. It replaces the goal of the same type.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if the type is not a quantity or the value is not a positive number.
    public func save(_ goal: Goal, of person: String) throws {
        guard goal.type.kind == .quantity, goal.value.isFinite, goal.value > 0 else {
            throw StoreError(.invalid, "a goal is a positive number of a quantity type")
        }
        try connection.run(
            """
            INSERT INTO goal(subject, type, span, value) VALUES(?, ?, ?, ?)
            ON CONFLICT(subject, type) DO UPDATE SET span = excluded.span, value = excluded.value
            """, .text(person), .text(goal.type.id), .text(goal.span.rawValue), .real(goal.value))
    }

    /// Removes a person's goal.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func removeGoal(_ type: SampleType, of person: String) throws(StoreError) -> Bool {
        try connection.run("DELETE FROM goal WHERE subject = ? AND type = ?", .text(person), .text(type.id))
        return connection.changes > 0
    }
}
