import HealthModel

/// Summaries of ten minutes of dense series, so that statistics of a year do not read every second (Decisions/0040).
///
/// Only series of samples at instants have summaries. Samples with a duration are spread over intervals and cover others.
enum Summaries {
    /// The limits for making summaries.
    struct Limits {
        /// The minimum number of samples in ten minutes. Fewer are read just as fast.
        var samples = 60
        /// The number of rows that are read in one transaction, during which other writers wait.
        var rows = 50_000
        /// The minimum time range of new samples, in microseconds, so that a live series does not cause a write for each sample.
        var time = Calendar.day
    }

    private static let grid = CalendarIntervals(
        CalendarInterval(count: 10, unit: .minute) ?? .day, zone: TimeZoneRules(fixed: .utc), anchor: Instant(microseconds: 0))

    /// Returns the start of the summary that contains a time.
    static func start(of time: Int64) -> Int64 {
        let rest = time % SummaryTable.length
        return time - (rest < 0 ? rest + SummaryTable.length : rest)
    }

    /// Whether a series can have summaries.
    static func areOf(_ series: SeriesDescription) -> Bool {
        series.maximumDuration == 0 && series.type.kind == .quantity && series.type.aggregation != .cumulative
            && series.type.aggregation != .none
    }

    /// Computes the summaries of a series in a window from its samples.
    static func made(
        of series: SeriesDescription, _ window: StatisticsWindow, _ connection: Connection
    ) throws(StoreError) -> [SummaryTable.Row] {
        let plan = StatisticsPlan(StatisticsQuery(type: series.type, intervals: grid, priority: []))
        var gatherer = SeriesGatherer(connection, plan, window, reach: 0, zones: nil)
        var cells: [StatisticsKey: Accumulator] = [:]
        _ = try gatherer.gather(series, .init(), where: nil, usesSummaries: false, into: &cells)
        return cells.map { $0.value.summary(at: grid.start(of: $0.key.cell.index).microseconds) }.sorted { $0.start < $1.start }
    }

    /// Whether two summaries are equal except for rounding of sums.
    fileprivate static func areEqual(_ one: SummaryTable.Row, _ other: SummaryTable.Row) -> Bool {
        func isNear(_ one: Double, _ other: Double) -> Bool { abs(one - other) <= 1e-9 * max(abs(one), abs(other)) }
        return (one.start, one.count, one.low, one.high) == (other.start, other.count, other.low, other.high)
            && isNear(one.sum, other.sum) && isNear(one.weight, other.weight)
            && (one.latest, one.last) == (other.latest, other.last)
    }
}

extension SampleStore {
    /// Makes more summaries of dense series. A server calls this from time to time.
    ///
    /// - Returns: Whether there may be more to do.
    public func summarize() throws -> Bool {
        try connection.transaction {
            for series in try allSeries() where Summaries.areOf(series) { if try summarize(series) { return true } }
            return false
        }
    }

    private func summarize(_ series: SeriesDescription) throws(StoreError) -> Bool {
        let (samples, table) = (connection.samples, connection.summaries)
        guard let (first, last) = try samples.extent(of: series.id), first > .min / 2, last < .max / 2 else { return false }
        let known = try table.end(of: series.id)
        let from = Summaries.start(of: max(known ?? first, first))
        // Later samples may still change the weight of the last ones.
        let limit = Summaries.start(of: last - SummaryTable.reach)
        guard limit > from, limit - from >= summaries.time else { return false }
        let next = try samples.start(of: series.id, from: from, skipping: summaries.rows)
        let end = next.map { min(limit, max(Summaries.start(of: $0), from + SummaryTable.length)) } ?? limit
        for row in try Summaries.made(of: series, StatisticsWindow(from: from, to: end), connection)
        where row.count >= summaries.samples {
            try table.add(row, of: series.id)
        }
        try table.set(end: end, of: series.id)
        return true
    }

    /// Returns the series whose summaries do not match their samples.
    func wrongSummaries() throws(StoreError) -> [Int64] {
        var wrong: [Int64] = []
        for series in try allSeries() where Summaries.areOf(series) {
            let rows = try connection.summaries.rows(of: series.id, from: .min, to: .max)
            defer { rows.end() }
            while let row = try rows.next() {
                let window = StatisticsWindow(from: row.start, to: row.start + SummaryTable.length)
                let made = try Summaries.made(of: series, window, connection)
                if made.count == 1, Summaries.areEqual(made[0], row) { continue }
                wrong.append(series.id)
                break
            }
        }
        return wrong
    }
}
