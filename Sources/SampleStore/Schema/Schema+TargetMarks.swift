extension Schema {
    /// What a target is known by: its own identity, the number of the last delivery that it acknowledged, the settings that shaped what is there, and
    /// whether that is written anew.
    static let targetMarks = """
        ALTER TABLE target ADD COLUMN identity TEXT;
        ALTER TABLE target ADD COLUMN count INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE target ADD COLUMN shape TEXT;
        ALTER TABLE target ADD COLUMN rewriting INTEGER NOT NULL DEFAULT 0;
        """
}
