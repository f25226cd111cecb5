extension Schema {
    /// - `series.kind`: what its objects are, ``SampleKind``; all were quantities before.
    static let kinds = """
        ALTER TABLE series ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
        """
}
