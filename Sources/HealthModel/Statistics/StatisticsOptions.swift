/// The statistics to compute for samples of a type: HealthKit's `HKStatisticsOptions`, and two of our own.
///
///     try StatisticsOptions([.discreteAverage, .discreteMax]).check(for: .heartRate)
public struct StatisticsOptions: OptionSet, Hashable, Sendable {
    /// The set as bits.
    public let rawValue: Int

    /// A set by its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Separate statistics for each source, with all of its samples.
    public static let separateBySource = StatisticsOptions(rawValue: 1 << 0)
    /// The average of a discrete type, by its ``AggregationStyle``.
    public static let discreteAverage = StatisticsOptions(rawValue: 1 << 1)
    /// Its lowest value.
    public static let discreteMin = StatisticsOptions(rawValue: 1 << 2)
    /// Its highest value.
    public static let discreteMax = StatisticsOptions(rawValue: 1 << 3)
    /// The sum of a cumulative type.
    public static let cumulativeSum = StatisticsOptions(rawValue: 1 << 4)
    /// The value of the sample that started last.
    public static let mostRecent = StatisticsOptions(rawValue: 1 << 5)
    /// The total duration of the samples.
    public static let duration = StatisticsOptions(rawValue: 1 << 6)
    /// Our own option: the 5th, 25th, 50th, 75th and 95th percentile of a discrete type.
    public static let percentiles = StatisticsOptions(rawValue: 1 << 7)
    /// Our own option: the share of the values in each range.
    public static let inRange = StatisticsOptions(rawValue: 1 << 8)

    /// The options that only discrete types support.
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

    /// Checks the options like HealthKit, which refuses sums of discrete types and averages of cumulative ones.
    ///
    /// - Throws: ``StatisticsError`` with the first option that the type does not support.
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
            default: "is a \(type.kind.name): its samples have no amounts"
            }
        return "\(type.id) has no \(option): it \(reason)"
    }
}
