extension Schema {
    /// - `series.kind`: the kind of its objects (``SampleKind``). Before this step all were quantities.
    static let kinds = """
        ALTER TABLE series ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
        """
}
