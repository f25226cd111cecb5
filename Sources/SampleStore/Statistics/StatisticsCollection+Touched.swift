import HealthModel

extension StatisticsCollection {
    /// Which stretches of the grid what was written since a change may have touched, each from one border to another, in order and apart.
    func touched(since seq: Int64, _ all: [SeriesDescription]) throws(StoreError) -> [StatisticsWindow] {
        let stretches = try stretches(since: seq, all)
        var longest: Int64 = 0
        for series in all { longest = max(longest, try length(of: series)) }
        // A better source's sample takes its time from others that began before; and how long a value holds goes by its neighbours.
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

    /// From the first start to the last end of what each entry of the change log tells of, and of what agrees with it.
    private func stretches(since seq: Int64, _ all: [SeriesDescription]) throws(StoreError) -> [StatisticsWindow] {
        let ids = Set(all.map(\.id))
        var entries: [(series: Int64, low: Int64, high: Int64)] = []
        let changes = try connection.statement("SELECT series, low, high FROM change WHERE last_seq > ?")
        defer { changes.reset() }
        try changes.bind([.integer(seq)])
        while try changes.step() {
            let series = changes.integer(0)
            if ids.contains(series) { entries.append((series, changes.integer(1), changes.integer(2))) }
        }
        var stretches: [StatisticsWindow] = []
        for entry in entries {
            var stretch = StatisticsWindow(from: entry.low, to: entry.high)
            let bindings: [Value] = [.integer(entry.series), .integer(entry.low), .integer(entry.high)]
            for table in ["sample", "deleted"] {
                let ends = try row(
                    """
                    SELECT max(start + coalesce(duration, 0)), max(coalesce(duration, 0)) FROM \(table)
                    WHERE series = ? AND start BETWEEN ? AND ?
                    """, bindings)
                guard ends.count == 2 else { continue }
                stretch.to = max(stretch.to, ends[0])
                // What was deleted and came back may last longer than all others.
                if let known = lengths[entry.series] { lengths[entry.series] = max(known, ends[1]) }
            }
            // Samples of two devices that agree count once: where one goes, the other counts.
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

    /// The two numbers of the one row; none where they are NULL.
    private func row(_ sql: String, _ bindings: [Value]) throws(StoreError) -> [Int64] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        guard try statement.step(), !statement.isNull(0) else { return [] }
        return [statement.integer(0), statement.integer(1)]
    }
}
