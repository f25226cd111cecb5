import HealthModel

/// The longest duration of a series. Statistics look back by this duration, and the search for near-duplicates skips durations if it is
/// zero.
extension Connection {
    /// Records the duration of a sample in microseconds. This must be called for each stored sample that has a duration.
    func lengthen(series: Int64, to duration: Int64) throws(StoreError) {
        guard duration > 0 else { return }
        try run("UPDATE series SET longest = ?2 WHERE id = ?1 AND longest < ?2", .integer(series), .integer(duration))
    }
}
