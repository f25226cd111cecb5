/// How values of a type over time become one number; HealthKit's `HKQuantityAggregationStyle`.
public enum AggregationStyle: String, Hashable, Sendable, CaseIterable {
    /// Values add up: steps, energy.
    case cumulative
    /// Each value counts once in a mean: body mass.
    case discreteArithmetic
    /// Each value counts for as long as it held: heart rate. A sample that lasts holds for its duration, one of an instant until the next one
    /// of its series. The last before a silence of more than ten minutes (``longestHold``) holds for as long as the one before it; one that stands
    /// alone, for ten minutes.
    case discreteTemporallyWeighted
    /// Levels are averaged as the power they stand for: sound.
    case discreteEquivalentContinuousLevel
    /// Values of a category, which do not become one number.
    case none

    /// How long a value of an instant holds at most, in microseconds: ten minutes.
    public static let longestHold: Int64 = 600_000_000
}
