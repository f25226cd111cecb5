import HealthModel

/// The fields that a scan reads of each row.
///
/// The first ten are those of a whole sample, in the order in which ``SampleDecoder`` reads them.
struct SampleFields: OptionSet {
    let rawValue: UInt16

    static let start = SampleFields(rawValue: 1 << 0)
    static let hash = SampleFields(rawValue: 1 << 1)
    static let value = SampleFields(rawValue: 1 << 2)
    static let numeral = SampleFields(rawValue: 1 << 3)
    static let context = SampleFields(rawValue: 1 << 4)
    static let duration = SampleFields(rawValue: 1 << 5)
    static let received = SampleFields(rawValue: 1 << 6)
    static let group = SampleFields(rawValue: 1 << 7)
    static let metadata = SampleFields(rawValue: 1 << 8)
    /// The number of the change that added the sample.
    static let change = SampleFields(rawValue: 1 << 9)
    /// The parts that only tombstones have: the successor's UUID, the ledger entry, and the number of the deletion.
    static let deletion = SampleFields(rawValue: 7 << 10)
    /// The microseconds that the nominal start is ahead of the start.
    static let skew = SampleFields(rawValue: 1 << 13)

    static let key: SampleFields = [.start, .hash]
    static let whole = SampleFields(rawValue: (1 << 10) - 1)

    /// The columns as SQL.
    fileprivate func columns(of rows: SampleTable.Rows) -> String {
        let all = rows == .duplicates ? Self.duplicateColumns : Self.sampleColumns
        return all.indices.filter { rawValue & (1 << $0) != 0 }.map { all[$0] }.joined(separator: ", ")
    }

    private static let sampleColumns = columns(SampleTable.Rows.live)
    private static let duplicateColumns = columns(SampleTable.Rows.duplicates)

    private static func columns(_ rows: SampleTable.Rows) -> [String] {
        "\(rows.columns), replaced_by, ingest, deleted_seq".split(separator: ", ").map(String.init)
            + [SeriesTable.skew(of: "context")]
    }

    /// The position of a field among the columns.
    fileprivate func column(_ field: SampleFields) -> Int32 {
        Int32((rawValue & ((field.rawValue & ~(field.rawValue - 1)) - 1)).nonzeroBitCount)
    }
}

/// The rows of a range that a scan returns.
struct SampleFilter {
    fileprivate let sql: String
    fileprivate let values: [Value]

    private init(_ sql: String, _ values: [Value] = []) { (self.sql, self.values) = (sql, values) }

    /// All of them, forgotten tombstones included.
    static let all = SampleFilter("")

    /// Those that are not forgotten tombstones.
    static let remembered = SampleFilter("NOT forgotten")

    /// Those that belong to a group.
    static let grouped = SampleFilter("grp IS NOT NULL")

    /// Those with at least this duration, in microseconds.
    static func lasting(_ duration: Int64) -> SampleFilter { SampleFilter("duration >= ?4", [.integer(duration)]) }

    /// Those of a group.
    static func group(_ group: UInt64) -> SampleFilter { SampleFilter("grp = ?4", [.integer(Int64(bitPattern: group))]) }

    /// Those that a range of changes added. Forgotten tombstones are left out.
    static func added(in changes: ClosedRange<Int64>, among rows: SampleTable.Rows) -> SampleFilter {
        SampleFilter(
            "seq BETWEEN ?4 AND ?5\(rows.isRemembered)", [.integer(changes.lowerBound), .integer(changes.upperBound)])
    }

    /// The tombstones that a range of changes made, even if they are forgotten.
    static func deleted(in changes: ClosedRange<Int64>) -> SampleFilter {
        SampleFilter("deleted_seq BETWEEN ?4 AND ?5", [.integer(changes.lowerBound), .integer(changes.upperBound)])
    }

