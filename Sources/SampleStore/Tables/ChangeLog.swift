/// The change log, which records the series and time range that each commit changed. Additions and deletions share one
/// sequence of numbers.
///
/// A reader searches the whole time range of an entry for new rows. So an entry must not span many older rows: rows
/// that are far apart in time get separate entries.
struct ChangeLog {
    let connection: Connection
    /// The id of the ledger entry that causes the change.
    let cause: Int64

    /// The maximum numbers spanned by joined entries. Small adjacent entries of one import are joined, so that a sensor
    /// that commits every second does not write an entry every second. An anchored read scans at most this many numbers
    /// twice.
    private static let joined: Int64 = 1024
    /// The maximum number of rows in one entry. A reader keeps this many rows in memory to sort them.
    private static let rows = 2048
    /// The maximum number of older rows between two rows of one entry.
    private static let timeout = 8
    /// The maximum range of numbers in an entry. A repair uses two numbers per row.
    static let maximumLength: Int64 = 8192

    /// The start and the change number of a row in a series.
    struct Place {
        var start: Int64
        var seq: Int64
    }

    /// Records rows that are about to be written to a series.
    ///
    /// - Parameters:
    ///   - keys: The rows, sorted by start and number.
    ///   - ingest: The import of the samples. For restored samples, their original import.
    ///   - deletion: Whether the rows become tombstones instead of samples.
    func add(
        series: Int64, _ keys: some RandomAccessCollection<Place>, ingest: Int64, deletion: Bool = false
    ) throws(StoreError) {
        let keys = Array(keys)
        var first = 0
        let cuts = try cuts(series: series, keys.map(\.start), among: deletion ? .tombstones : .live)
        for end in cuts + [keys.count] where end > first {
            try add(
                series: series, seqs: keys[first].seq...keys[end - 1].seq, low: keys[first].start,
                high: keys[end - 1].start, deletion: deletion, ingest: ingest)
            first = end
        }
    }

    /// Records a few rows in one time range.
    func add(
        series: Int64, seqs: ClosedRange<Int64>, low: Int64, high: Int64, deletion: Bool, ingest: Int64
    ) throws(StoreError) {
        if seqs.count < 256, try join(series: series, seqs: seqs, low: low, high: high, deletion: deletion, ingest: ingest) {
            return
        }
        try insert(series: series, seqs: seqs, low: low, high: high, deletion: deletion, ingest: ingest)
    }

    /// Inserts a separate entry. The number ranges of two entries may overlap when one sample replaces another.
    func insert(
        series: Int64, seqs: ClosedRange<Int64>, low: Int64, high: Int64, deletion: Bool, ingest: Int64
    ) throws(StoreError) {
        try connection.summaries.forget(series: series, from: low, to: high)
        try connection.changeTable.insert(
            series: series, seqs: seqs, deletion: deletion ? 1 : 0, low: low, high: high, ingest: ingest, cause: cause)
    }

    /// Records that samples of a series were removed permanently.
    ///
    /// - Parameters:
    ///   - low: The start of the first one.
    ///   - before: A time after the end of each.
    func insertPruning(series: Int64, seq: Int64, low: Int64, before: Int64, ingest: Int64) throws(StoreError) {
        try connection.changeTable.insert(
            series: series, seqs: seq...seq, deletion: 2, low: low, high: before, ingest: ingest, cause: cause)
    }

    /// Joins the rows with the last entry of the series if that is nearby and of the same kind and import.
    /// - Returns: Whether the rows were joined.
    private func join(
        series: Int64, seqs: ClosedRange<Int64>, low: Int64, high: Int64, deletion: Bool, ingest: Int64
    ) throws(StoreError) -> Bool {
        let last = try connection.changeTable.last(
            series: series, deletion: deletion, ingest: ingest, cause: cause, before: seqs.upperBound, distance: Self.joined)
        guard let last else { return false }
        let between = low > last.high ? (last.high, low) : (high, last.low)
        if between.0 < between.1 {
            let others = try connection.samples.count(
                deletion ? .tombstones : .live, of: series, from: between.0 + 1, before: between.1, atMost: Self.timeout + 1)
            guard others <= Self.timeout else { return false }
        }
        try connection.summaries.forget(series: series, from: low, to: high)
        try connection.changeTable.extend(series: series, first: last.first, through: seqs.upperBound, low: low, high: high)
        return true
    }

    /// The indices at which to start a new entry: after the maximum number of rows, and before a gap with many older
    /// rows.
    /// - Parameters:
    ///   - starts: The starts of the rows to be written, in order.
    ///   - rows: The table in which the rows will be.
    func cuts(series: Int64, _ starts: [Int64], among rows: SampleTable.Rows) throws(StoreError) -> [Int] {
        guard let first = starts.first, let last = starts.last else { return [] }
        var cuts: [Int] = []
        func cut(at index: Int) {
            // Also cut among rows with the same start. A reader whose anchor is inside an entry that spans more numbers
            // than `maximumLength` would miss it.
            var end = (cuts.last ?? 0) + Self.rows
            while end < index {
                cuts.append(end)
                end += Self.rows
            }
            if index < starts.count { cuts.append(index) }
        }
        let found = try connection.samples.scan(.start, of: series, from: first, through: last, among: rows)
        var (index, others) = (0, 0)
        while try found.next() {
            let start = found.start
            while index + 1 < starts.count, starts[index + 1] <= start { (index, others) = (index + 1, 0) }
            guard index + 1 < starts.count else { break }
            others += 1
            guard others > Self.timeout else { continue }
            (index, others) = (index + 1, 0)
            cut(at: index)
            try found.seek(series, from: starts[index], through: last)
        }
        cut(at: starts.count)
        return cuts
    }
}
