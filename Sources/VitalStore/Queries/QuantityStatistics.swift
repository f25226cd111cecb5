import HealthModel

/// What the samples of a type come to in a stretch of time, as HealthKit's `HKStatistics`. What was not asked for, and everything in a gap, is `nil` or
/// empty.
public struct QuantityStatistics: Hashable, Sendable {
    /// What was measured.
    public let type: SampleType
    let row: Statistics
    private let options: StatisticsOptions

    init(_ row: Statistics, of type: SampleType, _ options: StatisticsOptions) {
        (self.row, self.type, self.options) = (row, type, options)
    }

    /// When the stretch begins.
    public var start: Instant { row.start }
    /// When it ends, exclusively.
    public var end: Instant { row.end }
    /// The id of the source, where sources were kept apart.
    public var source: String? { row.source }
    /// Samples that count; 0 in a gap.
    public var count: Int { row.count }
    /// Of a category, the number of the case that ``duration`` is of.
    public var categoryValue: Int? { row.value }

    /// What the values add up to.
    public var sum: Amount? { amount(row.sum, .cumulativeSum) }
    /// Their average, by the type's aggregation style.
    public var average: Amount? { amount(row.average, .discreteAverage) }
    /// The lowest.
    public var minimum: Amount? { amount(row.minimum, .discreteMin) }
    /// The highest.
    public var maximum: Amount? { amount(row.maximum, .discreteMax) }
    /// The value of the sample that began last.
    public var mostRecent: Amount? { amount(row.mostRecent, .mostRecent) }
    /// How long the samples last that count, in seconds.
    public var duration: Double? { row.count > 0 && options.contains(.duration) ? row.duration : nil }
    /// The 5th, 25th, 50th, 75th and 95th percentile, by these numbers.
    public var percentiles: [Int: Amount] {
        var amounts: [Int: Amount] = [:]
        for (rank, value) in zip(Statistics.percentileRanks, row.percentiles) { amounts[rank] = amount(value, .percentiles) }
        return amounts
    }
    /// What lies in each of the ranges that were asked for.
    public var inRange: [Statistics.RangeShare] { row.inRange }

    private func amount(_ value: Double?, _ option: StatisticsOptions) -> Amount? {
        guard row.count > 0, options.contains(option), let value else { return nil }
        let unit = type.molarMass.map { type.canonicalUnit.with(molarMass: $0) } ?? type.canonicalUnit
        return Amount(Numeral(shortest: value), unit)
    }
}
