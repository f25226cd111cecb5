import HealthModel

/// The samples and their tombstones. Only this type writes the tables `sample`, `deleted`, and `key`, and single rows are read through
/// it.
///
/// A row is always added together with its number, the entry for its nominal start, the longest duration of its series, and its entry in
/// the change log. Used inside a transaction.
struct SampleTable {
    let connection: Connection

    /// The columns of a row except its change number, in the order in which rows are copied.
    static let columns = "series, start, hash, value, numeral, context, duration, received, grp, metadata"

    /// A query for the ``columns`` of the live row at a place: series, start, and hash.
    static let row = "SELECT \(columns) FROM sample WHERE series = ? AND start = ? AND hash = ?"

    /// Adds a row from another table.
    ///
    /// - Parameters:
    ///   - select: A query for the ``columns`` of one row.
    ///   - ingestID: The ingest that the sample is counted in.
    ///   - cause: The ingest that adds it.
    /// - Returns: False if the query returns no row or the row already exists.
    func add(
        _ select: String, _ bindings: [Value], ingestedBy ingestID: Int64, cause: Int64
    ) throws(StoreError) -> Bool {
        let number = try lastNumber() + 1
        let insert = try connection.statement(
            """
            INSERT OR IGNORE INTO sample(\(Self.columns), seq) SELECT * FROM (\(select)) CROSS JOIN (SELECT ?)
            RETURNING series, start, hash, coalesce(duration, 0), \(SeriesTable.skew(of: "context"))
            """)
        defer { insert.reset() }
        try insert.bind(bindings + [.integer(number)])
        guard try insert.step() else { return false }
        let (series, start, hash) = (insert.integer(0), insert.integer(1), Array(insert.blob(2)))
        let (duration, skew) = (insert.integer(3), insert.integer(4))
        insert.reset()
        if skew != 0 {
            try connection.run(
                "INSERT OR IGNORE INTO place(series, nominal, hash, start) VALUES(?, ?, ?, ?)", .integer(series),
                .integer(start &+ skew), .blob(hash), .integer(start))
        }
        var maximumDuration = SeriesTable.DurationMaximum()
        maximumDuration.add(start, duration)
        try connection.series.lengthen(series, to: maximumDuration)
        try setLast(number: number)
        try connection.grants.addObjects(of: series, start...start, from: number)
        try ChangeLog(connection: connection, cause: cause)
            .add(series: series, seqs: number...number, low: start, high: start, deletion: false, ingest: ingestID)
        return true
    }

    /// A subquery for the ingest that brought the sample of a row of `deleted`.
    static let ingestID = ChangeTable.ingest(of: "deleted.seq", series: "deleted.series")

    /// SQL for whether a row of `deleted` is not forgotten and an ingest brought its sample.
    static func isTombstone(ingestedBy ingest: String) -> String { "NOT forgotten AND \(ingestID) = \(ingest)" }

    /// SQL for the tombstones of samples that the ingest `?` brought.
    static let tombstones = "SELECT series, start, hash FROM deleted WHERE \(isTombstone(ingestedBy: "?"))"

    // MARK: Numbers

    /// Returns the number of the last change.
    func lastNumber() throws(StoreError) -> Int64 {
        try connection.settings.lastChange()
    }

    /// Stores the number of the last change.
    func setLast(number: Int64) throws(StoreError) {
        try connection.settings.setLastChange(number)
    }
}
