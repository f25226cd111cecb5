import HealthModel

/// Decides which totals of an hour, a day, or longer count, if samples of other sources report parts of the same time.
///
/// A total does not show when within its time something happened, so it never fills the gaps between finer samples. It counts only if the
/// finer samples within its time, each moment of them once, add up to less than half of it. Then it counts as a whole instead of them.
/// Otherwise the finer samples explain it, and it does not count. So an hour or a day is never more than the larger of both. Samples of a
/// source that the user ordered after the total's do not count against it, and neither do samples of clients, unless it is a client's or the
/// user ordered them. It is the same for samples of one source, because two exports of
/// an app may contain the same steps by the minute and by the day.
struct Totals {
    /// The shortest total of a type whose values are events, such as meals. A meal of an hour is not the total of other meals.
    private static let minimumOfEvents: Int64 = 20 * 3_600_000_000
    /// The shortest total of a type.
    static func minimum(of type: SampleType) -> Int64 { type.isCountedOverTime ? TotalPeriod.minimum : minimumOfEvents }

    /// Whether a sample with this time is a total.
    @inline(__always)
    func isTotal(_ start: Int64, _ duration: Int64) -> Bool { duration >= minimum && TotalPeriod.contains(start, duration) }

    private struct Key: Hashable {
        var series: Int64
        var start: Int64
        var duration: Int64
    }

    /// The totals of one series with the same time, such as the meals of a day. They count together.
    private struct Group {
        var key: Key
        /// The position of its series, best first.
        var rank: Int
        /// The position of its series in the user's order.
        var order: Int
        var value: Double
        /// The sum of the finer samples in its time.
        var finer = 0.0
        var counts = false
        var end: Int64 { key.start + key.duration }

        /// The share of a time of some length that lies within the group.
        func share(of start: Int64, _ end: Int64, of duration: Int64) -> Double {
            let overlap = min(end, self.end) - max(start, key.start)
            return overlap <= 0 ? 0 : Double(overlap) / Double(duration)
        }
    }

    private let minimum: Int64
    /// The counted parts of the totals that count.
    private var parts: [Key: [(start: Int64, end: Int64)]] = [:]
    /// The time that totals cover, and the pauses.
    private(set) var covered: [(start: Int64, end: Int64)] = []

    /// - Parameters:
    ///   - own: The series of one person, best first.
    ///   - orders: The position of each series in the user's order (``SampleStore/Sources/positions(_:by:)``).
    ///   - window: The time for which the totals are needed, extended by the offsets of zones.
    /// - Returns: nil without totals.
    init?(
        _ own: [SeriesDescription], _ orders: [Int], _ window: StatisticsWindow, _ conditions: [Int64: StatisticsCondition],
        pauses: [(start: Int64, end: Int64)], _ connection: Connection
    ) throws(StoreError) {
        minimum = own.first.map { Self.minimum(of: $0.type) } ?? TotalPeriod.minimum
        var (groups, reach): ([Group], StatisticsWindow) = ([], window)
        // A total depends on those that overlap it, also beyond the window.
        while true {
            groups = []
            for (rank, series) in own.enumerated() where series.maximumTotalDuration >= minimum {
                groups += try totals(of: series, rank, orders[rank], reach, conditions[series.id], connection)
            }
            let from = groups.lazy.map(\.key.start).min().map { min($0, reach.from) } ?? reach.from
            let to = groups.lazy.map(\.end).max().map { max($0, reach.to) } ?? reach.to
            if from == reach.from, to == reach.to { break }
            reach = StatisticsWindow(from: from, to: to)
        }
        guard !groups.isEmpty else { return nil }
        groups.sort { ($0.key.start, $0.key.duration, $0.rank) < ($1.key.start, $1.key.duration, $1.rank) }
        try addFiner(of: own, orders, conditions, to: &groups, connection)
        Self.decide(&groups)
        let won = Coverage(pauses)
        for rank in own.indices {
            var (cursor, spans) = (0, [(start: Int64, end: Int64)]())
            for group in groups where group.rank == rank && group.counts {
                parts[group.key] = won.uncovered(group.key.start, group.end, from: &cursor)
                spans.append((group.key.start, group.end))
            }
            won.add(spans)
        }
        covered = won.spans
    }

    /// Returns the parts of a total that count, none if it does not count.
    func parts(of series: Int64, _ start: Int64, _ duration: Int64) -> [(start: Int64, end: Int64)] {
        parts[Key(series: series, start: start, duration: duration)] ?? []
    }

