import CSQLite

/// Finds which rows of a batch the store has already, live or deleted.
///
/// A batch is sorted by nominal time, as the store is, so that the two are merged: one scan where both are dense, one seek for each
/// row where the store holds much more.
struct ExistingSamples {
    let connection: Connection
    /// Readings, so far, whose sample a repair replaced.
    private(set) var repaired = 0

    init(connection: Connection) { self.connection = connection }

    /// How many rows the scan passes over before it seeks the next row of the batch instead.
    private static let patience = 48

    /// Sorts the rows by nominal time and hash, and returns the indices of those that are there already, or twice in the batch.
    mutating func mark(_ rows: inout [SampleRow], of series: Int64) throws(StoreError) -> [Int32] {
        // Of equal rows the one that came first stays in front.
        rows.sortIfNeeded { ($0.nominal, $0.high, $0.low, $0.index) < ($1.nominal, $1.high, $1.low, $1.index) }
        var marked: [Int32] = []
        for index in rows.indices.dropFirst() where Self.same(rows[index], rows[index - 1]) { marked.append(rows[index].index) }
        // Without a skew the nominal time is where a sample stands.
        try merge(
            rows, series, "SELECT start, hash FROM sample WHERE series = ? AND start >= ? AND start <= ? ORDER BY start, hash",
            &marked)
        if try connection.integer("SELECT 1 FROM deleted WHERE series = ? LIMIT 1", .integer(series)) != nil {
            try merge(
                rows, series,
                """
                SELECT start, hash, replaced_by IS NOT NULL AND ingest IN (SELECT ingest FROM migration WHERE state = 'applied')
                FROM deleted WHERE series = ? AND start >= ? AND start <= ? AND NOT forgotten ORDER BY start, hash
                """, &marked)
        }
        if try connection.integer("SELECT 1 FROM reading_alias WHERE series = ? LIMIT 1", .integer(series)) != nil {
            // The same reading, read rightly: its repaired sample is there.
            try merge(
                rows, series,
                """
                SELECT nominal, hash, 1 FROM reading_alias WHERE series = ? AND nominal >= ? AND nominal <= ? ORDER BY nominal, hash
                """, &marked)
        }
        if try connection.integer("SELECT 1 FROM witness_row WHERE series = ? LIMIT 1", .integer(series)) != nil {
            try merge(
                rows, series,
                "SELECT start, hash FROM witness_row WHERE series = ? AND start >= ? AND start <= ? ORDER BY start, hash",
                &marked)
        }
        if try connection.integer("SELECT 1 FROM place WHERE series = ? LIMIT 1", .integer(series)) != nil {
            try merge(
                rows, series,
                "SELECT nominal, hash FROM place WHERE series = ? AND nominal >= ? AND nominal <= ? ORDER BY nominal, hash",
                &marked)
        }
        return marked
    }

    private static func same(_ one: SampleRow, _ other: SampleRow) -> Bool {
        one.nominal == other.nominal && one.low == other.low && one.high == other.high
    }

    private mutating func merge(_ rows: [SampleRow], _ series: Int64, _ sql: String, _ marked: inout [Int32]) throws(StoreError) {
        guard let last = rows.last else { return }
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        var position = 0
        while position < rows.count {
            statement.reset()
            try statement.bind([.integer(series), .integer(rows[position].nominal), .integer(last.nominal)])
            var passed = 0
            var ended = true
            while try statement.step() {
                let time = statement.integer(0)
                let hash = try HashBytes.read(statement.blob(1))
                let key = (time, hash.high, hash.low)
                while position < rows.count, (rows[position].nominal, rows[position].high, rows[position].low) < key {
                    position += 1
                    passed = 0
                }
                guard position < rows.count else { return }
                if rows[position].nominal == time, rows[position].low == hash.low, rows[position].high == hash.high {
                    marked.append(rows[position].index)
                    if statement.isRepaired { repaired += 1 }
                    position += 1
                    passed = 0
                    // The same row again within the batch is marked already.
                    while position < rows.count, Self.same(rows[position], rows[position - 1]) { position += 1 }
                    guard position < rows.count else { return }
                } else {
                    passed += 1
                    if passed > Self.patience, rows[position].nominal > time {
                        ended = false
                        break
                    }
                }
            }
            if ended { return }
        }
    }
}

extension Statement {
    /// The third column of the statements here, where there is one.
    fileprivate var isRepaired: Bool { sqlite3_column_count(handle) > 2 && integer(2) != 0 }
}
