/// The rings of one calendar day (`HKActivitySummary`). The day is a date in the person's life, not a stretch of instants: it has no zone.
public struct ActivitySummary: Hashable, Sendable, Codable {
    /// `2026-11-20`.
    public var date: String
    /// The move ring, where it goes by energy, and its goal.
    public var activeEnergyBurned: Amount?
    /// What the move ring was to reach.
    public var activeEnergyBurnedGoal: Amount?
    /// The move ring, where it goes by minutes.
    public var moveTime: Amount?
    /// What the move ring was to reach.
    public var moveTimeGoal: Amount?
    /// The exercise ring.
    public var exerciseTime: Amount?
    /// What the exercise ring was to reach.
    public var exerciseTimeGoal: Amount?
    /// The stand ring, in hours with a minute on one's feet.
    public var standHours: Amount?
    /// What the stand ring was to reach.
    public var standHoursGoal: Amount?

    /// A day of which nothing is told.
    public init(date: String) { self.date = date }
}
