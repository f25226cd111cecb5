import HealthModel

/// Statistics look as far back as the longest sample of a series, and the search for near-duplicates reads no durations where none lasts.
extension Connection {
    /// Notes that a series has a sample that lasts so long, in microseconds: whoever stores one does.
    func lengthen(series: Int64, to duration: Int64) throws(StoreError) {
        guard duration > 0 else { return }
        try run("UPDATE series SET longest = ?2 WHERE id = ?1 AND longest < ?2", .integer(series), .integer(duration))
    }
}
