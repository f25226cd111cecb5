/// The change log: which series and stretch of time a commit touched. Additions and deletions share one sequence of numbers.
struct ChangeLog {
    let connection: Connection
    /// What makes the change.
    let cause: Int64

    /// Small neighbouring entries of one ingest are joined up to this many numbers, so that a sensor that commits every second does
    /// not write an entry every second; an anchored read scans at most this much twice.
    private static let joined: Int64 = 4096

    /// - Parameter ingest: what brought the samples; of restored ones the ingest that they came with.
    func add(
        series: Int64, seqs: ClosedRange<Int64>, low: Int64, high: Int64, deletion: Bool, ingest: Int64
    ) throws(StoreError) {
        if seqs.count < 256 {
            try connection.run(
                """
                UPDATE change SET last_seq = ?2, low = min(low, ?3), high = max(high, ?4)
                WHERE series = ?1 AND first_seq = (SELECT max(first_seq) FROM change WHERE series = ?1)
                    AND deletion = ?5 AND ingest = ?6 AND cause = ?7 AND ?2 - first_seq < \(Self.joined)
                """,
                .integer(series), .integer(seqs.upperBound), .integer(low), .integer(high), .integer(deletion ? 1 : 0),
                .integer(ingest), .integer(cause))
            if connection.changes > 0 { return }
        }
        try insert(series: series, seqs: seqs, low: low, high: high, deletion: deletion, ingest: ingest)
    }

    /// An entry of its own. Numbers of two entries may lie between one another where a sample goes and another comes in its place.
    func insert(
        series: Int64, seqs: ClosedRange<Int64>, low: Int64, high: Int64, deletion: Bool, ingest: Int64
    ) throws(StoreError) {
        try connection.run(
            "INSERT INTO change(series, first_seq, last_seq, deletion, low, high, ingest, cause) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            .integer(series), .integer(seqs.lowerBound), .integer(seqs.upperBound), .integer(deletion ? 1 : 0), .integer(low),
            .integer(high), .integer(ingest), .integer(cause))
    }
}
