import HealthModel

/// What to reckon of the samples of a type: HealthKit's `HKStatisticsOptions`.
public struct StatisticsOptions: OptionSet, Hashable, Sendable {
    /// The set as bits.
    public let rawValue: Int
    /// A set by its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Each source by itself, in full.
    public static let separateBySource = StatisticsOptions(rawValue: 1 << 0)
    /// The average of a type whose values do not add up.
    public static let discreteAverage = StatisticsOptions(rawValue: 1 << 1)
    /// Its lowest value.
    public static let discreteMin = StatisticsOptions(rawValue: 1 << 2)
    /// Its highest value.
    public static let discreteMax = StatisticsOptions(rawValue: 1 << 3)
    /// The sum of a type whose values add up.
    public static let cumulativeSum = StatisticsOptions(rawValue: 1 << 4)
    /// The value of the sample that began last.
    public static let mostRecent = StatisticsOptions(rawValue: 1 << 5)

    func check(for type: SampleType) throws(HealthStoreError) {
        let discrete: StatisticsOptions = [.discreteAverage, .discreteMin, .discreteMax]
        let isCumulative = type.aggregation == .cumulative
        guard type.kind == .quantity, isDisjoint(with: isCumulative ? discrete : .cumulativeSum) else {
            throw .unsuitable("\(type.id) does not have these statistics")
        }
    }
}
