/// What a day's rings show: a summary that a source told, or what a person's samples come to.
///
///     move 421.5 of 500 kcal, exercise 34 of 30 min, stand 11 of 12 hours
public struct ActivityDay: Hashable, Sendable {
    /// One ring.
    public struct Ring: Hashable, Sendable {
        /// How far it is; `nil` where nothing tells.
        public var value: Double?
        /// How far it was to be; `nil` where nothing tells: none is guessed at.
        public var goal: Double?
        /// Of both; `nil` for hours, and where the source named none.
        public var unit: Unit?

        /// A ring.
        public init(value: Double? = nil, goal: Double? = nil, unit: Unit? = nil) {
            (self.value, self.goal, self.unit) = (value, goal, unit)
        }

        /// How much of the goal was reached; `nil` where one of both is not known.
        public var fraction: Double? {
            guard let value, let goal, goal > 0 else { return nil }
            return value / goal
        }
    }

    /// `2026-11-20`.
    public var date: String
    /// Whose.
    public var subject: String
    /// Energy, or minutes where the person's move ring counts these.
    public var move = Ring()
    /// Whether ``move`` counts minutes.
    public var movesByTime = false
    /// Minutes.
    public var exercise = Ring()
    /// Hours with a minute on one's feet; of a wheelchair user those with a minute of rolling.
    public var stand = Ring()
    /// Whether the person used a wheelchair on that day: then pushes count where steps count for others.
    public var usesWheelchair = false
    /// Steps, or pushes.
    public var steps: Double?
    /// Whether it comes from samples; else a source told the day's summary.
    public var isDerived = true

    /// A day of which nothing is told.
    public init(date: String, subject: String) { (self.date, self.subject) = (date, subject) }

    /// Takes the rings of a summary as a source told it.
    ///
    /// - Parameter movesByTime: whether the person's move ring counts minutes, where the summary tells both.
    public init(_ summary: ActivitySummary, subject: String, movesByTime: Bool) {
        self.init(date: summary.date, subject: subject)
        self.movesByTime = summary.moveTime != nil && (movesByTime || summary.activeEnergyBurned == nil)
        move =
            self.movesByTime
            ? Self.ring(summary.moveTime, summary.moveTimeGoal, Self.minute)
            : Self.ring(summary.activeEnergyBurned, summary.activeEnergyBurnedGoal, Self.kilocalorie)
        exercise = Self.ring(summary.exerciseTime, summary.exerciseTimeGoal, Self.minute)
        stand = Ring(value: summary.standHours?.numeral.doubleValue, goal: summary.standHoursGoal?.numeral.doubleValue)
        isDerived = false
    }

    /// In the unit where both can be told in it, else as they were told.
    private static func ring(_ value: Amount?, _ goal: Amount?, _ unit: Unit?) -> Ring {
        if let unit {
            let (own, ownGoal) = (value.flatMap { $0.value(in: unit) }, goal.flatMap { $0.value(in: unit) })
            if (own == nil) == (value == nil), (ownGoal == nil) == (goal == nil) {
                return Ring(value: own, goal: ownGoal, unit: unit)
            }
        }
        // Two units of which one is unknown are not compared.
        let isOne = value?.unit == goal?.unit || value == nil || goal == nil
        return Ring(
            value: value?.numeral.doubleValue, goal: isOne ? goal?.numeral.doubleValue : nil, unit: (value ?? goal)?.unit)
    }

    /// The unit of energy.
    public static let kilocalorie = try? Unit(ucum: "kcal")
    /// The unit of minutes.
    public static let minute = try? Unit(ucum: "min")
}
