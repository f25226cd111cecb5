extension Schema {
    /// The state by which a target is recognized: its own identity, the number of the last delivery that it acknowledged, the settings
    /// under which its contents were written, and whether they are being rewritten.
    static let targetMarks = """
        ALTER TABLE target ADD COLUMN identity TEXT;
        ALTER TABLE target ADD COLUMN count INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE target ADD COLUMN shape TEXT;
        ALTER TABLE target ADD COLUMN rewriting INTEGER NOT NULL DEFAULT 0;
        """
}