    private func totals(
        of series: SeriesDescription, _ rank: Int, _ order: Int, _ window: StatisticsWindow, _ condition: StatisticsCondition?,
        _ connection: Connection
    ) throws(StoreError) -> [Group] {
        var fields: SampleFields = [.start, .value, .duration]
        if let condition { fields.formUnion(condition.fields) }
        let rows = try connection.samples.scan(
            fields, of: series.id, from: window.from.shifted(by: -series.maximumTotalDuration),
            through: window.to.shifted(by: -1),
            .lasting(minimum))
        var groups: [Key: Group] = [:]
        while try rows.next() {
            guard isTotal(rows.start, rows.duration), rows.start + rows.duration > window.from else { continue }
            if let condition, try !condition.counts(rows) { continue }
            let key = Key(series: series.id, start: rows.start, duration: rows.duration)
            groups[key, default: Group(key: key, rank: rank, order: order, value: 0)].value += rows.value
        }
        return Array(groups.values)
    }

    /// Adds up all other samples, each moment once, within each total's time.
    private func addFiner(
        of own: [SeriesDescription], _ orders: [Int], _ conditions: [Int64: StatisticsCondition], to groups: inout [Group],
        _ connection: Connection
    ) throws(StoreError) {
        let intervals = Coverage()
        intervals.add(groups.map { ($0.key.start, $0.end) })
        let maximumDuration = groups.lazy.map(\.key.duration).max() ?? 0
        let coverage = Coverage()
        for (rank, series) in own.enumerated() {
            let condition = conditions[series.id]
            var fields: SampleFields = [.start, .value, .duration]
            if let condition { fields.formUnion(condition.fields) }
            let unlinked = try connection.duplicates.unlinked(series.id, from: own[..<rank].map(\.id))
            var (cursor, first, spans) = (0, 0, [(start: Int64, end: Int64)]())
            for interval in intervals.spans {
                let rows = try connection.samples.scan(
                    fields, of: series.id, from: interval.start - series.maximumDuration, through: interval.end - 1, unlinked)
                while try rows.next() {
                    let (start, duration) = (rows.start, rows.duration)
                    if isTotal(start, duration) || start + duration <= interval.start && start < interval.start { continue }
                    if let condition, try !condition.counts(rows) { continue }
                    let open = coverage.uncovered(start, start + max(1, duration), from: &cursor)
                    if duration > 0 { SeriesGatherer.append((start, start + duration), to: &spans) }
                    while first < groups.count, groups[first].key.start + maximumDuration <= start { first += 1 }
                    for part in open {
                        for index in first..<groups.count {
                            guard groups[index].key.start < part.end else { break }
                            guard orders[rank] <= groups[index].order else { continue }
                            groups[index].finer +=
                                rows.value * groups[index].share(of: part.start, part.end, of: max(1, duration))
                        }
                    }
                }
            }
            coverage.add(spans)
        }
    }

    /// Decides from the shortest to the longest, because the total of a day is finer than that of its week.
    private static func decide(_ groups: inout [Group]) {
        let maximumDuration = groups.lazy.map(\.key.duration).max() ?? 0
        let shortest = groups.lazy.map(\.key.duration).min() ?? 0
        let order = groups.indices.sorted {
            (groups[$0].key.duration, groups[$0].rank, $0) < (groups[$1].key.duration, groups[$1].rank, $1)
        }
        for index in order {
            let group = groups[index]
            // Sums of shares may be off by a last bit.
            guard group.finer == 0 || group.finer * 2 < group.value * (1 - 1e-9) else { continue }
            groups[index].counts = true
            guard group.key.duration * 2 <= maximumDuration || group.key.duration >= 2 * shortest else { continue }
            var isFirst = true
            var near = index
            while near > 0, groups[near - 1].key.start + maximumDuration > group.key.start { near -= 1 }
            while near < groups.count, groups[near].key.start < group.end {
                defer { near += 1 }
                let other = groups[near]
                guard near != index, other.end > group.key.start else { continue }
                if other.counts, other.key.duration * 2 <= group.key.duration { groups[near].counts = false }
                if other.counts, other.key.start == group.key.start, other.end == group.end, other.rank < group.rank {
                    isFirst = false
                }
            }
            guard isFirst else { continue }
            near = index
            while near > 0, groups[near - 1].key.start + maximumDuration > group.key.start { near -= 1 }
            while near < groups.count, groups[near].key.start < group.end {
                if groups[near].key.duration >= group.key.duration * 2, group.order <= groups[near].order {
                    let share = groups[near].share(of: group.key.start, group.end, of: group.key.duration)
                    groups[near].finer += (group.value - group.finer) * share
                }
                near += 1
            }
        }
    }
}
