/// Statistics of one interval of the calendar, in the type's canonical unit.
public struct Statistics: Sendable {
    /// When the stretch begins.
    public var start: Instant
    /// When it ends, exclusively.
    public var end: Instant
    /// Whose samples they are; several persons' are never summed up together.
    public var subject: String
    /// Where statistics are kept apart by source.
    public var source: String?
    /// Samples that count in it.
    public var count = 0
    /// For cumulative types: a sample that lies in two intervals counts in each by the share of its time.
    public var sum = 0.0
    /// For discrete types, together with ``minimum``, ``maximum`` and ``mostRecent``.
    public var average: Double?
    /// The lowest value.
    public var minimum: Double?
    /// The highest value.
    public var maximum: Double?
    /// The value of the latest sample.
    public var mostRecent: Double?

    /// Statistics of a stretch in which nothing counts yet.
    public init(start: Instant, end: Instant, subject: String, source: String? = nil) {
        self.start = start
        self.end = end
        self.subject = subject
        self.source = source
    }
}
