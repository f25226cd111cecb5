import HealthModel

/// Walks over the rows of one series that a plan reads: stretch by stretch, by start, those of one start as they came.
final class SeriesWalk {
    let part: QueryPlan.Part
    /// Of the part in its plan.
    let index: Int
    let series: Int64
    /// Whether each of its rows is meant, as it stands.
    let isPlain: Bool
    /// Stands at a row, while there is one.
    let statement: Statement
    /// Of the row at which the statement stands.
    private(set) var start: Int64 = 0
    /// That are still to be read, the next one last.
    private var stretches: [ClosedRange<Int64>]
    private var isReading = false

    init(_ connection: Connection, _ part: QueryPlan.Part, index: Int, descending: Bool) throws(StoreError) {
        self.part = part
        self.index = index
        series = part.series.id
        isPlain = !part.isDerived && part.rest == nil
        stretches = descending ? part.starts.stretches : part.starts.stretches.reversed()
        let order = descending ? "DESC" : "ASC"
        statement = try Statement(
            connection,
            """
            SELECT \(SampleDecoder.columns) FROM sample WHERE series = ? AND start BETWEEN ? AND ?
            \(part.isDerived ? "AND grp IS NOT NULL" : "") ORDER BY start \(order), seq \(order)
            """)
    }

    /// Goes to the next row; false behind the last.
    func advance() throws(StoreError) -> Bool {
        while true {
            if !isReading {
                guard let next = stretches.popLast() else { return false }
                statement.reset()
                try statement.bind([.integer(series), .integer(next.lowerBound), .integer(next.upperBound)])
                isReading = true
            }
            if try statement.step() {
                start = statement.integer(0)
                return true
            }
            isReading = false
        }
    }
}
