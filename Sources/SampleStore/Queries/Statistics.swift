import Glibc
import HealthModel

/// What to gather statistics of.
public struct StatisticsQuery: Sendable {
    /// What is summed up.
    public var type: SampleType
    /// The stretches.
    public var intervals: CalendarIntervals
    /// The first start that counts.
    public var from: Instant?
    /// The first start that no longer counts.
    public var to: Instant?
    /// Whose samples; everyone's where it is missing.
    public var subject: String?
    /// Whether sources are kept apart; then each is told in full, also where several tell of the same.
    public var bySource: Bool
    /// Sources and devices by id or name, the best first: where several tell of the same time, or agree, one counts.
    public var priority: [String]
    /// Whether every source counts, also where several tell of the same.
    public var countsEvery = false
    /// Stretches in which nothing counts, in order and apart from one another: the pauses of a workout.
    var without: [(start: Int64, end: Int64)] = []

    /// Asks for a type's statistics.
    public init(
        type: SampleType, intervals: CalendarIntervals, from: Instant? = nil, to: Instant? = nil, subject: String? = nil,
        bySource: Bool = false, priority: [String] = []
    ) {
        self.priority = priority
        self.type = type
        self.intervals = intervals
        self.from = from
        self.to = to
        self.subject = subject
        self.bySource = bySource
    }
}

extension SampleStore {
    /// Statistics of each interval that has samples, in order.
    public func statistics(_ query: StatisticsQuery) throws(StoreError) -> [Statistics] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        return try statistics(query, of: try series(matching: SampleQuery(types: [query.type], subject: query.subject)))
    }

    /// - Throws: ``StoreError`` of the kind `invalid` for a type whose samples are no amounts.
    func statistics(_ query: StatisticsQuery, of all: [SeriesDescription]) throws(StoreError) -> [Statistics] {
        guard query.type.kind == .quantity else {
            throw StoreError(.invalid, "\(query.type.id) is a \(query.type.kind.name): its samples are no amounts")
        }
        var gathered: [Key: Accumulator] = [:]
        for subject in Set(all.map(\.subject)) {
            var own = all.filter { $0.subject == subject }
            let isShared = own.count > 1 && !query.bySource && !query.countsEvery
            if isShared {
                own = try SourcePriority(query.priority).sorted(own) { series throws(StoreError) in try names(of: series) }
            }
            let shared = isShared ? Coverage(query.without) : nil
            for (index, series) in own.enumerated() {
                let coverage = shared ?? (query.without.isEmpty ? nil : Coverage(query.without))
                let better = isShared ? own[..<index].map(\.id) : []
                try gather(series, query, better, coverage, &gathered)
            }
        }
        return gathered.sorted {
            ($0.key.index, $0.key.subject, $0.key.source ?? "") < ($1.key.index, $1.key.subject, $1.key.source ?? "")
        }
        .map { key, accumulator in
            accumulator.statistics(
                style: query.type.aggregation, start: query.intervals.start(of: key.index),
                end: query.intervals.start(of: key.index + 1), subject: key.subject, source: key.source)
        }
    }

    private struct Key: Hashable {
        var index: Int
        var subject: String
        var source: String?
    }

    private func gather(
        _ series: SeriesDescription, _ query: StatisticsQuery, _ better: [Int64], _ coverage: Coverage?,
        _ gathered: inout [Key: Accumulator]
    ) throws(StoreError) {
        let style = query.type.aggregation
        let cumulative = style == .cumulative
        let from = query.from?.microseconds ?? .min
        let to = query.to?.microseconds ?? .max
        let statement = try connection.statement(
            """
            SELECT start, value, duration FROM sample WHERE series = ? AND start >= ? AND start < ?
            \(try unlinked(series.id, better)) ORDER BY start
            """)
        defer { statement.reset() }
        // A cumulative sample that began before still counts with what lies within.
        let first = cumulative && from > .min + series.longest ? from - series.longest : from
        try statement.bind([.integer(series.id), .integer(first), .integer(to)])
        var key = Key(index: 0, subject: series.subject, source: query.bySource ? series.source : nil)
        var low = Int64.max
        var high = Int64.min
        var current = Accumulator()
        var spans: [(start: Int64, end: Int64)] = []
        var cursor = 0
        let pauses = query.without.isEmpty ? nil : Coverage(query.without)
        var pause = 0
        func leave() {
            if current.count > 0 { gathered[key, default: Accumulator()].merge(current) }
            current = Accumulator()
        }
        while try statement.step() {
            let start = statement.integer(0)
            let value = statement.real(1)
            if start < low || start >= high {
                leave()
                key.index = query.intervals.index(of: Instant(microseconds: start))
                low = query.intervals.start(of: key.index).microseconds
                high = query.intervals.start(of: key.index + 1).microseconds
            }
            let duration = cumulative || style == .discreteEquivalentContinuousLevel ? statement.integer(2) : 0
            // What is measured at an instant lies in a pause or not.
            if !cumulative || duration == 0, let pauses, pauses.uncovered(start, start &+ 1, from: &pause).isEmpty { continue }
            if cumulative, duration > 0, let coverage {
                spans.append((start, start + duration))
                let open = coverage.uncovered(start, start + duration, from: &cursor)
                guard open.count == 1, open[0].start == start, open[0].end == start + duration else {
                    var counted: Int?
                    for part in open {
                        try share(
                            value * Double(part.end - part.start) / Double(duration), part.start, part.end - part.start, from, to,
                            query, key, &gathered, &counted)
                    }
                    continue
                }
            }
            if cumulative, duration > 0, start + duration > high || start < from || start + duration > to {
                var counted: Int?
                try share(value, start, duration, from, to, query, key, &gathered, &counted)
            } else if start >= from {
                current.add(value, at: start, duration: duration, style: style)
            }
        }
        leave()
        coverage?.add(spans)
    }

    /// Leaves out samples that agree with a better source's.
    private func unlinked(_ series: Int64, _ better: [Int64]) throws(StoreError) -> String {
        guard !better.isEmpty,
            try connection.integer(
                "SELECT 1 WHERE EXISTS(SELECT 1 FROM link WHERE series = ?1) OR EXISTS(SELECT 1 FROM link WHERE of_series = ?1)",
                .integer(series)) != nil
        else { return "" }
        let list = better.map(String.init).joined(separator: ", ")
        return """
            AND NOT EXISTS(SELECT 1 FROM link JOIN sample AS other
                ON other.series = of_series AND other.start = of_start AND other.hash = of_hash
                WHERE link.series = sample.series AND link.start = sample.start AND link.hash = sample.hash AND of_series IN (\(list)))
            AND NOT EXISTS(SELECT 1 FROM link JOIN sample AS other
                ON other.series = link.series AND other.start = link.start AND other.hash = link.hash
                WHERE of_series = sample.series AND of_start = sample.start AND of_hash = sample.hash AND link.series IN (\(list)))
            """
    }

    /// Gives each interval its share of a sample that spans several, and nothing to what was not asked for.
    private func share(
        _ value: Double, _ start: Int64, _ duration: Int64, _ from: Int64, _ to: Int64, _ query: StatisticsQuery,
        _ key: Key, _ gathered: inout [Key: Accumulator], _ counted: inout Int?
    ) throws(StoreError) {
        let end = start + duration
        var index = query.intervals.index(of: Instant(microseconds: max(start, from)))
        while query.intervals.start(of: index).microseconds < min(end, to) {
            let low = max(query.intervals.start(of: index).microseconds, start, from)
            let high = min(query.intervals.start(of: index + 1).microseconds, end, to)
            // A day that a zone skipped is empty.
            if low < high {
                gathered[Key(index: index, subject: key.subject, source: key.source), default: Accumulator()]
                    .add(
                        value * Double(high - low) / Double(duration), at: low, duration: 0, style: .cumulative,
                        counts: counted != index)
                counted = index
            }
            index += 1
        }
    }
}

