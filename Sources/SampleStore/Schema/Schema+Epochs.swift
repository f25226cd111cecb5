extension Schema {
    /// - `epoch`: the history of the change log: from which number on whose writing made it. Each process that writes has a token of its own, drawn
    ///   at random, and is entered with its first change; what was there before has the first.
    static let epochs = """
        CREATE TABLE epoch(token TEXT PRIMARY KEY, first_seq INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO epoch VALUES(lower(hex(randomblob(8))), 0);
        """
}
