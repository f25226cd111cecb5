extension Schema {
    /// - `context.ordinal`: which of the equal readings of a frame its samples are; NULL where their identity comes from something else, and in
    ///   rows of before.
    static let ordinals = """
        ALTER TABLE context ADD COLUMN ordinal INTEGER;
        """
}
