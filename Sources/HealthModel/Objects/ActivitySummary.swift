/// The rings of one calendar day (`HKActivitySummary`). The day is a local date without a zone, not an interval of instants.
public struct ActivitySummary: Hashable, Sendable, Codable {
    /// `2026-11-20`.
    public var date: String
    /// The move ring, if it counts energy.
    public var activeEnergyBurned: Amount?
    /// The goal of ``activeEnergyBurned``.
    public var activeEnergyBurnedGoal: Amount?
    /// The move ring, if it counts minutes.
    public var moveTime: Amount?
    /// The goal of ``moveTime``.
    public var moveTimeGoal: Amount?
    /// The exercise ring.
    public var exerciseTime: Amount?
    /// The goal of the exercise ring.
    public var exerciseTimeGoal: Amount?
    /// The stand ring, in hours with a minute of standing.
    public var standHours: Amount?
    /// The goal of the stand ring.
    public var standHoursGoal: Amount?

    /// A day without data.
    public init(date: String) { self.date = date }
}

extension ActivitySummary: ObjectBody {
    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        guard Characteristic(.dateOfBirth, date) != nil else { throw InvalidObject("body: date", "it is not a calendar date") }
    }
}