    /// The rows after a sample in the order of start and arrival, of those that a range of changes added.
    ///
    /// - Parameter change: The number of that sample at the first start of the range.
    static func page(after change: Int64, in changes: ClosedRange<Int64>) -> SampleFilter {
        SampleFilter(
            "(start > ?2 OR seq > ?4) AND seq BETWEEN ?5 AND ?6",
            [.integer(change), .integer(changes.lowerBound), .integer(changes.upperBound)])
    }

    /// The tombstones that entries of a kind made, or entries of any other kind.
    static func deleted(by kind: IngestKind, isOther: Bool = false) -> SampleFilter {
        SampleFilter(
            "NOT forgotten AND \(LedgerTable.kind(of: "deleted.ingest")) \(isOther ? "<>" : "=") \(kind.literal)"
        )
    }

    /// Those for which a condition of ``DuplicateTable`` holds.
    static func duplicates(_ condition: String) -> SampleFilter { SampleFilter(condition) }

    /// Whether it leaves nothing out.
    var isEmpty: Bool { sql.isEmpty }
}

/// The order of a scan.
enum ScanOrder: String {
    case unordered = ""
    case start = "start"
    case startDescending = "start DESC"
    case startAndHash = "start, hash"
    /// Samples with the same start come in the order of arrival.
    case startAndArrival = "start, seq"
    case startAndLatestArrival = "start, seq DESC"
    case startAndArrivalDescending = "start DESC, seq DESC"
    case arrival = "seq"
    case arrivalDescending = "seq DESC"
}

/// The rows of a series in a range of starts, read one after another.
///
///     let rows = try connection.samples.scan(.key, of: series, from: low, through: high)
///     while try rows.next() { use(try rows.key) }
///
/// The scan ends when the last reference is gone. Only fields that it was asked for may be read.
final class SampleRows {
    private let statement: Statement
    private let fields: SampleFields
    private let table: SampleTable.Rows
    /// The values that are bound after the series and the range.
    private let values: [Value]
    private(set) var series: Int64 = 0
    private let (valueColumn, contextColumn, durationColumn): (Int32, Int32, Int32)

    fileprivate init(_ statement: Statement, _ fields: SampleFields, _ table: SampleTable.Rows, _ values: [Value]) {
        (self.statement, self.fields, self.table, self.values) = (statement, fields, table, values)
        (valueColumn, contextColumn, durationColumn) = (fields.column(.value), fields.column(.context), fields.column(.duration))
    }

    deinit { statement.reset() }

    /// Continues at another range, or in another series.
    func seek(_ series: Int64, from low: Int64 = .min, through high: Int64 = .max) throws(StoreError) {
        self.series = series
        statement.reset()
        try statement.bind([.integer(series), .integer(low), .integer(high)] + values)
    }

    /// Moves to the next row. Returns false at the end.
    func next() throws(StoreError) -> Bool { try statement.step() }

    var start: Int64 { statement.integer(0) }
    var value: Double { statement.real(valueColumn) }
    var context: Int64 { statement.integer(contextColumn) }
    /// The duration in microseconds, 0 if the sample has none.
    var duration: Int64 { statement.integer(durationColumn) }
    var change: Int64 { statement.integer(fields.column(.change)) }
    var group: Int64? { statement.optionalInteger(fields.column(.group)) }
    var metadata: Int64? { statement.optionalInteger(fields.column(.metadata)) }
    var skew: Int64? { statement.optionalInteger(fields.column(.skew)) }
    var key: SampleKey {
        get throws(StoreError) { try SampleKey(series: series, start: start, hash: statement.blob(fields.column(.hash))) }
    }

    /// The value of the numeral's last digit, or `nil` if the numeral is the shortest one of its value.
    var step: Double? {
        let column = fields.column(.numeral)
        return statement.isNull(column) ? nil : (try? Numeral(parsing: statement.blob(column)))?.step ?? 0
    }

    /// The parts of a tombstone.
    var tombstone: SampleTable.Tombstone {
        let column = fields.column(.deletion)
        return SampleTable.Tombstone(
            ingest: statement.integer(column + 1), number: fields.contains(.change) ? change : 0,
            deletion: statement.integer(column + 2), replacedBy: statement.optionalText(column))
    }

