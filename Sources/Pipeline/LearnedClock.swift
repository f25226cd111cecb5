import HealthModel

/// What is known of a device's clock from comparing it with ours: by how much it is ahead, and how that changed.
///
///     var clock = LearnedClock(shown: first, received: now)
///     clock.learn(shown: second, received: later)     // an hour on, it may have drifted
///     clock.ahead(at: stampOfARecord)
///
/// Between two comparisons the difference is taken to have changed evenly, where a clock can drift so much. Where it cannot, the clock was
/// set in between, and what is read from then on goes by the later comparison alone.
public struct LearnedClock: Hashable, Sendable {
    private struct Comparison: Hashable {
        var shown: Int64
        var ahead: Int64
    }

    private var comparisons: [Comparison]

    /// Comparisons kept; of a connection that lasts for weeks the last ones count.
    private static let maximum = 64
    /// A clock without any crystal still keeps time better than by half a per cent.
    private static let drift = 200.0

    /// - Parameters:
    ///   - shown: what the device's clock showed.
    ///   - received: when, by ours.
    public init(shown: WallTime, received: Instant) {
        comparisons = [Comparison(shown: shown.microseconds, ahead: shown.microseconds &- received.microseconds)]
    }

    /// A clock that is ahead of UTC by so many microseconds.
    public init(ahead: Int64) { comparisons = [Comparison(shown: 0, ahead: ahead)] }

    /// One comparison: what the clock showed, and by how much it was ahead of UTC, both in microseconds.
    public typealias Point = (shown: Int64, ahead: Int64)

    /// A clock that was compared before, elsewhere; the last comparisons count.
    public init(points: [Point]) {
        comparisons = points.suffix(Self.maximum).map { Comparison(shown: $0.shown, ahead: $0.ahead) }
    }

    /// The comparisons, oldest first.
    public var points: [Point] { comparisons.map { ($0.shown, $0.ahead) } }

    /// Compares once more.
    public mutating func learn(shown: WallTime, received: Instant) {
        let next = Comparison(shown: shown.microseconds, ahead: shown.microseconds &- received.microseconds)
        if let last = comparisons.last {
            let (span, change) = (next.shown &- last.shown, next.ahead &- last.ahead)
            // Set, not drifted.
            if span <= 0 || Double(change.magnitude) * Self.drift > Double(span) { comparisons.removeAll() }
        }
        comparisons.append(next)
        if comparisons.count > Self.maximum { comparisons.removeFirst() }
    }

    /// Our own clock was set forward, by so many microseconds: all comparisons were made with one that was behind.
    public mutating func hubWasSet(by step: Int64) {
        for index in comparisons.indices { comparisons[index].ahead &-= step }
    }

    /// By how much the clock was ahead of UTC when it showed a time, in microseconds.
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
