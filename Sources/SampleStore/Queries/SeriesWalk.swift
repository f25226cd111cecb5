import HealthModel

/// A walk over the rows of one series that a plan reads, by start, then by arrival.
///
/// The table orders the rows of one start by their hashes. Sorting them in SQLite costs as much as reading them, although there is nearly
/// always only one. The walk therefore reads one row ahead and runs another query only for a start with several rows.
final class SeriesWalk {
    let part: QueryPlan.Part
    /// The index of the part in its plan.
    let index: Int
    let series: Int64
    /// Whether all rows match without a further check.
    let isPlain: Bool
    /// The current row and its start.
    private(set) var row: StoredSample?
    private(set) var start: Int64 = 0
    private let connection: Connection
    private let decoder: SampleDecoder
    private let descending: Bool
    /// The rows of a range, ordered only by start. It is positioned after ``row``.
    private let rows: Statement
    private var isReading = false
    /// The rows of one start in the order of arrival, while they are returned.
    private var equals: Statement?
    private var isAmongEquals = false
    /// The ranges that are still to be read, the next one last.
    private var stretches: [ClosedRange<Int64>]

    init(
        _ connection: Connection, _ decoder: SampleDecoder, _ part: QueryPlan.Part, index: Int, descending: Bool
    ) throws(StoreError) {
        self.connection = connection
        self.decoder = decoder
        self.part = part
        self.index = index
        self.descending = descending
        series = part.series.id
        isPlain = !part.isDerived && part.rest == nil
        stretches = descending ? part.starts.stretches : part.starts.stretches.reversed()
        rows = try Self.scan(connection, part, order: "start \(descending ? "DESC" : "ASC")")
    }

    private static func scan(
        _ connection: Connection, _ part: QueryPlan.Part, order: String
    ) throws(StoreError) -> Statement {
        try connection.samples.scan(
            SampleDecoder.columns, where: part.isDerived ? "AND grp IS NOT NULL" : "", order: order, isKept: false)
    }

    /// Advances to the next row. Returns false after the last one, and ``row`` then keeps its value.
    func advance() throws(StoreError) -> Bool {
        if isAmongEquals, try advanceAmongEquals() { return true }
        while !isReading {
            guard let next = stretches.popLast() else { return false }
            rows.reset()
            try rows.bind([.integer(series), .integer(next.lowerBound), .integer(next.upperBound)])
            isReading = try rows.step()
        }
        start = rows.integer(0)
        let first = try decoder.decode(rows, series: series)
        isReading = try rows.step()
        guard isReading, rows.integer(0) == start else {
            row = first
            return true
        }
        while isReading, rows.integer(0) == start { isReading = try rows.step() }
        try beginEquals()
        return try advanceAmongEquals()
    }

    private func beginEquals() throws(StoreError) {
        let statement: Statement
        if let equals {
            statement = equals
        } else {
            statement = try Self.scan(connection, part, order: "seq \(descending ? "DESC" : "ASC")")
        }
        equals = statement
        statement.reset()
        try statement.bind([.integer(series), .integer(start), .integer(start)])
        isAmongEquals = true
    }

    private func advanceAmongEquals() throws(StoreError) -> Bool {
        guard let equals, try equals.step() else {
            isAmongEquals = false
            return false
        }
        row = try decoder.decode(equals, series: series)
        return true
    }
}
