extension Schema {
    /// Includes accepted and released quarantined readings in the longest duration of their series.
    static let lengths = """
        UPDATE series SET longest = max(longest, coalesce((SELECT max(duration) FROM quarantine
            WHERE quarantine.series = series.id AND state IN ('accepted', 'released')), 0));
        """
}
