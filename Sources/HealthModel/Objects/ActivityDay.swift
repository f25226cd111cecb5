/// The rings of a day, from a source's summary or derived from a person's samples.
///
///     move 421.5 of 500 kcal, exercise 34 of 30 min, stand 11 of 12 hours
public struct ActivityDay: Hashable, Sendable {
    /// One ring.
    public struct Ring: Hashable, Sendable {
        /// The progress, or `nil` if unknown.
        public var value: Double?
        /// The goal, or `nil` if unknown. It is never guessed.
        public var goal: Double?
        /// The unit of both, or `nil` for hours and if the source has none.
        public var unit: Unit?

        /// A ring.
        public init(value: Double? = nil, goal: Double? = nil, unit: Unit? = nil) {
            (self.value, self.goal, self.unit) = (value, goal, unit)
        }

        /// The reached fraction of the goal, or `nil` if value or goal is unknown.
        public var fraction: Double? {
            guard let value, let goal, goal > 0 else { return nil }
            return value / goal
        }
    }

    /// `2026-11-20`.
    public var date: String
    /// The person.
    public var person: String
    /// Energy, or minutes if the person's move ring counts minutes.
    public var move = Ring()
    /// Whether ``move`` counts minutes.
    public var movesByTime = false
    /// The exercise minutes.
    public var exercise = Ring()
    /// Hours with a minute of standing, or with a minute of rolling for a wheelchair user.
    public var stand = Ring()
    /// Whether the person used a wheelchair on that day, so that pushes count instead of steps.
    public var usesWheelchair = false
    /// Steps, or pushes for a wheelchair user.
    public var steps: Double?
    /// Whether it is derived from samples. Otherwise it is a source's summary.
    public var isDerived = true

    /// A day without data.
    public init(date: String, person: String) { (self.date, self.person) = (date, person) }

    /// The rings of a source's summary.
    ///
    /// - Parameter movesByTime: Whether the person's move ring counts minutes, if the summary contains both.
    public init(_ summary: ActivitySummary, person: String, movesByTime: Bool) {
        self.init(date: summary.date, person: person)
        self.movesByTime = summary.moveTime != nil && (movesByTime || summary.activeEnergyBurned == nil)
        move =
            self.movesByTime
            ? Self.ring(summary.moveTime, summary.moveTimeGoal, Self.minute)
            : Self.ring(summary.activeEnergyBurned, summary.activeEnergyBurnedGoal, Self.kilocalorie)
        exercise = Self.ring(summary.exerciseTime, summary.exerciseTimeGoal, Self.minute)
        stand = Ring(value: summary.standHours?.numeral.doubleValue, goal: summary.standHoursGoal?.numeral.doubleValue)
        isDerived = false
    }

    /// A ring in the given unit if both amounts can be converted, otherwise as received.
    private static func ring(_ value: Amount?, _ goal: Amount?, _ unit: Unit?) -> Ring {
        if let unit {
            let (own, ownGoal) = (value.flatMap { $0.value(in: unit) }, goal.flatMap { $0.value(in: unit) })
            if (own == nil) == (value == nil), (ownGoal == nil) == (goal == nil) {
                return Ring(value: own, goal: ownGoal, unit: unit)
            }
        }
        // Amounts with two units, one of them unknown, are not compared.
        let isOne = value?.unit == goal?.unit || value == nil || goal == nil
        return Ring(
            value: value?.numeral.doubleValue, goal: isOne ? goal?.numeral.doubleValue : nil, unit: (value ?? goal)?.unit)
    }

    /// The unit of energy.
    public static let kilocalorie = try? Unit(ucum: "kcal")
    /// The unit of minutes.
    public static let minute = try? Unit(ucum: "min")
}
