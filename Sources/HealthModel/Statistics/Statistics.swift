/// Statistics of one interval of the calendar, in the type's canonical unit.
public struct Statistics: Hashable, Sendable {
    /// When the stretch begins.
    public var start: Instant
    /// When it ends, exclusively.
    public var end: Instant
    /// The person. Samples of several people are never combined.
    public var subject: String
    /// Where statistics are kept apart by source.
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
    /// What lies in each range that was asked for.
    public var inRange: [RangeShare] = []

    /// Which percentiles there are.
    public static let percentileRanks = [5, 25, 50, 75, 95]

    /// How much of the values lies in a range.
    public struct RangeShare: Hashable, Sendable {
        /// The part of the whole, from 0 to 1: of the time for types whose average is weighted by time, else of the samples.
        public var fraction: Double
        /// The time in seconds, or how many samples.
        public var amount: Double

        /// - Parameter amount: seconds, or samples.
        public init(fraction: Double, amount: Double) { (self.fraction, self.amount) = (fraction, amount) }
    }

    /// Statistics of a stretch in which nothing counts yet.
    public init(start: Instant, end: Instant, subject: String, source: String? = nil) {
        self.start = start
        self.end = end
        self.subject = subject
        self.source = source
    }
}
