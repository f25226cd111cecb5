/// The way that values of a type over time become one number, as in HealthKit's `HKQuantityAggregationStyle`.
public enum AggregationStyle: String, Hashable, Sendable, CaseIterable {
    /// Values add up: steps, energy.
    case cumulative
    /// Each value counts once in a mean: body mass.
    case discreteArithmetic
    /// Each value is weighted by its duration: heart rate. An interval sample has its own duration, and an instantaneous one lasts until
    /// the next sample of its series. The last one before a gap of more than ten minutes (``maximumValueDuration``) lasts as long as the previous
    /// one, and an isolated one lasts ten minutes.
    case discreteTemporallyWeighted
    /// Levels are averaged as the power that they represent: sound.
    case discreteEquivalentContinuousLevel
    /// Values of a category, which are not aggregated into a number.
    case none

    /// The maximum duration of an instantaneous value: ten minutes, in microseconds.
    public static let maximumValueDuration: Int64 = 600_000_000
}
