/// The places of selected samples, in a temporary table. Memory use does not grow with their number.
struct ChosenPlaces {
    private let connection: Connection

    init(connection: Connection) throws(StoreError) {
        self.connection = connection
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS chosen(
                series INTEGER, start INTEGER, hash BLOB, PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
            DELETE FROM chosen
            """)
    }

    /// Adds places in one transaction of the temporary database. The store is not locked.
    func fill(_ body: () throws -> Void) throws {
        try connection.execute("BEGIN")
        do {
            try body()
            try connection.execute("COMMIT")
        } catch {
            _ = try? connection.execute("ROLLBACK")
            throw error
        }
    }

    /// Adds a place, unless it was already added.
    func add(_ key: SampleKey) throws(StoreError) {
        try connection.run(
            "INSERT OR IGNORE INTO temp.chosen VALUES(?, ?, ?)", .integer(key.series), .integer(key.start), .blob(key.hash))
    }

    /// The number of places.
    var count: Int {
        get throws(StoreError) { Int(try connection.integer("SELECT count(*) FROM temp.chosen") ?? 0) }
    }

    /// The next places, in order.
    func keys(after last: SampleKey? = nil, limit: Int) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT series, start, hash FROM temp.chosen WHERE (series, start, hash) > (?, ?, ?) ORDER BY series, start, hash LIMIT ?
            """,
            [
                .integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? []), .integer(Int64(limit)),
            ])
    }
}