    /// Decodes the row, which must have been asked for as a whole.
    func stored(_ decoder: SampleDecoder) throws(StoreError) -> StoredSample {
        try table.decode(statement, of: series, decoder)
    }

    /// Decodes the row of a live sample or a tombstone, which must have been asked for as a whole.
    func read(_ decoder: SampleDecoder, into buffer: inout SampleDecoder.Buffer) throws(StoreError) {
        try decoder.decode(statement, series: series, into: &buffer)
    }
}

extension SampleTable {
    /// Scans the rows of a series that start in a range.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of rows.
    ///   - isRetained: Whether the statement is kept for the next scan of this kind. Two of these scans must not be open at the same time.
    func scan(
        _ fields: SampleFields, of series: Int64, from low: Int64 = .min, through high: Int64 = .max, among rows: Rows = .live,
        _ filter: SampleFilter = .all, order: ScanOrder = .start, limit: Int? = nil, isRetained: Bool = true
    ) throws(StoreError) -> SampleRows {
        try scan(
            fields, of: series, from: low, through: high, in: rows.rawValue, among: rows, filter, order: order, limit: limit,
            isRetained: isRetained)
    }

    /// Scans the samples that a range of changes added, including those that are hidden at the moment.
    func scanLogged(of series: Int64, from low: Int64, through high: Int64, addedIn changes: ClosedRange<Int64>)
        throws(StoreError)
        -> SampleRows
    {
        try scan(
            .whole, of: series, from: low, through: high, in: connection.loggedSamples, among: .live,
            .added(in: changes, among: .live), order: .unordered)
    }

    private func scan(
        _ fields: SampleFields, of series: Int64, from low: Int64, through high: Int64, in table: String, among rows: Rows,
        _ filter: SampleFilter, order: ScanOrder, limit: Int? = nil, skipping count: Int = 0, isRetained: Bool = true
    ) throws(StoreError) -> SampleRows {
        var sql = """
            SELECT \(fields.columns(of: rows)) FROM \(table) WHERE series = ?1 AND start >= \(connection.firstStart()) AND start <= ?3
            """
        var values = filter.values
        if !filter.isEmpty { sql += " AND \(filter.sql)" }
        if order != .unordered { sql += " ORDER BY \(order.rawValue)" }
        if let limit {
            values += [.integer(Int64(limit)), .integer(Int64(count))]
            sql += " LIMIT ?\(2 + values.count) OFFSET ?\(3 + values.count)"
        }
        let statement = isRetained ? try connection.statement(sql) : try Statement(connection, sql)
        let found = SampleRows(statement, fields, rows, values)
        try found.seek(series, from: low, through: high)
        return found
    }

    /// Scans the samples of a series that belong to a group and whose start or nominal start is in a range.
    func scanGrouped(of series: Int64, nominal low: Int64, through high: Int64) throws(StoreError) -> SampleRows {
        let statement = try Statement(
            connection,
            """
            SELECT \(SampleFields.whole.columns(of: .live)) FROM sample WHERE series = ?1 AND grp IS NOT NULL AND (start BETWEEN ?2 AND ?3
                OR start IN (SELECT start FROM place WHERE series = ?1 AND nominal BETWEEN ?2 AND ?3))
            """)
        let found = SampleRows(statement, .whole, .live, [])
        try found.seek(series, from: low, through: high)
        return found
    }

    /// Returns the start of the first row in a range, or of the last, or of the one after a number of others.
    func start(
        of series: Int64, from low: Int64 = .min, through high: Int64 = .max, among rows: Rows = .live,
        _ filter: SampleFilter = .all, skipping count: Int = 0, isLast: Bool = false
    ) throws(StoreError) -> Int64? {
        let found = try scan(
            .start, of: series, from: low, through: high, in: rows.rawValue, among: rows, filter,
            order: isLast ? .startDescending : .start, limit: 1, skipping: count)
        return try found.next() ? found.start : nil
    }
}
