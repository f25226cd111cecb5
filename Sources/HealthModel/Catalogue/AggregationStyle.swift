/// How values of a type over time become one number; HealthKit's `HKQuantityAggregationStyle`.
public enum AggregationStyle: String, Hashable, Sendable, CaseIterable {
    /// Values add up: steps, energy.
    case cumulative
    /// Each value counts once in a mean: body mass.
    case discreteArithmetic
    /// HealthKit weighs each value by how long it held: heart rate. Sensors give instants that hold for no known time, so statistics
    /// here count each value once, as for ``discreteArithmetic``.
    case discreteTemporallyWeighted
    /// Levels are averaged as the power they stand for: sound.
    case discreteEquivalentContinuousLevel
    /// Values of a category, which do not become one number.
    case none
}
