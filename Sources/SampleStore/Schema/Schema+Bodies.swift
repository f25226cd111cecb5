extension Schema {
    /// - `body`: what objects tell beyond a number (``SampleBody``), each once; `digest` finds it again.
    /// - `context.body`: the body of its sample, which shares the context with no other but one that tells the same; NULL where there is none.
    ///   Wherever a row goes, among the deleted, the held, the witnesses, its body goes along.
    static let bodies = """
        CREATE TABLE body(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, octets BLOB NOT NULL);
        ALTER TABLE context ADD COLUMN body INTEGER;
        CREATE INDEX context_by_body ON context(body) WHERE body IS NOT NULL;
        """
}
