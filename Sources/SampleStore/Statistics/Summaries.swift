import HealthModel

/// What stretches of ten minutes of dense series come to, so that statistics of a year need not read each of its seconds (Decisions/0040).
///
/// Only of samples at instants: those that last are shared over intervals, and lie in the way of others.
enum Summaries {
    /// What is summed up.
    struct Limits {
        /// Samples in ten minutes; fewer are read as quickly.
        var samples = 60
        /// Rows that are read at once; a writer waits as long.
        var rows = 50_000
        /// Time that has to have passed: a live series is not written to with each sample.
        var time = Calendar.day
    }

    /// Of one stretch, microseconds.
    static let length: Int64 = 600_000_000
    /// How far from a sample others' weights may hang on it.
    static let reach = AggregationStyle.longestHold

    private static let grid = CalendarIntervals(
        CalendarInterval(count: 10, unit: .minute) ?? .day, zone: TimeZoneRules(fixed: .utc), anchor: Instant(microseconds: 0))

    /// When the stretch begins that a time lies in.
    static func start(of time: Int64) -> Int64 {
        let rest = time % length
        return time - (rest < 0 ? rest + length : rest)
    }

    /// Whether a series may have any.
    static func areOf(_ series: SeriesDescription) -> Bool {
        series.longest == 0 && series.type.kind == .quantity && series.type.aggregation != .cumulative
            && series.type.aggregation != .none
    }

    /// What the samples of a series come to between two borders, read one by one.
    static func made(
        of series: SeriesDescription, _ window: StatisticsWindow, _ connection: Connection
    ) throws(StoreError) -> [(start: Int64, sum: Accumulator)] {
        let plan = StatisticsPlan(StatisticsQuery(type: series.type, intervals: grid, priority: []))
        var gatherer = SeriesGatherer(connection, plan, window, reach: 0, zones: nil)
        var cells: [StatisticsKey: Accumulator] = [:]
        _ = try gatherer.gather(series, .init(), where: nil, usesSummaries: false, into: &cells)
        return cells.map { (grid.start(of: $0.key.cell.index).microseconds, $0.value) }.sorted { $0.start < $1.start }
    }

    /// Forgets what a change of a stretch of a series makes untrue.
    static func forget(series: Int64, from low: Int64, to high: Int64, _ connection: Connection) throws(StoreError) {
        guard let until = try connection.integer("SELECT until FROM summarized WHERE series = ?", .integer(series)) else {
            return
        }
        let first = StatisticsWindow.sum(low, -(reach + length))
        try connection.run(
            "DELETE FROM summary WHERE series = ? AND start > ? AND start < ?", .integer(series), .integer(first),
            .integer(StatisticsWindow.sum(high, reach + 1)))
        // Those behind it stay, and are made again with the rest.
        guard until > first else { return }
        try connection.run("UPDATE summarized SET until = ?2 WHERE series = ?1", .integer(series), .integer(first))
    }
}

extension SampleStore {
    /// Sums up some more of the dense series, behind what is written. Whoever serves calls it now and then.
    ///
    /// - Returns: whether there may be more to do.
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
        // What comes later may still change the weight of the last.
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

    /// Which series have summaries that are not what their samples come to.
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
