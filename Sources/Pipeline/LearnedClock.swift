import HealthModel

/// A model of a device's clock, learned by comparing it with ours: its offset, and how the offset changed.
///
///     var clock = LearnedClock(shown: first, received: now)
///     clock.learn(shown: second, received: later)     // an hour on, it may have drifted
///     clock.ahead(at: stampOfARecord)
///
/// A clock that is less than half an hour off is set like others when clocks go forward or back: its error is one against the zone's local
/// time. Any other clock has the same offset from UTC in summer and in winter.
///
/// The difference is assumed to change evenly between two comparisons if a clock can drift that much. If it cannot, the clock was set in
/// between, and only the later comparison applies from then on.
public struct LearnedClock: Hashable, Sendable {
    private struct Comparison: Hashable {
        var shown: Int64
        var ahead: Int64
    }

    private var comparisons: [Comparison]
    /// Whether the error is one against the zone's local time, otherwise against UTC.
    public private(set) var followsZone = false

    /// The number of comparisons to keep. In a connection that lasts for weeks the latest ones count.
    private static let maximum = 64
    /// The error in microseconds from which a clock counts as never set.
    private static let unset: UInt64 = 1_800_000_000
    /// Even a clock without a crystal is off by less than half a percent.
    private static let drift = 200.0

    /// - Parameters:
    ///   - shown: The time that the device's clock showed.
    ///   - received: Our time of receipt.
    public init(shown: WallTime, received: Instant) {
        comparisons = [Comparison(shown: shown.microseconds, ahead: shown.microseconds &- received.microseconds)]
    }

    /// A clock in a zone, whose rules it follows if it is only a little off.
    public init(shown: WallTime, received: Instant, zone: TimeZoneRules) {
        self.init(shown: shown, received: received)
        learn(shown: shown, received: received, zone: zone)
    }

    /// A clock that is ahead of UTC by this number of microseconds.
    public init(ahead: Int64) { comparisons = [Comparison(shown: 0, ahead: ahead)] }

    /// One comparison: the clock's time, and its offset from UTC (positive if ahead), both in microseconds.
    public typealias Point = (shown: Int64, ahead: Int64)

    /// A clock from stored comparisons, of which only the latest count.
    public init(points: [Point], followsZone: Bool = false) {
        self.followsZone = followsZone
        comparisons = points.suffix(Self.maximum).map { Comparison(shown: $0.shown, ahead: $0.ahead) }
    }

    /// The comparisons, oldest first.
    public var points: [Point] { comparisons.map { ($0.shown, $0.ahead) } }

    /// Adds a comparison in a zone.
    public mutating func learn(shown: WallTime, received: Instant, zone: TimeZoneRules) {
        let error = shown.microseconds &- received.wallTime(at: zone.offset(at: received)).microseconds
        if followsZone != (error.magnitude < Self.unset) {
            followsZone.toggle()
            comparisons.removeAll()
        }
        add(Comparison(shown: shown.microseconds, ahead: followsZone ? error : shown.microseconds &- received.microseconds))
    }

    /// Adds a comparison with UTC.
    public mutating func learn(shown: WallTime, received: Instant) {
        add(Comparison(shown: shown.microseconds, ahead: shown.microseconds &- received.microseconds))
    }

    private mutating func add(_ next: Comparison) {
        if let last = comparisons.last {
            let (span, change) = (next.shown &- last.shown, next.ahead &- last.ahead)
            // The clock was set. It did not drift.
            if span <= 0 || Double(change.magnitude) * Self.drift > Double(span) { comparisons.removeAll() }
        }
        comparisons.append(next)
        if comparisons.count > Self.maximum { comparisons.removeFirst() }
    }

    /// Corrects all comparisons after our own clock was set forward by this number of microseconds, because it was slow when they were
    /// made.
    public mutating func hubWasSet(by step: Int64) {
        for index in comparisons.indices { comparisons[index].ahead &-= step }
    }

    /// The time that a right clock of the zone would have shown, or `nil` if the clock does not follow the zone.
    public func corrected(_ shown: WallTime) -> WallTime? {
        followsZone ? WallTime(microseconds: shown.microseconds &- ahead(at: shown)) : nil
    }

    /// The offset from UTC, or from the zone's local time (positive if ahead), when the clock showed a time, in microseconds.
    public func ahead(at shown: WallTime) -> Int64 {
        let time = shown.microseconds
        guard let last = comparisons.last else { return 0 }
        for (one, next) in zip(comparisons, comparisons.dropFirst()) where one.shown <= time && time < next.shown {
            let (span, change) = (next.shown &- one.shown, next.ahead &- one.ahead)
            return one.ahead + Int64((Double(change) * Double(time &- one.shown) / Double(span)).rounded())
        }
        return time >= last.shown ? last.ahead : comparisons[0].ahead
    }
}
