extension Schema {
    /// - `pending`: samples that a deletion or an undo removes (`comes` is 0) or restores (1) in several transactions. The setting
    ///   `pending` is the entry in the ledger. It is negative until all of them take effect at the same moment (Decisions/0042).
    static let pending = """
        CREATE TABLE pending(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, comes INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
        """
}
