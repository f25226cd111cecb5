import HealthModel

/// What the samples of a type come to in a stretch of time, as HealthKit's `HKStatistics`. What was not asked for, and everything in a gap, is `nil`.
public struct QuantityStatistics: Hashable, Sendable {
    /// What was measured.
    public let type: SampleType
    /// When the stretch begins.
    public let start: Instant
    /// When it ends, exclusively.
    public let end: Instant
    /// The id of the source, where sources were kept apart.
    public let source: String?
    /// Samples that count; 0 in a gap.
    public let count: Int
    let figures: Figures

    struct Figures: Hashable, Sendable {
        var sum: Double?
        var average: Double?
        var minimum: Double?
        var maximum: Double?
        var mostRecent: Double?
    }

    init(_ statistics: Statistics, of type: SampleType, _ options: StatisticsOptions) {
        self.type = type
        (start, end, source, count) = (statistics.start, statistics.end, statistics.source, statistics.count)
        let hasSome = statistics.count > 0
        figures = Figures(
            sum: hasSome && options.contains(.cumulativeSum) ? statistics.sum : nil,
            average: options.contains(.discreteAverage) ? statistics.average : nil,
            minimum: options.contains(.discreteMin) ? statistics.minimum : nil,
            maximum: options.contains(.discreteMax) ? statistics.maximum : nil,
            mostRecent: options.contains(.mostRecent) ? statistics.mostRecent : nil)
    }

    /// The stretch of a gap.
    init(emptyFrom start: Instant, to end: Instant, of type: SampleType) {
        (self.type, self.start, self.end, source, count, figures) = (type, start, end, nil, 0, Figures())
    }

    /// What the values add up to.
    public var sum: Amount? { amount(figures.sum) }
    /// Their average, by the type's aggregation style.
    public var average: Amount? { amount(figures.average) }
    /// The lowest.
    public var minimum: Amount? { amount(figures.minimum) }
    /// The highest.
    public var maximum: Amount? { amount(figures.maximum) }
    /// The value of the sample that began last.
    public var mostRecent: Amount? { amount(figures.mostRecent) }

    private func amount(_ value: Double?) -> Amount? {
        value.map { Amount(Numeral(shortest: $0), type.canonicalUnit.with(molarMass: type.molarMass)) }
    }
}

extension Unit {
    fileprivate func with(molarMass: Double?) -> Unit { molarMass.map { with(molarMass: $0) } ?? self }
}
