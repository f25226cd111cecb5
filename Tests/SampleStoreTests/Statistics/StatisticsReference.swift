import Glibc
import HealthModel

@testable import SampleStore

/// Statistics that examine every five minutes of a few days, and every sample: slow, and without the store's methods.
///
/// The data is coarse, so that samples collide: times are ticks of five minutes after a first one.
struct StatisticsReference {
    static let tick: Int64 = 300_000_000

    /// One sample of a person.
    struct ReferenceSample: Hashable {
        /// The number of the series. The lower number has priority if several report the same time.
        var series: Int
        var start: Int
        /// In ticks. 0 is an instant.
        var length: Int
        var value: Int
        /// Hours ahead of UTC, if the sample has a zone.
        var zone: Int?
    }

    /// One bucket's figures.
    struct Figures {
        var count = 0
        var sum = 0.0
        /// Value and weight of each sample of a discrete type.
        var weighed: [(value: Double, weight: Double)] = []
        var seconds = 0.0
        /// The start of the sample that began last, and the values of all that began then.
        var latest = (start: Int.min, values: Set<Double>())
    }

    let style: AggregationStyle
    let reported: [ReferenceSample]
    /// Ticks since 1970.
    let first: Int
    let zone: TimeZoneRules
    /// Whether each sample uses its own zone.
    let ownZones: Bool
    /// Whether each series counts in full.
    let countsEvery: Bool
    /// How many series the user ordered, beginning with the first. The others share the position after them.
    let ordered: Int
    /// Ticks after the first, in the local time that assigns samples to days.
    let from: Int
    let to: Int
    /// The bucket that a time on the wall (days) or an instant (hours) falls into, both in microseconds.
    let bucket: (Int64) -> Int
    /// Whether buckets are of the clock on the wall.
    let byWall: Bool

    private func microseconds(_ tick: Int) -> Int64 { Int64(first + tick) * Self.tick }

    private func offset(_ sample: ReferenceSample) -> Int64? {
        guard ownZones else { return nil }
        if let hours = sample.zone { return Int64(hours) * 3_600_000_000 }
        return Int64(zone.offset(at: Instant(microseconds: microseconds(sample.start))).seconds) * 1_000_000
    }

    /// The local time that assigns a sample's tick, and whether it was requested.
    private func key(_ tick: Int, of sample: ReferenceSample) -> Int? {
        let instant = microseconds(tick)
        func wall(_ time: Int64) -> Int64 {
            time + Int64(zone.offset(at: Instant(microseconds: time)).seconds) * 1_000_000
        }
        if let offset = offset(sample) {
            guard instant + offset >= wall(microseconds(from)), instant + offset < wall(microseconds(to)) else { return nil }
            return bucket(instant + offset)
        }
        guard tick >= from, tick < to else { return nil }
        return bucket(byWall ? wall(instant) : instant)
    }

    /// Whether a better series has a sample that lasts over this tick.
    private func isCovered(_ tick: Int, for sample: ReferenceSample) -> Bool {
        !countsEvery && reported.contains { $0.series < sample.series && covers(tick, $0) && !isTotal($0) }
    }

    private func covers(_ tick: Int, _ sample: ReferenceSample) -> Bool {
        sample.start <= tick && tick < sample.start + sample.length
    }

    // MARK: Totals

    /// The totals of one series with the same time.
    private struct Total {
        var series: Int
        var start: Int
        var length: Int
        var value: Double
        var finer: Double
        var counts = false
    }

    /// An hour or longer, between quarters of hours, of a type that adds up.
    private func isTotal(_ sample: ReferenceSample) -> Bool {
        style == .cumulative && !countsEvery && sample.length >= 12 && (first + sample.start) % 3 == 0 && sample.length % 3 == 0
    }

    /// Whether a series may explain a total of another one: the user did not order it after that one.
    private func isComparable(_ series: Int, to total: Int) -> Bool { min(series, ordered) <= min(total, ordered) }

