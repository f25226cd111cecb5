import HealthModel

/// The tables `summary` and `summarized`: sums of ten minutes of dense series, and the time up to which they were computed
/// (Decisions/0040).
struct SummaryTable {
    let connection: Connection

    /// The length of a summary in microseconds.
    static let length: Int64 = 600_000_000
    /// The maximum distance at which a sample affects the weight of another, in microseconds.
    static let reach = AggregationStyle.maximumValueDuration

    /// A summary.
    struct Row {
        /// The start, in microseconds since 1970.
        var start: Int64
        var count: Int
        /// The lowest and highest value.
        var low, high: Double
        /// The sum, and the weight by which it is divided for the average.
        var sum, weight: Double
        /// The start and value of the last sample.
        var latest: Int64
        var last: Double
    }

    /// Returns the time up to which the summaries of a series were computed, or `nil` if it has none.
    func end(of series: Int64) throws(StoreError) -> Int64? {
        try connection.integer("SELECT until FROM summarized WHERE series = ?", .integer(series))
    }

    func set(end: Int64, of series: Int64) throws(StoreError) {
        try connection.run(
            "INSERT INTO summarized VALUES(?1, ?2) ON CONFLICT(series) DO UPDATE SET until = ?2", .integer(series), .integer(end))
    }

    func add(_ row: Row, of series: Int64) throws(StoreError) {
        try connection.run(
            "INSERT OR REPLACE INTO summary VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", .integer(series), .integer(row.start),
            .integer(Int64(row.count)), .real(row.low), .real(row.high), .real(row.sum), .real(row.weight), .integer(row.latest),
            .real(row.last))
    }

    /// Removes the summaries that a change in a range of starts invalidates.
    func forget(series: Int64, from low: Int64, to high: Int64) throws(StoreError) {
        guard let until = try end(of: series) else { return }
        let first = low.shifted(by: -(Self.reach + Self.length))
        try connection.run(
            "DELETE FROM summary WHERE series = ? AND start > ? AND start < ?", .integer(series), .integer(first),
            .integer(high.shifted(by: Self.reach + 1)))
        // Later summaries stay and are recomputed with the rest.
        if until > first { try set(end: first, of: series) }
    }

    /// The summaries of a series between two times, in order. Only one reader of this kind may be open at a time.
    func rows(of series: Int64, from low: Int64, to high: Int64) throws(StoreError) -> Rows {
        let statement = try connection.statement(
            """
            SELECT start, count, low, high, sum, weight, latest, last FROM summary
            WHERE series = ?1 AND start >= \(connection.firstStart()) AND start <= ?3 ORDER BY start
            """)
        try statement.bind([.integer(series), .integer(low), .integer(high.shifted(by: -Self.length))])
        return Rows(statement: statement)
    }

    struct Rows {
        fileprivate let statement: Statement

        func next() throws(StoreError) -> Row? {
            guard try statement.step() else { return nil }
            return Row(
                start: statement.integer(0), count: Int(statement.integer(1)), low: statement.real(2), high: statement.real(3),
                sum: statement.real(4), weight: statement.real(5), latest: statement.integer(6), last: statement.real(7))
        }

        func end() { statement.reset() }
    }
}

extension Int64 {
    /// Adds without overflow. The ends of an open range, `.min` and `.max`, stay.
    func shifted(by other: Int64) -> Int64 {
        if self == .max || self == .min { return self }
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
