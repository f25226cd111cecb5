/// What to reckon of the samples of a type: HealthKit's `HKStatisticsOptions`, and two of ours.
///
///     try StatisticsOptions([.discreteAverage, .discreteMax]).check(for: .heartRate)
public struct StatisticsOptions: OptionSet, Hashable, Sendable {
    /// The set as bits.
    public let rawValue: Int

    /// A set by its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Each source by itself, in full.
    public static let separateBySource = StatisticsOptions(rawValue: 1 << 0)
    /// The average of a type whose values do not add up, by its ``AggregationStyle``.
    public static let discreteAverage = StatisticsOptions(rawValue: 1 << 1)
    /// Its lowest value.
    public static let discreteMin = StatisticsOptions(rawValue: 1 << 2)
    /// Its highest value.
    public static let discreteMax = StatisticsOptions(rawValue: 1 << 3)
    /// The sum of a type whose values add up.
    public static let cumulativeSum = StatisticsOptions(rawValue: 1 << 4)
    /// The value of the sample that began last.
    public static let mostRecent = StatisticsOptions(rawValue: 1 << 5)
    /// How long the samples last.
    public static let duration = StatisticsOptions(rawValue: 1 << 6)
    /// Ours: the 5th, 25th, 50th, 75th and 95th percentile of a type whose values do not add up.
    public static let percentiles = StatisticsOptions(rawValue: 1 << 7)
    /// Ours: which part of the values lies in ranges.
    public static let inRange = StatisticsOptions(rawValue: 1 << 8)

    /// Only for types whose values do not add up.
    public static let discrete: StatisticsOptions = [.discreteAverage, .discreteMin, .discreteMax, .percentiles, .inRange]

    /// The options that a type's statistics support.
    public static func allowed(for type: SampleType) -> StatisticsOptions {
        switch (type.kind, type.aggregation) {
        case (.category, _): .duration
        case (.quantity, .cumulative): [.cumulativeSum, .mostRecent, .duration, .separateBySource]
        case (.quantity, _): discrete.union([.mostRecent, .duration, .separateBySource])
        default: []
        }
    }

    /// Refuses what HealthKit refuses: sums of a type whose values do not add up, averages of one whose values do.
    ///
    /// - Throws: ``StatisticsError``, naming the first option that the type has not.
    public func check(for type: SampleType) throws(StatisticsError) {
        let foreign = subtracting(Self.allowed(for: type))
        if let option = Self.names.first(where: { foreign.contains($0.option) }) {
            throw StatisticsError(type: type, option: option.name)
        }
    }

    /// The name of each option, in HealthKit's spelling if it has one.
    public static let names: [(name: String, option: StatisticsOptions)] = [
        ("cumulativeSum", .cumulativeSum), ("discreteAverage", .discreteAverage), ("discreteMin", .discreteMin),
        ("discreteMax", .discreteMax), ("mostRecent", .mostRecent), ("duration", .duration), ("percentiles", .percentiles),
        ("inRange", .inRange), ("separateBySource", .separateBySource),
    ]
}

/// An option that a type's statistics do not have.
public struct StatisticsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The type that was asked for.
    public let type: SampleType
    /// The name of the option.
    public let option: String

    public var description: String {
        let reason =
            switch (type.kind, type.aggregation) {
            case (.category, _): "is a category, which has durations only"
            case (.quantity, .cumulative): "is cumulative, and values that add up have no average"
            case (.quantity, _): "is discrete, and its values do not add up"
            default: "is a \(type.kind.name): its samples are no amounts"
            }
        return "\(type.id) has no \(option): it \(reason)"
    }
}
