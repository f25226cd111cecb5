/// The entries of the change log. It has all SQL on ``Schema/change``, except that of the readers of the log (``ChangeReader``).
struct ChangeTable {
    let connection: Connection

    /// The series, numbers, and starts of an entry.
    struct Entry {
        var series: Int64
        var seqs: ClosedRange<Int64>
        var starts: ClosedRange<Int64>
    }

    /// SQL for the ingest of the entry with a sample's number.
    static func ingest(of seq: String, series: String) -> String {
        """
        (SELECT change.ingest FROM change WHERE change.series = \(series) AND first_seq <= \(seq)
        ORDER BY first_seq DESC LIMIT 1)
        """
    }

    /// SQL for the series with changes after the number `?1`.
    static let seriesAfter = """
        SELECT series FROM change WHERE first_seq > ?1 - \(SettingTable.value("longestChange")) AND last_seq > ?1
        """

    /// SQL for the entries with changes after the number `?1`.
    static let after = """
        SELECT series, first_seq, last_seq, deletion, low, high, ingest FROM change
        WHERE first_seq > ?1 - \(SettingTable.value("longestChange")) AND last_seq > ?1 ORDER BY first_seq
        """

    /// Returns the numbers of the entry with a sample's number, and its ingest with its time of receipt, also to a restricted reader.
    func entry(of seq: Int64, series: Int64) throws(StoreError) -> (seqs: ClosedRange<Int64>, ingest: Int64, received: Int64)? {
        let statement = try connection.statement(
            """
            SELECT first_seq, last_seq, ingest, received FROM main.change JOIN main.ingest ON ingest.id = change.ingest
            WHERE series = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1
            """)
        defer { statement.reset() }
        try statement.bind([.integer(series), .integer(seq)])
        guard try statement.step(), statement.integer(1) >= seq else { return nil }
        return (
            statement.integer(0)...max(statement.integer(0), statement.integer(1)), statement.integer(2), statement.integer(3)
        )
    }

    /// Whether an ingest that did not bring the sample added it with this number: an undo or a restoration.
    func isMoved(_ seq: Int64, series: Int64) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT ingest <> cause FROM change WHERE series = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1",
            .integer(series), .integer(seq)) == 1
    }

    /// Returns the next entries for an ingest's samples, in the order of their numbers.
    func entries(ingestedBy ingest: Int64, after first: Int64, through last: Int64, limit: Int64) throws(StoreError) -> [Entry] {
        try entries(
            """
            SELECT series, first_seq, last_seq, low, high FROM change
            WHERE ingest = ?1 AND deletion = 0 AND first_seq > ?2 AND first_seq <= ?3 ORDER BY first_seq LIMIT ?4
            """, [.integer(ingest), .integer(first), .integer(last), .integer(limit)])
    }

    /// Returns all entries with changes after a number.
    func entries(after seq: Int64) throws(StoreError) -> [Entry] {
        try entries("SELECT series, first_seq, last_seq, low, high FROM change WHERE last_seq > ?", [.integer(seq)])
    }

    /// Returns the first and last start of the samples in each series that were added after a number.
    func starts(after seq: Int64) throws(StoreError) -> [Entry] {
        try entries(
            "SELECT series, 0, 0, min(low), max(high) FROM change WHERE last_seq > ? AND NOT deletion GROUP BY series",
            [.integer(seq)])
    }

    /// Returns the first and last start of an ingest's samples in each series.
    func starts(ingestedBy ingest: Int64) throws(StoreError) -> [Entry] {
        try entries(
            "SELECT series, 0, 0, min(low), max(high) FROM change WHERE ingest = ? AND NOT deletion GROUP BY series",
            [.integer(ingest)])
    }

    /// Returns the first and last start of the samples in each series that an ingest changed.
    func starts(causedBy ingest: Int64) throws(StoreError) -> [Entry] {
        try entries(
            "SELECT series, 0, 0, min(low), max(high) FROM change WHERE cause = ? GROUP BY series ORDER BY series",
            [.integer(ingest)])
    }

    private func entries(_ sql: String, _ bindings: [Value]) throws(StoreError) -> [Entry] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        var entries: [Entry] = []
        while try statement.step() {
            let (first, low) = (statement.integer(1), statement.integer(3))
            entries.append(
                Entry(
                    series: statement.integer(0), seqs: first...max(first, statement.integer(2)),
                    starts: low...max(low, statement.integer(4))))
        }
        return entries
    }

    /// Adds an entry.
    ///
    /// - Parameter deletion: 0 for added samples, 1 for deleted ones, 2 for permanently removed ones.
    func insert(
        series: Int64, seqs: ClosedRange<Int64>, deletion: Int64, low: Int64, high: Int64, ingest: Int64, cause: Int64
    ) throws(StoreError) {
        try connection.run(
            "INSERT INTO change(series, first_seq, last_seq, deletion, low, high, ingest, cause) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            .integer(series), .integer(seqs.lowerBound), .integer(seqs.upperBound), .integer(deletion), .integer(low),
            .integer(high), .integer(ingest), .integer(cause))
    }

    /// Returns the last entry of the series if it is of the same kind, ingest, and cause, and began at most `distance` numbers before.
    func last(
        series: Int64, deletion: Bool, ingest: Int64, cause: Int64, before seq: Int64, distance: Int64
    ) throws(StoreError) -> (first: Int64, low: Int64, high: Int64)? {
        try connection.first(
            """
            SELECT first_seq, low, high FROM change WHERE series = ?1
                AND first_seq = (SELECT max(first_seq) FROM change WHERE series = ?1)
                AND deletion = ?2 AND ingest = ?3 AND cause = ?4 AND ?5 - first_seq < ?6
            """,
            [
                .integer(series), .integer(deletion ? 1 : 0), .integer(ingest), .integer(cause), .integer(seq),
                .integer(distance),
            ]
        ) { ($0.integer(0), $0.integer(1), $0.integer(2)) }
    }

    /// Extends an entry.
    func extend(series: Int64, first: Int64, through last: Int64, low: Int64, high: Int64) throws(StoreError) {
        try connection.run(
            "UPDATE change SET last_seq = ?3, low = min(low, ?4), high = max(high, ?5) WHERE series = ?1 AND first_seq = ?2",
            .integer(series), .integer(first), .integer(last), .integer(low), .integer(high))
    }
}
