import Glibc
import HealthModel

/// Sums up one interval, or a piece of one. Two accumulators of neighbouring pieces, or of several series, can be merged.
struct Accumulator {
    private(set) var count = 0
    private var sum = 0.0
    /// What `sum` is divided by for the average.
    private var weight = 0.0
    private var minimum = Double.infinity
    private var maximum = -Double.infinity
    private var latest = Int64.min
    private var mostRecent = 0.0
    /// Microseconds.
    private var duration: Int64 = 0
    /// The weight within each range.
    private var inRange: [Double] = []
    private var distribution: Distribution?

    init(_ plan: StatisticsPlan) {
        if !plan.ranges.isEmpty { inRange = [Double](repeating: 0, count: plan.ranges.count) }
        if plan.hasPercentiles { distribution = Distribution() }
    }

    /// What a row of `summary` says, from a column on.
    init(summary row: Statement, from column: Int32) {
        count = Int(row.integer(column))
        (minimum, maximum) = (row.real(column + 1), row.real(column + 2))
        (sum, weight) = (row.real(column + 3), row.real(column + 4))
        (latest, mostRecent) = (row.integer(column + 5), row.real(column + 6))
    }

    /// What a row of `summary` says beside the count.
    var summary: (low: Double, high: Double, sum: Double, weight: Double, latest: Int64, last: Double) {
        (minimum, maximum, sum, weight, latest, mostRecent)
    }

    /// Whether another says the same, but for the last bits of sums.
    func isSummary(_ other: Accumulator) -> Bool {
        func isNear(_ one: Double, _ other: Double) -> Bool { abs(one - other) <= 1e-9 * max(abs(one), abs(other)) }
        return (count, minimum, maximum) == (other.count, other.minimum, other.maximum) && isNear(sum, other.sum)
            && isNear(weight, other.weight) && (latest, mostRecent) == (other.latest, other.mostRecent)
    }

    /// - Parameters:
    ///   - value: of a level its power, which is what levels are averaged as (``StatisticsPlan/averaged(_:)``), goes into the sum.
    ///   - weight: how much the value counts for in an average: 1, or microseconds.
    ///   - duration: microseconds of it that count.
    @inline(__always)
    mutating func add(
        _ value: Double, at start: Int64, weight: Double, duration: Int64, _ plan: StatisticsPlan
    ) {
        count += 1
        sum += plan.averaged(value) * weight
        self.weight += weight
        self.duration += duration
        minimum = min(minimum, value)
        maximum = max(maximum, value)
        if start >= latest {
            latest = start
            mostRecent = value
        }
        if plan.isPlain { return }
        if let index = plan.ranges.firstIndex(where: { $0.contains(value) }) { inRange[index] += weight }
        distribution?.add(value, weight: weight)
    }

    /// Adds the part of a cumulative sample that lies in the interval.
    mutating func add(part: Double, of value: Double, at start: Int64, duration: Int64, counts: Bool) {
        if counts { count += 1 }
        sum += part
        self.duration += duration
        if start >= latest {
            latest = start
            mostRecent = value
        }
    }

    mutating func merge(_ other: Accumulator) {
        count += other.count
        sum += other.sum
        weight += other.weight
        duration += other.duration
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        if other.latest > latest {
            latest = other.latest
            mostRecent = other.mostRecent
        }
        for index in inRange.indices { inRange[index] += other.inRange[index] }
        if let more = other.distribution { distribution?.merge(more) }
    }

    func statistics(_ plan: StatisticsPlan, start: Instant, end: Instant, subject: String, source: String?) -> Statistics {
        var statistics = Statistics(start: start, end: end, subject: subject, source: source)
        statistics.count = count
        guard count > 0 else { return statistics }
        statistics.duration = Double(duration) / 1e6
        if plan.style == .none { return statistics }
        statistics.mostRecent = mostRecent
        if plan.style == .cumulative {
            statistics.sum = sum
            return statistics
        }
        let mean = sum / weight
        // An average lies between the lowest and the highest; the last bits of a sum may say otherwise.
        statistics.average = min(
            max(plan.style == .discreteEquivalentContinuousLevel ? 10 * log10(mean) : mean, minimum), maximum)
        statistics.minimum = minimum
        statistics.maximum = maximum
        statistics.percentiles = distribution?.values(at: Statistics.percentileRanks) ?? []
        let unit = plan.weighsTime ? 1e6 : 1
        statistics.inRange = inRange.map { Statistics.RangeShare(fraction: $0 / weight, amount: $0 / unit) }
        return statistics
    }
}

/// How often, or for how long, each value was there.
///
/// Exact up to ``most`` different values: what sensors say is rounded. Beyond that, values are rounded to thirteen binary digits, so that a
/// percentile may be off by an 8,192nd of itself, and memory has an end.
struct Distribution {
    static let most = 16_384
    private var weights: [Double: Double] = [:]
    private var isRounded = false

    mutating func add(_ value: Double, weight: Double) {
        weights[isRounded ? Self.rounded(value) : value, default: 0] += weight
        if weights.count > Self.most, !isRounded { round() }
    }

    mutating func merge(_ other: Distribution) {
        if other.isRounded, !isRounded { round() }
        for (value, weight) in other.weights { add(value, weight: weight) }
    }

    /// The lowest value at or below which lie so many hundredths of the weight: always a value that was measured.
    func values(at ranks: [Int]) -> [Double] {
        guard !weights.isEmpty else { return [] }
        let sorted = weights.sorted { $0.key < $1.key }
        let total = sorted.reduce(0) { $0 + $1.value }
        var found: [Double] = []
        var (index, below) = (0, 0.0)
        for rank in ranks {
            let wanted = total * Double(rank) / 100
            while index + 1 < sorted.count, below + sorted[index].value < wanted {
                below += sorted[index].value
                index += 1
            }
            found.append(sorted[index].key)
        }
        return found
    }

    private mutating func round() {
        isRounded = true
        var rounded: [Double: Double] = [:]
        for (value, weight) in weights { rounded[Self.rounded(value), default: 0] += weight }
        weights = rounded
    }

    private static func rounded(_ value: Double) -> Double {
        let unit: UInt64 = 1 << 40
        let rounded = Double(bitPattern: (value.bitPattern &+ unit / 2) & ~(unit - 1))
        return rounded.isFinite ? rounded : value
    }
}
