extension Schema {
    /// - `context.ordinal`: the position of the samples among the equal readings of a frame. NULL if their identity does not depend on it,
    ///   and in rows from before this step.
    static let ordinals = """
        ALTER TABLE context ADD COLUMN ordinal INTEGER;
        """
}
