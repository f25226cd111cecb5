import HealthModel

/// Statistics of the samples of a type in an interval, like HealthKit's `HKStatistics`. Values that were not requested are `nil` or
/// empty, and so are all values of a gap.
public struct QuantityStatistics: Hashable, Sendable {
    /// The type of the samples.
    public let type: SampleType
    let row: Statistics
    private let options: StatisticsOptions

    init(_ row: Statistics, of type: SampleType, _ options: StatisticsOptions) {
        (self.row, self.type, self.options) = (row, type, options)
    }

    /// The start of the interval.
    public var start: Instant { row.start }
    /// The exclusive end of the interval.
    public var end: Instant { row.end }
    /// The id of the source, if the statistics are separated by source.
    public var source: String? { row.source }
    /// The number of samples. It is 0 in a gap.
    public var count: Int { row.count }
    /// The number of the category case that ``duration`` belongs to, for category types.
    public var categoryValue: Int? { row.value }

    /// The sum of the values.
    public var sum: Amount? { amount(row.sum, .cumulativeSum) }
    /// The average of the values, according to the type's aggregation style.
    public var average: Amount? { amount(row.average, .discreteAverage) }
    /// The minimum value.
    public var minimum: Amount? { amount(row.minimum, .discreteMin) }
    /// The maximum value.
    public var maximum: Amount? { amount(row.maximum, .discreteMax) }
    /// The value of the sample with the latest start.
    public var mostRecent: Amount? { amount(row.mostRecent, .mostRecent) }
    /// The total duration of the samples in seconds.
    public var duration: Double? { row.count > 0 && options.contains(.duration) ? row.duration : nil }
    /// The 5th, 25th, 50th, 75th and 95th percentile, with these numbers as keys.
    public var percentiles: [Int: Amount] {
        var amounts: [Int: Amount] = [:]
        for (rank, value) in zip(Statistics.percentileRanks, row.percentiles) { amounts[rank] = amount(value, .percentiles) }
        return amounts
    }
    /// The share in each of the requested ranges.
    public var inRange: [Statistics.RangeShare] { row.inRange }

    private func amount(_ value: Double?, _ option: StatisticsOptions) -> Amount? {
        guard row.count > 0, options.contains(option), let value else { return nil }
        let unit = type.molarMass.map { type.canonicalUnit.with(molarMass: $0) } ?? type.canonicalUnit
        return Amount(Numeral(shortest: value), unit)
    }
}
