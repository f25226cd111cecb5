extension Schema {
    /// - `epoch`: the history of the change log. `first_seq` is the number of the first change that the process with this token wrote. Each
    ///   writing process has a random token, which is stored with its first change. Changes from before this step belong to the first
    ///   token.
    static let epochs = """
        CREATE TABLE epoch(token TEXT PRIMARY KEY, first_seq INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO epoch VALUES(lower(hex(randomblob(8))), 0);
        """
}
