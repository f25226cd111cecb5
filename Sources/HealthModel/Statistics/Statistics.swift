/// Statistics of one interval of the calendar, in the type's canonical unit.
public struct Statistics: Hashable, Sendable {
    /// The start of the interval.
    public var start: Instant
    /// The end of the interval, exclusive.
    public var end: Instant
    /// The person. Samples of several people are never combined.
    public var person: String
    /// The source, if sources are separate.
    public var source: String?
    /// The case of a category that ``duration`` is for, or `nil` in a gap.
    public var value: Int?
    /// The number of samples that count, zero in a gap.
    public var count = 0
    /// For cumulative types: a sample that lies in two intervals counts in each by the share of its time.
    public var sum = 0.0
    /// The average, for discrete types. Like ``minimum``, ``maximum`` and ``mostRecent``, it is `nil` in a gap.
    public var average: Double?
    /// The lowest value.
    public var minimum: Double?
    /// The highest value.
    public var maximum: Double?
    /// The value of the sample that started last. For a cumulative type it is the full value, even if only a part counts.
    public var mostRecent: Double?
    /// The total duration in seconds. A cumulative sample counts with its share, a discrete one at its start.
    public var duration = 0.0
    /// The values of ``percentileRanks``, if requested. Empty in a gap.
    public var percentiles: [Double] = []
    /// The share of each requested range.
    public var inRange: [RangeShare] = []

    /// The available percentiles.
    public static let percentileRanks = [5, 25, 50, 75, 95]

    /// The share of the values in a range.
    public struct RangeShare: Hashable, Sendable {
        /// The fraction from 0 to 1, by time for types that are weighted by time, otherwise by samples.
        public var fraction: Double
        /// The time in seconds, or the number of samples.
        public var amount: Double

        /// - Parameter amount: seconds, or samples.
        public init(fraction: Double, amount: Double) { (self.fraction, self.amount) = (fraction, amount) }
    }

    /// Statistics of an interval without samples.
    public init(start: Instant, end: Instant, person: String, source: String? = nil) {
        self.start = start
        self.end = end
        self.person = person
        self.source = source
    }
}
