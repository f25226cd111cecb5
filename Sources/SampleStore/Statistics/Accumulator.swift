import Glibc
import HealthModel

/// Accumulates the statistics of an interval or of a piece of one. Accumulators of adjacent pieces or of several series can be merged.
struct Accumulator {
    private(set) var count = 0
    private var sum = 0.0
    /// The total weight, by which `sum` is divided for the average.
    private var weight = 0.0
    private var minimum = Double.infinity
    private var maximum = -Double.infinity
    private var latest = Int64.min
    private var mostRecent = 0.0
    /// In microseconds.
    private var duration: Int64 = 0
    /// The weight within each range.
    private var inRange: [Double] = []
    private var distribution: Distribution?

    init(_ plan: StatisticsPlan) {
        if !plan.ranges.isEmpty { inRange = [Double](repeating: 0, count: plan.ranges.count) }
        if plan.hasPercentiles { distribution = Distribution() }
    }

    init(_ summary: SummaryTable.Row) {
        count = summary.count
        (minimum, maximum) = (summary.low, summary.high)
        (sum, weight) = (summary.sum, summary.weight)
        (latest, mostRecent) = (summary.latest, summary.last)
    }

    /// Returns the row that ``init(_:)`` reads.
    func summary(at start: Int64) -> SummaryTable.Row {
        SummaryTable.Row(
            start: start, count: count, low: minimum, high: maximum, sum: sum, weight: weight, latest: latest, last: mostRecent)
    }

    /// - Parameters:
    ///   - value: The value. For levels, the sum contains their power, because this is what is averaged (``StatisticsPlan/averaged(_:)``).
    ///   - weight: The weight in the average: 1, or microseconds.
    ///   - duration: The part of the duration that counts, in microseconds.
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

    /// Adds another accumulator, whose samples come after those of this one in the order in which they are read.
    mutating func merge(_ other: Accumulator) {
        count += other.count
        sum += other.sum
        weight += other.weight
        duration += other.duration
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        if other.latest >= latest {
            latest = other.latest
            mostRecent = other.mostRecent
        }
        for index in inRange.indices { inRange[index] += other.inRange[index] }
        if let more = other.distribution { distribution?.merge(more) }
    }

    func statistics(_ plan: StatisticsPlan, start: Instant, end: Instant, person: String, source: String?) -> Statistics {
        var statistics = Statistics(start: start, end: end, person: person, source: source)
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
        // Clamps the average, because rounding of the sum may move it outside the range of the values.
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

/// The number or duration of each distinct value.
///
/// It is exact up to ``maximum`` different values, which is enough for the rounded values of sensors. Beyond that, values are rounded to
/// thirteen binary digits to bound the memory, so a percentile may be off by an 8,192nd of itself.
struct Distribution {
    static let maximum = 16_384
    private var weights: [Double: Double] = [:]
    private var isRounded = false

    mutating func add(_ value: Double, weight: Double) {
        weights[isRounded ? Self.rounded(value) : value, default: 0] += weight
        if weights.count > Self.maximum, !isRounded { round() }
    }

    mutating func merge(_ other: Distribution) {
        if other.isRounded, !isRounded { round() }
        for (value, weight) in other.weights { add(value, weight: weight) }
    }

    /// Returns the percentiles for ranks in hundredths. Each is the lowest value at which the share of the weight is reached, so it is
    /// always a measured value.
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
