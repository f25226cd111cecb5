import HealthModel

extension StatisticsCollection {
    /// Returns the intervals of the grid that changes after a number may affect, sorted and disjoint.
    func touched(since seq: Int64, _ all: [SeriesDescription]) throws(StoreError) -> [StatisticsWindow] {
        let stretches = try stretches(since: seq, all)
        var longest: Int64 = 0
        for series in all { longest = max(longest, try length(of: series)) }
        // A better source's sample can cover others that began before, and the weight of a value depends on its neighbors.
        let isDiscrete = query.type.kind == .quantity && query.type.aggregation != .cumulative
        // A sample may decide whether the total of its day counts.
        let total = query.type.aggregation == .cumulative && longest >= Totals.minimum(of: query.type) ? longest : 0
        let before = isDiscrete ? max(longest, AggregationStyle.longestHold) : total
        let after = isDiscrete ? AggregationStyle.longestHold : total
        let margin = query.usesSampleZones ? StatisticsWindow.zones : 0
        var windows: [StatisticsWindow] = []
        for stretch in stretches {
            let low = grid.cell(at: stretch.from - before - margin).low
            let high = grid.cell(at: stretch.to + after + margin).high
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
    private func stretches(since seq: Int64, _ all: [SeriesDescription]) throws(StoreError) -> [StatisticsWindow] {
        let ids = Set(all.map(\.id))
        let (samples, duplicates) = (connection.samples, connection.duplicates)
        var stretches: [StatisticsWindow] = []
        for entry in try connection.changeTable.entries(after: seq) where ids.contains(entry.series) {
            var stretch = StatisticsWindow(from: entry.starts.lowerBound, to: entry.starts.upperBound)
            let (low, high) = (stretch.from, stretch.to)
            for rows in [SampleTable.Rows.live, .tombstones] {
                guard let ends = try samples.end(of: entry.series, from: low, through: high, among: rows) else { continue }
                stretch.to = max(stretch.to, ends.last)
                // A restored sample may be longer than all others.
                if let known = lengths[entry.series] { lengths[entry.series] = max(known, ends.longest) }
            }
            // Linked samples of two devices count once, so the removal of one affects the other.
            for linked in try duplicates.linked(with: entry.series, from: low, through: high) {
                stretch.from = min(stretch.from, linked.first)
                stretch.to = max(stretch.to, linked.last + (all.lazy.map(\.longest).max() ?? 0))
            }
            stretches.append(stretch)
        }
        return stretches
    }
}
