/// A set of times to read, as ordered and disjoint intervals.
///
/// Bounds are microseconds since 1970 and belong to the interval.
public struct TimeStretches: Hashable, Sendable {
    /// In order.
    public let stretches: [ClosedRange<Int64>]

    /// All times.
    public static let all = TimeStretches(sorted: [Int64.min...Int64.max])
    /// No time.
    public static let none = TimeStretches(sorted: [])

    /// More of them are read as one: a condition of many parts must not become a plan of many.
    static let most = 64

    private init(sorted: [ClosedRange<Int64>]) {
        guard sorted.count > Self.most, let first = sorted.first, let last = sorted.last else {
            stretches = sorted
            return
        }
        stretches = [first.lowerBound...last.upperBound]
    }

    /// The times of these stretches, in any order.
    public init(_ stretches: [ClosedRange<Int64>]) {
        var joined: [ClosedRange<Int64>] = []
        for stretch in stretches.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let last = joined.last else {
                joined.append(stretch)
                continue
            }
            let (behind, isLast) = last.upperBound.addingReportingOverflow(1)
            if isLast || stretch.lowerBound <= behind {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, stretch.upperBound)
            } else {
                joined.append(stretch)
            }
        }
        self.init(sorted: joined)
    }

    /// From this time on.
    static func from(_ time: Int64) -> TimeStretches { TimeStretches(sorted: [time...Int64.max]) }
    /// Up to this time, and with it.
    static func through(_ time: Int64) -> TimeStretches { TimeStretches(sorted: [Int64.min...time]) }
    /// After this time.
    static func after(_ time: Int64) -> TimeStretches { time == .max ? .none : from(time + 1) }
    /// Before this time.
    static func before(_ time: Int64) -> TimeStretches { time == .min ? .none : through(time - 1) }
    /// This time alone.
    static func at(_ time: Int64) -> TimeStretches { TimeStretches(sorted: [time...time]) }

    /// Whether it has no time.
    public var isEmpty: Bool { stretches.isEmpty }

    /// Whether it has this time.
    public func contains(_ time: Int64) -> Bool { stretches.contains { $0.contains(time) } }

    /// The times of either.
    public func union(_ other: TimeStretches) -> TimeStretches { TimeStretches(stretches + other.stretches) }

    /// The common times, possibly more if there are many intervals.
    public func intersection(_ other: TimeStretches) -> TimeStretches {
        var common: [ClosedRange<Int64>] = []
        var (one, two) = (0, 0)
        while one < stretches.count, two < other.stretches.count {
            let (own, others) = (stretches[one], other.stretches[two])
            if own.overlaps(others) { common.append(own.clamped(to: others)) }
            if own.upperBound < others.upperBound { one += 1 } else { two += 1 }
        }
        return TimeStretches(sorted: common)
    }
}