/// Sums up one interval. Two accumulators of one interval can be merged.
private struct Accumulator {
    var count = 0
    private var sum = 0.0
    /// What `sum` is divided by for the average.
    private var weight = 0.0
    private var minimum = Double.infinity
    private var maximum = -Double.infinity
    private var latest = Int64.min
    private var mostRecent = 0.0

    @inline(__always)
    mutating func add(_ value: Double, at start: Int64, duration: Int64, style: AggregationStyle, counts: Bool = true) {
        if counts { count += 1 }
        if style == .discreteEquivalentContinuousLevel {
            // A level is logarithmic: its average is that of the energy, by time where the samples last.
            let time = duration > 0 ? Double(duration) : 1
            sum += pow(10, value / 10) * time
            weight += time
        } else {
            sum += value
            weight += 1
        }
        minimum = min(minimum, value)
        maximum = max(maximum, value)
        if start >= latest {
            latest = start
            mostRecent = value
        }
    }

    mutating func merge(_ other: Accumulator) {
        count += other.count
        sum += other.sum
        weight += other.weight
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        if other.latest >= latest {
            latest = other.latest
            mostRecent = other.mostRecent
        }
    }

    func statistics(style: AggregationStyle, start: Instant, end: Instant, subject: String, source: String?) -> Statistics {
        var statistics = Statistics(start: start, end: end, subject: subject, source: source)
        statistics.count = count
        statistics.sum = sum
        guard style != .cumulative else { return statistics }
        statistics.average = style == .discreteEquivalentContinuousLevel ? 10 * log10(sum / weight) : sum / weight
        statistics.minimum = minimum
        statistics.maximum = maximum
        statistics.mostRecent = mostRecent
        return statistics
    }
}
