extension Schema {
    /// What was held lasted, too, when it became a sample.
    static let lengths = """
        UPDATE series SET longest = max(longest, coalesce((SELECT max(duration) FROM quarantine
            WHERE quarantine.series = series.id AND state IN ('accepted', 'released')), 0));
        """
}
