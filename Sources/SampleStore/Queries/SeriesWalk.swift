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
    private let rows: SampleRows
    private var isReading = false
    /// The rows of one start in the order of arrival, while they are returned.
    private var equals: SampleRows?
    private var isAmongEquals = false
    /// The ranges that are still to be read, the next one last.
    private var intervals: [ClosedRange<Int64>]

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
        intervals = descending ? part.starts.intervals : part.starts.intervals.reversed()
        rows = try Self.scan(connection, part, descending ? .startDescending : .start)
    }

    private static func scan(
        _ connection: Connection, _ part: QueryPlan.Part, _ order: ScanOrder
    ) throws(StoreError) -> SampleRows {
        try connection.samples.scan(
            .whole, of: part.series.id, part.isDerived ? .grouped : .all, order: order, isRetained: false)
    }

    /// Advances to the next row. Returns false after the last one, and ``row`` then keeps its value.
    func advance() throws(StoreError) -> Bool {
        if isAmongEquals, try advanceAmongEquals() { return true }
        while !isReading {
            guard let next = intervals.popLast() else { return false }
            try rows.seek(series, from: next.lowerBound, through: next.upperBound)
            isReading = try rows.next()
        }
        start = rows.start
        let first = try rows.stored(decoder)
        isReading = try rows.next()
        guard isReading, rows.start == start else {
            row = first
            return true
        }
        while isReading, rows.start == start { isReading = try rows.next() }
        try beginEquals()
        return try advanceAmongEquals()
    }

    private func beginEquals() throws(StoreError) {
        let rows =
            if let equals { equals } else { try Self.scan(connection, part, descending ? .arrivalDescending : .arrival) }
        equals = rows
        try rows.seek(series, from: start, through: start)
        isAmongEquals = true
    }

    private func advanceAmongEquals() throws(StoreError) -> Bool {
        guard let equals, try equals.next() else {
            isAmongEquals = false
            return false
        }
        row = try equals.stored(decoder)
        return true
    }
}
