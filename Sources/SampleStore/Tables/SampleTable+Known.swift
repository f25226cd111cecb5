import HealthModel

/// Readings of a series that the store already knows, in the order of their nominal starts and hashes. Several tables have such readings.
final class KnownReadings {
    /// The other columns of a row, after the nominal start and the hash.
    enum Rest {
        case none
        /// The start, if it is not the nominal start.
        case start
        /// The ledger entry that brought it.
        case ingestID
        /// The deletion.
        case tombstone
        /// The start and hash of the repaired sample.
        case form
    }

    private let statement: Statement
    private let rest: Rest

    /// - Parameter sql: A query for the rows of the series `?1` from the nominal start `?2` through `?3`.
    init(_ sql: String, _ rest: Rest, _ connection: Connection) throws(StoreError) {
        (statement, self.rest) = (try connection.statement(sql), rest)
    }

    deinit { statement.reset() }

    func seek(_ series: Int64, from low: Int64, through high: Int64) throws(StoreError) {
        statement.reset()
        try statement.bind([.integer(series), .integer(low), .integer(high)])
    }

    /// Moves to the next row. Returns false at the end.
    func next() throws(StoreError) -> Bool { try statement.step() }

    var nominal: Int64 { statement.integer(0) }

    var hash: (high: UInt16, low: UInt64) {
        get throws(StoreError) { try HashBytes.read(statement.blob(1)) }
    }

    var start: Int64 { rest == .start ? statement.integer(2) : nominal }

    /// The ledger entry that brought it, or `nil`.
    var ingestID: Int64? { rest == .ingestID ? statement.integer(2) : nil }

    /// The repaired sample of the reading, in the same series, or `nil`.
    func form(in series: Int64) throws(StoreError) -> SampleKey? {
        guard rest == .form else { return nil }
        return try SampleKey(series: series, start: statement.integer(2), hash: statement.blob(3))
    }

    /// The deletion, or `nil` if it is not deleted.
    var tombstone: SampleTable.Tombstone? {
        guard rest == .tombstone else { return nil }
        return SampleTable.Tombstone(
            ingest: statement.integer(2), number: statement.integer(3), deletion: statement.integer(4),
            replacedBy: statement.optionalText(5))
    }
}

extension SampleTable {
    /// The samples of a series whose nominal start is their start.
    func known() throws(StoreError) -> KnownReadings { try known("start, hash", .none, in: .live) }

    /// The tombstones of a series whose nominal start is their start. Forgotten ones are not among them.
    func knownDeleted() throws(StoreError) -> KnownReadings {
        try known("start, hash, ingest, seq, deleted_seq, replaced_by", .tombstone, in: .tombstones)
    }

    private func known(_ columns: String, _ rest: KnownReadings.Rest, in rows: Rows) throws(StoreError) -> KnownReadings {
        try KnownReadings(
            """
            SELECT \(columns) FROM \(rows.rawValue) WHERE series = ?1 AND start >= \(connection.firstStart()) AND start <= ?3\(rows.isRemembered)
            ORDER BY start, hash
            """, rest, connection)
    }

    /// The readings of a series, live or not, whose nominal start is not their start.
    func knownElsewhere() throws(StoreError) -> KnownReadings {
        try KnownReadings(
            "SELECT nominal, hash, start FROM place WHERE series = ? AND nominal >= ? AND nominal <= ? ORDER BY nominal, hash",
            .start,
            connection)
    }
}