    /// The totals, with those that count: finer samples do not add up to half of them.
    private func totals() -> [Total] {
        var totals: [Total] = []
        for (key, samples) in Dictionary(grouping: reported.filter(isTotal), by: { [$0.series, $0.start, $0.length] }) {
            var finer = 0.0
            for tick in key[1]..<key[1] + key[2] {
                for sample in reported
                where !isTotal(sample) && !isCovered(tick, for: sample) && isComparable(sample.series, to: key[0]) {
                    if sample.length == 0, sample.start == tick { finer += Double(sample.value) }
                    if covers(tick, sample) { finer += Double(sample.value) / Double(sample.length) }
                }
            }
            totals.append(
                Total(
                    series: key[0], start: key[1], length: key[2], value: samples.reduce(0) { $0 + Double($1.value) },
                    finer: finer))
        }
        totals.sort { ($0.length, $0.series, $0.start) < ($1.length, $1.series, $1.start) }
        for index in totals.indices where totals[index].finer == 0 || 2 * totals[index].finer < totals[index].value * (1 - 1e-9) {
            let own = totals[index]
            let ticks = own.start..<own.start + own.length
            let isReported = totals.contains { $0.counts && ($0.start, $0.length) == (own.start, own.length) }
            totals[index].counts = true
            for other in totals.indices {
                let common = ticks.clamped(to: totals[other].start..<totals[other].start + totals[other].length).count
                guard common > 0 else { continue }
                if 2 * totals[other].length <= own.length { totals[other].counts = false }
                if !isReported, totals[other].length >= 2 * own.length, isComparable(own.series, to: totals[other].series) {
                    totals[other].finer += (own.value - own.finer) * Double(common) / Double(own.length)
                }
            }
        }
        return totals
    }

    /// How long an instant's value holds, in microseconds.
    private func hold(_ sample: ReferenceSample) -> Double {
        let starts = reported.filter { $0.series == sample.series }.map(\.start)
        let gaps = [
            starts.filter { $0 > sample.start }.min().map { $0 - sample.start },
            starts.filter { $0 < sample.start }.max().map { sample.start - $0 },
        ]
        // Ten minutes are two ticks.
        let hold = gaps.lazy.compactMap { $0 }.first { $0 <= 2 } ?? 2
        return Double(Int64(hold) * Self.tick)
    }

    /// The buckets that have something.
    func figures() -> [Int: Figures] {
        var found: [Int: Figures] = [:]
        let totals = totals().filter(\.counts)
        for sample in reported {
            let value = Double(sample.value)
            var ticks = Array(sample.start..<sample.start + max(1, sample.length))
            if isTotal(sample) {
                guard totals.contains(where: { ($0.series, $0.start, $0.length) == (sample.series, sample.start, sample.length) })
                else { continue }
                ticks.removeAll { tick in
                    totals.contains { $0.series < sample.series && $0.start <= tick && tick < $0.start + $0.length }
                }
            } else {
                ticks.removeAll { tick in
                    isCovered(tick, for: sample) || totals.contains { $0.start <= tick && tick < $0.start + $0.length }
                }
            }
            if style == .cumulative {
                var touched: Set<Int> = []
                for tick in ticks {
                    guard let bucket = self.key(tick, of: sample) else { continue }
                    found[bucket, default: Figures()].sum += value / Double(max(1, sample.length))
                    if sample.length > 0 { found[bucket]?.seconds += 300 }
                    touched.insert(bucket)
                }
                for bucket in touched { Self.count(sample, &found[bucket, default: Figures()]) }
                continue
            }
            guard !ticks.isEmpty, let bucket = self.key(sample.start, of: sample) else { continue }
            let lasted = sample.length > 0 ? Double(ticks.count) * Double(Self.tick) : 0
            let weight: Double =
                switch style {
                case .discreteTemporallyWeighted: sample.length > 0 ? lasted : hold(sample)
                case .discreteEquivalentContinuousLevel: max(1, lasted)
                default: 1
                }
            Self.count(sample, &found[bucket, default: Figures()])
            found[bucket]?.seconds += lasted / 1e6
            found[bucket]?.weighed.append((value, weight))
        }
        return found
    }

    private static func count(_ sample: ReferenceSample, _ figures: inout Figures) {
        figures.count += 1
        if sample.start > figures.latest.start { figures.latest = (sample.start, []) }
        if sample.start == figures.latest.start { figures.latest.values.insert(Double(sample.value)) }
    }
}

extension StatisticsReference.Figures {
    private var weight: Double { weighed.reduce(0) { $0 + $1.weight } }

    func average(_ style: AggregationStyle) -> Double? {
        guard !weighed.isEmpty else { return nil }
        guard style == .discreteEquivalentContinuousLevel else { return weighed.reduce(0) { $0 + $1.value * $1.weight } / weight }
        return 10 * log10(weighed.reduce(0) { $0 + pow(10, $1.value / 10) * $1.weight } / weight)
    }

    /// The lowest value such that this percentage of the values is at or below it.
    func percentile(_ rank: Int) -> Double? {
        let values = Set(weighed.map(\.value)).sorted()
        return values.first { value in
            let below = weighed.filter { $0.value <= value }.reduce(0) { $0 + $1.weight }
            return below >= weight * Double(rank) / 100 - 1e-9
        }
    }

    /// The part of the weight in the first of these ranges that has a value.
    func fractions(_ ranges: [ValueRange]) -> [Double] {
        ranges.indices.map { index in
            weighed.filter { each in ranges.firstIndex { $0.contains(each.value) } == index }.reduce(0) { $0 + $1.weight }
                / weight
        }
    }
}
