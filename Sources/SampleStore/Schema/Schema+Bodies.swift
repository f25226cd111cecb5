extension Schema {
    /// - `body`: the contents of objects beyond a number (``SampleBody``), each stored once. `digest` is used to find an existing one.
    /// - `context.body`: the body of the context's samples, NULL if there is none. Samples share a context only if their bodies are equal.
    ///   A body therefore follows its row into the tables of tombstones, quarantined readings, and witnesses.
    static let bodies = """
        CREATE TABLE body(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, octets BLOB NOT NULL);
        ALTER TABLE context ADD COLUMN body INTEGER;
        CREATE INDEX context_by_body ON context(body) WHERE body IS NOT NULL;
        """
}
