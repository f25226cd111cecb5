import HealthModel

/// A model of a device's clock, learned by comparing it with ours: its offset, and how the offset changed.
///
///     var clock = LearnedClock(shown: first, received: now)
///     clock.learn(shown: second, received: later)     // an hour on, it may have drifted
///     clock.ahead(at: stampOfARecord)
///
/// The difference is assumed to change evenly between two comparisons if a clock can drift that much. If it cannot, the clock was set in
/// between, and only the later comparison applies from then on.
public struct LearnedClock: Hashable, Sendable {
    private struct Comparison: Hashable {
        var shown: Int64
        var ahead: Int64
    }

    private var comparisons: [Comparison]

    /// The number of comparisons to keep. In a connection that lasts for weeks the latest ones count.
    private static let maximum = 64
    /// Even a clock without a crystal is off by less than half a percent.
    private static let drift = 200.0

    /// - Parameters:
    ///   - shown: The time that the device's clock showed.
    ///   - received: Our time of receipt.
    public init(shown: WallTime, received: Instant) {
        comparisons = [Comparison(shown: shown.microseconds, ahead: shown.microseconds &- received.microseconds)]
    }

    /// A clock that is ahead of UTC by this number of microseconds.
    public init(ahead: Int64) { comparisons = [Comparison(shown: 0, ahead: ahead)] }

    /// One comparison: the clock's time, and its offset from UTC (positive if ahead), both in microseconds.
    public typealias Point = (shown: Int64, ahead: Int64)

    /// A clock from stored comparisons, of which only the latest count.
    public init(points: [Point]) {
        comparisons = points.suffix(Self.maximum).map { Comparison(shown: $0.shown, ahead: $0.ahead) }
    }

    /// The comparisons, oldest first.
    public var points: [Point] { comparisons.map { ($0.shown, $0.ahead) } }

    /// Adds a comparison.
    public mutating func learn(shown: WallTime, received: Instant) {
        let next = Comparison(shown: shown.microseconds, ahead: shown.microseconds &- received.microseconds)
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

    /// The offset from UTC (positive if ahead) when the clock showed a time, in microseconds.
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
