/// A set of times to read, as ordered and disjoint intervals.
///
/// Bounds are microseconds since 1970 and belong to the interval.
public struct TimeIntervalSet: Hashable, Sendable {
    /// In order.
    public let intervals: [ClosedRange<Int64>]

    /// All times.
    public static let all = TimeIntervalSet(sorted: [Int64.min...Int64.max])
    /// No time.
    public static let none = TimeIntervalSet(sorted: [])

    /// More of them are read as one: a condition of many parts must not become a plan of many.
    static let maximum = 64

    private init(sorted: [ClosedRange<Int64>]) {
        guard sorted.count > Self.maximum, let first = sorted.first, let last = sorted.last else {
            intervals = sorted
            return
        }
        intervals = [first.lowerBound...last.upperBound]
    }

    /// The times of these stretches, in any order.
    public init(_ intervals: [ClosedRange<Int64>]) {
        var joined: [ClosedRange<Int64>] = []
        for interval in intervals.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let last = joined.last else {
                joined.append(interval)
                continue
            }
            let (next, isLast) = last.upperBound.addingReportingOverflow(1)
            if isLast || interval.lowerBound <= next {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, interval.upperBound)
            } else {
                joined.append(interval)
            }
        }
        self.init(sorted: joined)
    }

    /// From this time on.
    static func from(_ time: Int64) -> TimeIntervalSet { TimeIntervalSet(sorted: [time...Int64.max]) }
    /// Up to this time, and with it.
    static func through(_ time: Int64) -> TimeIntervalSet { TimeIntervalSet(sorted: [Int64.min...time]) }
    /// After this time.
    static func after(_ time: Int64) -> TimeIntervalSet { time == .max ? .none : from(time + 1) }
    /// Before this time.
    static func before(_ time: Int64) -> TimeIntervalSet { time == .min ? .none : through(time - 1) }
    /// This time alone.
    static func at(_ time: Int64) -> TimeIntervalSet { TimeIntervalSet(sorted: [time...time]) }

    /// Whether it has no time.
    public var isEmpty: Bool { intervals.isEmpty }

    /// Whether it has this time.
    public func contains(_ time: Int64) -> Bool { intervals.contains { $0.contains(time) } }

    /// The times of either.
    public func union(_ other: TimeIntervalSet) -> TimeIntervalSet { TimeIntervalSet(intervals + other.intervals) }

    /// The common times, possibly more if there are many intervals.
    public func intersection(_ other: TimeIntervalSet) -> TimeIntervalSet {
        var common: [ClosedRange<Int64>] = []
        var (one, two) = (0, 0)
        while one < intervals.count, two < other.intervals.count {
            let (own, others) = (intervals[one], other.intervals[two])
            if own.overlaps(others) { common.append(own.clamped(to: others)) }
            if own.upperBound < others.upperBound { one += 1 } else { two += 1 }
        }
        return TimeIntervalSet(sorted: common)
    }
}
