/// Which samples of a series, within a stretch of time, have a witness of another series already.
struct WitnessedStretch {
    private let connection: Connection
    private let witness: Int64
    /// How far a witness may start from its first.
    private let reach: Int64
    /// All those samples start within.
    private let starts: ClosedRange<Int64>

    /// Mostly there is none, or only at the border to an earlier batch: nil, or few samples need to be asked for.
    ///
    /// - Parameters:
    ///   - first: the series of the samples, which start between `low` and `high`.
    ///   - witness: the series of the witnesses.
    init?(of first: Int64, by witness: Int64, _ low: Int64, _ high: Int64, connection: Connection) throws(StoreError) {
        guard
            let reach = try connection.integer(
                "SELECT reach FROM witness_reach WHERE first_series = ? AND witness_series = ?", .integer(first),
                .integer(witness))
        else { return nil }
        func end(_ order: String) throws(StoreError) -> Int64? {
            try connection.integer(
                "SELECT start FROM witness WHERE series = ? AND start BETWEEN ? AND ? AND of_series = ? ORDER BY start \(order) LIMIT 1",
                .integer(witness), .integer(low &- reach), .integer(high &+ reach), .integer(first))
        }
        guard let earliest = try end("ASC"), let latest = try end("DESC") else { return nil }
        self.connection = connection
        self.witness = witness
        self.reach = reach
        starts = (earliest &- reach)...(latest &+ reach)
    }

    func contains(_ place: SamplePlace) throws(StoreError) -> Bool {
        guard starts.contains(place.start) else { return false }
        return try connection.integer(
            """
            SELECT 1 FROM witness WHERE series = ? AND start BETWEEN ? AND ? AND of_series = ? AND of_start = ? AND of_hash = ? LIMIT 1
            """, .integer(witness), .integer(place.start &- reach), .integer(place.start &+ reach), .integer(place.series),
            .integer(place.start), .blob(place.hash)) != nil
    }
}
