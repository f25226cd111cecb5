extension Connection {
    /// The SQL of a range's lower bound of `start`, raised to the first start that a restricted connection may read of the series. SQLite seeks one
    /// lower bound of a range and compares another with each row, so without this a range that begins earlier would be walked over, and the time
    /// that takes would tell how much is hidden there. A series that may not be read has an empty range.
    ///
    /// - Parameters:
    ///   - bound: SQL of the bound that is asked for.
    ///   - series: SQL of the series' id.
    func firstStart(from bound: String = "?2", of series: String = "?1") -> String {
        guard isRestricted else { return bound }
        return "max(\(bound), ifnull((SELECT min(since) FROM readable WHERE id = \(series)), \(Int64.max)))"
    }
}
