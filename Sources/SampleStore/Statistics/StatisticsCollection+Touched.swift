import HealthModel

extension StatisticsCollection {
    /// Returns the intervals of the grid that changes after a number may affect, sorted and disjoint.
    func touched(since seq: Int64, _ all: [SeriesDescription]) throws(StoreError) -> [StatisticsWindow] {
        let stretches = try stretches(since: seq, all)
        var longest: Int64 = 0
        for series in all { longest = max(longest, try length(of: series)) }
        // A better source's sample can cover others that began before, and the weight of a value depends on its neighbors.
        let isDiscrete = query.type.kind == .quantity && query.type.aggregation != .cumulative
        let before = isDiscrete ? max(longest, AggregationStyle.longestHold) : 0
        let after = isDiscrete ? AggregationStyle.longestHold : 0
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
        var stretches: [StatisticsWindow] = []
        for entry in try connection.changeTable.entries(after: seq) where ids.contains(entry.series) {
            var stretch = StatisticsWindow(from: entry.starts.lowerBound, to: entry.starts.upperBound)
            let bindings: [Value] = [.integer(entry.series), .integer(stretch.from), .integer(stretch.to)]
            for table in ["sample", "deleted"] {
                let ends = try row(
                    """
                    SELECT max(start + coalesce(duration, 0)), max(coalesce(duration, 0)) FROM \(table)
                    WHERE series = ? AND start BETWEEN ? AND ?
                    """, bindings)
                guard ends.count == 2 else { continue }
                stretch.to = max(stretch.to, ends[0])
                // A restored sample may be longer than all others.
                if let known = lengths[entry.series] { lengths[entry.series] = max(known, ends[1]) }
            }
            // Linked samples of two devices count once, so the removal of one affects the other.
            for (own, other) in [("", "of_"), ("of_", "")] {
                let agreeing = try row(
                    """
                    SELECT min(\(other)start), max(\(other)start) FROM link
                    WHERE \(own)series = ? AND \(own)start BETWEEN ? AND ?
                    """, bindings)
                if agreeing.count == 2 {
                    stretch.from = min(stretch.from, agreeing[0])
                    stretch.to = max(stretch.to, agreeing[1] + (all.lazy.map(\.longest).max() ?? 0))
                }
            }
            stretches.append(stretch)
        }
        return stretches
    }

    /// Returns the two numbers of the row, or nothing if they are NULL.
    private func row(_ sql: String, _ bindings: [Value]) throws(StoreError) -> [Int64] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        guard try statement.step(), !statement.isNull(0) else { return [] }
        return [statement.integer(0), statement.integer(1)]
    }
}
