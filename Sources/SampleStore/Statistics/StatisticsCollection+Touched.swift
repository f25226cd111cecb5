import HealthModel

extension StatisticsCollection {
    /// Returns the intervals of the grid that changes after a number may affect, sorted and disjoint.
    func touched(since seq: Int64, _ all: [SeriesDescription]) throws(StoreError) -> [StatisticsWindow] {
        let intervals = try intervals(since: seq, all)
        var maximumDuration: Int64 = 0
        for series in all { maximumDuration = max(maximumDuration, try length(of: series)) }
        return StatisticsReach(query, maximumDuration: maximumDuration).windows(of: intervals, grid)
    }

    /// Returns the time range of each entry of the change log after a number, from the first start to the last end, including linked
    /// samples.
    private func intervals(since seq: Int64, _ all: [SeriesDescription]) throws(StoreError) -> [StatisticsWindow] {
        let ids = Set(all.map(\.id))
        let (samples, duplicates) = (connection.samples, connection.duplicates)
        var intervals: [StatisticsWindow] = []
        for entry in try connection.changeTable.entries(after: seq) where ids.contains(entry.series) {
            var interval = StatisticsWindow(from: entry.starts.lowerBound, to: entry.starts.upperBound)
            let (low, high) = (interval.from, interval.to)
            for rows in [SampleTable.Rows.live, .tombstones] {
                guard let ends = try samples.end(of: entry.series, from: low, through: high, among: rows) else { continue }
                interval.to = max(interval.to, ends.last)
                // A restored sample may be longer than all others.
                if let known = lengths[entry.series] { lengths[entry.series] = max(known, ends.maximumDuration) }
            }
            // Linked samples of two devices count once, so the removal of one affects the other.
            for linked in try duplicates.linked(with: entry.series, from: low, through: high) {
                interval.from = min(interval.from, linked.first)
                interval.to = max(interval.to, linked.last + (all.lazy.map(\.maximumDuration).max() ?? 0))
            }
            intervals.append(interval)
        }
        return intervals
    }
}

/// How far the change of a sample reaches in time.
struct StatisticsReach {
    private let before: Int64
    private let after: Int64

    /// - Parameter maximumDuration: The longest duration of the query's samples.
    init(_ query: StatisticsQuery, maximumDuration: Int64) {
        // A better source's sample can cover others that began before, and the weight of a value depends on its neighbors.
        let isDiscrete = query.type.kind == .quantity && query.type.aggregation != .cumulative
        // A sample may decide whether the total of its day counts.
        let total =
            query.type.aggregation == .cumulative && maximumDuration >= Totals.minimum(of: query.type) ? maximumDuration : 0
        let margin = query.usesSampleZones ? StatisticsWindow.zones : 0
        before = (isDiscrete ? max(maximumDuration, AggregationStyle.maximumValueDuration) : total) + margin
        after = (isDiscrete ? AggregationStyle.maximumValueDuration : total) + margin
    }

    /// Returns the intervals of the grid that changes within some intervals may affect, sorted and disjoint.
    func windows(of intervals: [StatisticsWindow], _ grid: StatisticsGrid) -> [StatisticsWindow] {
        var windows: [StatisticsWindow] = []
        for interval in intervals {
            let low = grid.cell(at: interval.from - before).low
            let high = grid.cell(at: interval.to + after).high
            windows.append(StatisticsWindow(from: low, to: high))
        }
        return Self.joined(windows, gap: 0)
    }

    /// Joins windows that touch, or lie no farther apart than the gap.
    static func joined(_ windows: [StatisticsWindow], gap: Int64) -> [StatisticsWindow] {
        var apart: [StatisticsWindow] = []
        for window in windows.sorted(by: { $0.from < $1.from }) {
            if let last = apart.last, window.from <= last.to + gap {
                apart[apart.count - 1].to = max(last.to, window.to)
            } else {
                apart.append(window)
            }
        }
        return apart
    }
}
