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

    /// The length of a summary in microseconds.
    static let length: Int64 = 600_000_000
    /// The maximum distance at which a sample affects the weight of another.
    static let reach = AggregationStyle.longestHold

    private static let grid = CalendarIntervals(
        CalendarInterval(count: 10, unit: .minute) ?? .day, zone: TimeZoneRules(fixed: .utc), anchor: Instant(microseconds: 0))

    /// Returns the start of the summary that contains a time.
    static func start(of time: Int64) -> Int64 {
        let rest = time % length
        return time - (rest < 0 ? rest + length : rest)
    }

    /// Whether a series can have summaries.
    static func areOf(_ series: SeriesDescription) -> Bool {
        series.longest == 0 && series.type.kind == .quantity && series.type.aggregation != .cumulative
            && series.type.aggregation != .none
    }

    /// Computes the summaries of a series in a window from its samples.
    static func made(
        of series: SeriesDescription, _ window: StatisticsWindow, _ connection: Connection
    ) throws(StoreError) -> [(start: Int64, sum: Accumulator)] {
        let plan = StatisticsPlan(StatisticsQuery(type: series.type, intervals: grid, priority: []))
        var gatherer = SeriesGatherer(connection, plan, window, reach: 0, zones: nil)
        var cells: [StatisticsKey: Accumulator] = [:]
        _ = try gatherer.gather(series, .init(), where: nil, usesSummaries: false, into: &cells)
        return cells.map { (grid.start(of: $0.key.cell.index).microseconds, $0.value) }.sorted { $0.start < $1.start }
    }

    /// Removes the summaries that a change in a time range invalidates.
    static func forget(series: Int64, from low: Int64, to high: Int64, _ connection: Connection) throws(StoreError) {
        guard let until = try connection.integer("SELECT until FROM summarized WHERE series = ?", .integer(series)) else {
            return
        }
        let first = StatisticsWindow.sum(low, -(reach + length))
        try connection.run(
            "DELETE FROM summary WHERE series = ? AND start > ? AND start < ?", .integer(series), .integer(first),
            .integer(StatisticsWindow.sum(high, reach + 1)))
        // Later summaries stay and are recomputed with the rest.
        guard until > first else { return }
        try connection.run("UPDATE summarized SET until = ?2 WHERE series = ?1", .integer(series), .integer(first))
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
        func start(_ end: String) throws(StoreError) -> Int64? {
            try connection.integer("SELECT start FROM sample WHERE series = ? ORDER BY start \(end) LIMIT 1", .integer(series.id))
        }
        guard let first = try start("ASC"), let last = try start("DESC"), first > .min / 2, last < .max / 2 else { return false }
        let known = try connection.integer("SELECT until FROM summarized WHERE series = ?", .integer(series.id))
        let from = Summaries.start(of: max(known ?? first, first))
        // Later samples may still change the weight of the last ones.
        let limit = Summaries.start(of: last - Summaries.reach)
        guard limit > from, limit - from >= summaries.time else { return false }
        let behind = try connection.integer(
            "SELECT start FROM sample WHERE series = ? AND start >= ? ORDER BY start LIMIT 1 OFFSET \(summaries.rows)",
            .integer(series.id), .integer(from))
        let end = behind.map { min(limit, max(Summaries.start(of: $0), from + Summaries.length)) } ?? limit
        for (start, sum) in try Summaries.made(of: series, StatisticsWindow(from: from, to: end), connection)
        where sum.count >= summaries.samples {
            let numbers = sum.summary
            try connection.run(
                "INSERT OR REPLACE INTO summary VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", .integer(series.id), .integer(start),
                .integer(Int64(sum.count)), .real(numbers.low), .real(numbers.high), .real(numbers.sum), .real(numbers.weight),
                .integer(numbers.latest), .real(numbers.last))
        }
        try connection.run(
            "INSERT INTO summarized VALUES(?1, ?2) ON CONFLICT(series) DO UPDATE SET until = ?2", .integer(series.id),
            .integer(end))
        return true
    }

    /// Returns the series whose summaries do not match their samples.
    func wrongSummaries() throws(StoreError) -> [Int64] {
        var wrong: [Int64] = []
        for series in try allSeries() where Summaries.areOf(series) {
            let statement = try connection.statement(
                "SELECT start, count, low, high, sum, weight, latest, last FROM summary WHERE series = ?")
            defer { statement.reset() }
            try statement.bind([.integer(series.id)])
            while try statement.step() {
                let start = statement.integer(0)
                let window = StatisticsWindow(from: start, to: start + Summaries.length)
                let made = try Summaries.made(of: series, window, connection)
                let told = Accumulator(summary: statement, from: 1)
                if made.count == 1, made[0].start == start, made[0].sum.isSummary(told) { continue }
                wrong.append(series.id)
                break
            }
        }
        return wrong
    }
}

/// The summaries of a series within a window, in order.
struct SummaryRows {
    private let statement: Statement

    init(of series: Int64, _ window: StatisticsWindow, _ connection: Connection) throws(StoreError) {
        statement = try connection.statement(
            """
            SELECT start, count, low, high, sum, weight, latest, last FROM summary
            WHERE series = ?1 AND start >= \(connection.firstStart()) AND start <= ?3 ORDER BY start
            """)
        try statement.bind([
            .integer(series), .integer(window.from), .integer(StatisticsWindow.sum(window.to, -Summaries.length)),
        ])
    }

    func next() throws(StoreError) -> (start: Int64, sum: Accumulator)? {
        guard try statement.step() else { return nil }
        return (statement.integer(0), Accumulator(summary: statement, from: 1))
    }

    func end() { statement.reset() }
}
