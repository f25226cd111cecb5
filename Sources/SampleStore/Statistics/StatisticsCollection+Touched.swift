import HealthModel

extension StatisticsCollection {
    /// Returns the intervals of the grid that changes after a number may affect, sorted and disjoint.
    func touched(since seq: Int64, _ all: [SeriesDescription]) throws(StoreError) -> [StatisticsWindow] {
        let intervals = try intervals(since: seq, all)
        var maximumDuration: Int64 = 0
        for series in all { maximumDuration = max(maximumDuration, try length(of: series)) }
        // A better source's sample can cover others that began before, and the weight of a value depends on its neighbors.
        let isDiscrete = query.type.kind == .quantity && query.type.aggregation != .cumulative
        // A sample may decide whether the total of its day counts.
        let total =
            query.type.aggregation == .cumulative && maximumDuration >= Totals.minimum(of: query.type) ? maximumDuration : 0
        let before = isDiscrete ? max(maximumDuration, AggregationStyle.maximumValueDuration) : total
        let after = isDiscrete ? AggregationStyle.maximumValueDuration : total
        let margin = query.usesSampleZones ? StatisticsWindow.zones : 0
        var windows: [StatisticsWindow] = []
        for interval in intervals {
            let low = grid.cell(at: interval.from - before - margin).low
            let high = grid.cell(at: interval.to + after + margin).high
            windows.append(StatisticsWindow(from: low, to: high))
        }
        windows.sort { $0.from < $1.from }
        var apart: [StatisticsWindow] = []
        for window in windows {
            if let last = apart.last, window.from <= last.to {
                apart[apart.count - 1].to = max(last.to, window.to)
            } else {
                apart.append(window)
            }
        }
        return apart
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
