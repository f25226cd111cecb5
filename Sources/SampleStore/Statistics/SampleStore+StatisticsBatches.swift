import HealthModel

extension SampleStore {
    /// Calls `body` with the statistics of each interval that has samples, and of gaps if the query includes them. They are passed in
    /// order, some thousand at a time, so memory use stays small.
    ///
    /// - Parameters:
    ///   - count: The number of adjacent intervals that are computed at once.
    ///   - body: Returns whether to go on.
    public func statistics(
        _ query: StatisticsQuery, batch count: Int = 16_384, _ body: ([Statistics]) throws -> Bool
    ) throws {
        try query.check()
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var all = try samples.series(matching: query.samples)
        for index in all.indices { all[index].maximumDuration = try maximumDuration(of: all[index]) }
        let gathering = try StatisticsGathering(
            store: self, query: query, plan: StatisticsPlan(query), series: try ranked(all, query))
        let intervals = gathering.plan.grid.intervals
        // The window is limited to a thousand years, because many thousands overflow 64 bits of microseconds.
        var count = Int(min(Int64(count), max(1, 1000 * 365 * Calendar.day / query.intervals.interval.shortest)))
        // Each interval may hold as many values as a distribution can.
        if gathering.plan.hasPercentiles { count = min(count, 16) }
        // All samples of a window are held in memory together.
        if query.type.kind == .category { count = min(count, 400) }
        let whole = StatisticsWindow(query)
        let margin = query.usesSampleZones ? StatisticsWindow.zones : 0
        var gaps = query.includesGaps ? StatisticsGaps(gathering, whole) : nil
        var position = whole.from
        while let found = try nextStart(from: Instant(microseconds: max(position, .min + margin) - margin), of: all) {
            let next = max(position, max(found.microseconds, .min + margin) - margin)
            guard next < whole.to else { break }
            let index = intervals.index(of: Instant(microseconds: next))
            let low = intervals.start(of: index).microseconds
            let high = intervals.start(of: index + count).microseconds
            let rows = try gathering.rows(within: whole.clipped(max(low, position), high))
            guard try gaps?.fill(rows, body) ?? (rows.isEmpty || body(rows)) else { return }
            position = high
        }
        _ = try gaps?.end(whole, body)
    }

    /// Returns an estimate of the number of intervals that long samples are spread over. These can make more results than there are
    /// samples.
    public func shares(of query: StatisticsQuery) throws(StoreError) -> Int {
        guard query.type.aggregation == .cumulative || query.type.kind == .category else { return 0 }
        let length = query.intervals.interval.shortest
        var shares: Int64 = 0
        for series in try samples.series(matching: query.samples) where series.maximumDuration > length {
            shares += try table.shares(
                of: series.id, length: length, from: query.from?.microseconds ?? .min, to: query.to?.microseconds ?? .max)
        }
        return Int(shares)
    }

    /// Returns the starts of the first and last sample of a query's series, or `nil` if there is none.
    public func extent(of query: StatisticsQuery) throws(StoreError) -> (first: Instant, last: Instant)? {
        var (first, last): (Int64?, Int64?) = (nil, nil)
        for series in try samples.series(matching: query.samples) {
            guard let extent = try table.extent(of: series.id) else { continue }
            first = min(first ?? extent.first, extent.first)
            last = max(last ?? extent.last, extent.last)
        }
        guard let first, let last else { return nil }
        return (Instant(microseconds: first), Instant(microseconds: last))
    }

    /// Returns the longest duration of the existing samples. The series' description also includes deleted ones.
    func maximumDuration(of series: SeriesDescription) throws(StoreError) -> Int64 {
        // A scan would save little.
        guard series.maximumDuration > Calendar.day else { return series.maximumDuration }
        return try table.maximumDuration(of: series.id)
    }

    /// Returns the first instant from `position` on at which a sample may count.
    func nextStart(from position: Instant, of all: [SeriesDescription]) throws(StoreError) -> Instant? {
        var first: Int64?
        for series in all {
            let reach =
                position.microseconds < .min + series.maximumDuration ? .min : position.microseconds - series.maximumDuration
            if let start = try table.start(of: series.id, from: reach) { first = min(first ?? start, start) }
        }
        return first.map { max(Instant(microseconds: $0), position) }
    }
}

extension CalendarInterval {
    /// The shortest possible length of the interval, in microseconds, ignoring clock changes.
    fileprivate var shortest: Int64 {
        let one: Int64 =
            switch unit {
            case .minute: 60_000_000
            case .hour: 3_600_000_000
            case .day: Calendar.day
            case .week: 7 * Calendar.day
            case .month: 28 * Calendar.day
            case .year: 365 * Calendar.day
            }
        return Int64(count) * one
    }
}
