/// The change log: which series and stretch of time a commit touched. Additions and deletions share one sequence of numbers.
///
/// A reader looks through an entry's whole stretch for what is new in it. So an entry holds no stretch in which much else stands: what
/// is new and what lies far back are two.
struct ChangeLog {
    let connection: Connection
    /// What makes the change.
    let cause: Int64

    /// Small neighbouring entries of one ingest are joined up to this many numbers, so that a sensor that commits every second does
    /// not write an entry every second; an anchored read scans at most this much twice.
    private static let joined: Int64 = 1024
    /// Rows in one entry: a reader holds and sorts as many at a time.
    private static let rows = 2048
    /// Rows of others between two of one entry.
    private static let patience = 8
    /// Numbers that an entry spans at most. A repair spends two for a row.
    static let longest: Int64 = 8192

    /// Where a row stands in its series, and its number.
    struct Place {
        var start: Int64
        var seq: Int64
    }

    /// Tells of rows that are about to be written to a series.
    ///
    /// - Parameters:
    ///   - places: by start, and so by number.
    ///   - ingest: what brought the samples; of restored ones the ingest that they came with.
    ///   - deletion: whether the rows become tombstones. Else they become samples.
    func add(
        series: Int64, _ places: some RandomAccessCollection<Place>, ingest: Int64, deletion: Bool = false
    ) throws(StoreError) {
        let places = Array(places)
        var first = 0
        let cuts = try cuts(series: series, places.map(\.start), among: deletion ? .tombstones : .live)
        for end in cuts + [places.count] where end > first {
            try add(
                series: series, seqs: places[first].seq...places[end - 1].seq, low: places[first].start,
                high: places[end - 1].start, deletion: deletion, ingest: ingest)
            first = end
        }
    }

    /// Tells of a few rows at once, in one stretch.
    func add(
        series: Int64, seqs: ClosedRange<Int64>, low: Int64, high: Int64, deletion: Bool, ingest: Int64
    ) throws(StoreError) {
        if seqs.count < 256, try join(series: series, seqs: seqs, low: low, high: high, deletion: deletion, ingest: ingest) {
            return
        }
        try insert(series: series, seqs: seqs, low: low, high: high, deletion: deletion, ingest: ingest)
    }

    /// An entry of its own. Numbers of two entries may lie between one another where a sample goes and another comes in its place.
    func insert(
        series: Int64, seqs: ClosedRange<Int64>, low: Int64, high: Int64, deletion: Bool, ingest: Int64
    ) throws(StoreError) {
        try Summaries.forget(series: series, from: low, to: high, connection)
        try connection.run(
            "INSERT INTO change(series, first_seq, last_seq, deletion, low, high, ingest, cause) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            .integer(series), .integer(seqs.lowerBound), .integer(seqs.upperBound), .integer(deletion ? 1 : 0), .integer(low),
            .integer(high), .integer(ingest), .integer(cause))
    }

    /// Tells that what ended before a time was removed from a series for good.
    func insertPruning(series: Int64, seq: Int64, low: Int64, before: Int64, ingest: Int64) throws(StoreError) {
        try connection.run(
            "INSERT INTO change(series, first_seq, last_seq, deletion, low, high, ingest, cause) VALUES(?1, ?2, ?2, 2, ?3, ?4, ?5, ?6)",
            .integer(series), .integer(seq), .integer(low), .integer(before), .integer(ingest), .integer(cause))
    }

    /// Joins with the series' last entry, where that is of the same kind and ingest and close by.
    /// - Returns: whether it did.
    private func join(
        series: Int64, seqs: ClosedRange<Int64>, low: Int64, high: Int64, deletion: Bool, ingest: Int64
    ) throws(StoreError) -> Bool {
        let statement = try connection.statement(
            """
            SELECT first_seq, low, high FROM change WHERE series = ?1
                AND first_seq = (SELECT max(first_seq) FROM change WHERE series = ?1)
                AND deletion = ?2 AND ingest = ?3 AND cause = ?4 AND ?5 - first_seq < \(Self.joined)
            """)
        defer { statement.reset() }
        try statement.bind([
            .integer(series), .integer(deletion ? 1 : 0), .integer(ingest), .integer(cause), .integer(seqs.upperBound),
        ])
        guard try statement.step() else { return false }
        let (first, last) = (statement.integer(0), (low: statement.integer(1), high: statement.integer(2)))
        let between = low > last.high ? (last.high, low) : (high, last.low)
        if between.0 < between.1 {
            let others = try connection.integer(
                """
                SELECT count(*) FROM (SELECT 1 FROM \(deletion ? "deleted" : "sample") WHERE series = ? AND start > ? AND start < ?
                    LIMIT \(Self.patience + 1))
                """, .integer(series), .integer(between.0), .integer(between.1))
            guard others ?? 0 <= Self.patience else { return false }
        }
        try Summaries.forget(series: series, from: low, to: high, connection)
        try connection.run(
            "UPDATE change SET last_seq = ?3, low = min(low, ?4), high = max(high, ?5) WHERE series = ?1 AND first_seq = ?2",
            .integer(series), .integer(first), .integer(seqs.upperBound), .integer(low), .integer(high))
        return true
    }

    /// Where an entry has to end: behind so many rows, and where many others stand before the next.
    /// - Parameters:
    ///   - starts: of the rows that are about to be written, in their order.
    ///   - rows: where they are, once that is done.
    func cuts(series: Int64, _ starts: [Int64], among rows: SampleTable.Rows) throws(StoreError) -> [Int] {
        guard let first = starts.first, let last = starts.last else { return [] }
        var cuts: [Int] = []
        func cut(at index: Int) {
            // Also among rows of one start: an entry that spans more numbers than `longest` would be missed by a reader in its midst.
            var end = (cuts.last ?? 0) + Self.rows
            while end < index {
                cuts.append(end)
                end += Self.rows
            }
            if index < starts.count { cuts.append(index) }
        }
        let statement = try connection.statement(
            "SELECT start FROM \(rows.rawValue) WHERE series = ? AND start >= ? AND start <= ? ORDER BY start")
        defer { statement.reset() }
        try statement.bind([.integer(series), .integer(first), .integer(last)])
        var (index, others) = (0, 0)
        while try statement.step() {
            let start = statement.integer(0)
            while index + 1 < starts.count, starts[index + 1] <= start { (index, others) = (index + 1, 0) }
            guard index + 1 < starts.count else { break }
            others += 1
            guard others > Self.patience else { continue }
            (index, others) = (index + 1, 0)
            cut(at: index)
            statement.reset()
            try statement.bind([.integer(series), .integer(starts[index]), .integer(last)])
        }
        cut(at: starts.count)
        return cuts
    }
}
