extension Connection {
    /// Returns SQL for the lower bound of a range of `start`, raised to the first start in the series that a restricted
    /// connection may read.
    ///
    /// SQLite seeks only one lower bound of a range and compares the other with each row. Without this function, a
    /// range that begins earlier would be scanned, and the time for it would reveal how much is hidden there. The range
    /// is empty if the series may not be read.
    ///
    /// - Parameters:
    ///   - bound: SQL of the requested bound.
    ///   - series: SQL of the series' id.
    func firstStart(from bound: String = "?2", of series: String = "?1") -> String {
        guard isRestricted else { return bound }
        return "max(\(bound), ifnull((SELECT min(since) FROM readable WHERE id = \(series)), \(Int64.max)))"
    }
}
