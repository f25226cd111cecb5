/// Looks up whether samples in a time range already have a duplicate from one series.
///
/// Usually no sample has one, or only those next to an earlier batch, so few lookups are needed.
struct DuplicateRange {
    private let connection: Connection
    private let duplicate: Int64
    /// The range of starts of the samples that may have a duplicate nearby.
    private let near: (Int64, Int64)?
    /// The range of starts of the samples that have a duplicate farther away.
    private let far: (Int64, Int64)?

    /// Creates a lookup for samples that start between `low` and `high`.
    ///
    /// - Parameter duplicate: The series of the duplicates.
    init(by duplicate: Int64, _ low: Int64, _ high: Int64, connection: Connection) throws(StoreError) {
        self.connection = connection
        self.duplicate = duplicate
        func ends(_ column: String, _ rows: String, _ low: Int64, _ high: Int64) throws(StoreError) -> (Int64, Int64)? {
            func end(_ order: String) throws(StoreError) -> Int64? {
                try connection.integer(
                    """
                    SELECT \(column) FROM \(rows) AND series = ? AND \(column) BETWEEN ? AND ?
                    ORDER BY \(column) \(order) LIMIT 1
                    """, .integer(duplicate), .integer(low), .integer(high))
            }
            guard let first = try end("ASC"), let last = try end("DESC") else { return nil }
            return (first, last)
        }
        near = try ends("start", "witness_row WHERE true", low &- DuplicateTable.near, high &+ DuplicateTable.near)
            .map { ($0 &- DuplicateTable.near, $1 &+ DuplicateTable.near) }
        far = try ends("of_start", "main.witness_row \(DuplicateTable.byFar) WHERE \(DuplicateTable.isFar)", low, high)
    }

    func contains(_ key: SampleKey) throws(StoreError) -> Bool {
        if let near, near.0 <= key.start, key.start <= near.1,
            try connection.integer(
                """
                SELECT 1 FROM witness WHERE series = ? AND start BETWEEN ? AND ? AND of_series = ? AND of_start = ? AND of_hash = ? LIMIT 1
                """, .integer(duplicate), .integer(key.start &- DuplicateTable.near),
                .integer(key.start &+ DuplicateTable.near),
                .integer(key.series), .integer(key.start), .blob(key.hash)) != nil
        {
            return true
        }
        guard let far, far.0 <= key.start, key.start <= far.1 else { return false }
        return try connection.integer(
            """
            SELECT 1 FROM main.witness_row \(DuplicateTable.byFar) CROSS JOIN main.decision ON decision.id = witness_row.decision
            WHERE series = ? AND of_start = ? AND of_hash = ? AND \(DuplicateTable.isFar) AND of_series = ? LIMIT 1
            """, .integer(duplicate), .integer(key.start), .blob(key.hash), .integer(key.series)) != nil
    }
}
