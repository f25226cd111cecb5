extension Schema {
    /// - `target`: how far each target has come in the change log, by name. `anchor` is the last change that it has; `backlog` the same of what
    ///   was there before it began, up to the number `backlog_end`. Counts are of all time.
    /// - `set_aside`: what a target did not take, with its words; `seq` is the change's, `retry` whether it is to be told again.
    /// - `setting` has the store's name among many, by which a target that many feed tells them apart. A copy has the same.
    static let targets = """
        INSERT OR IGNORE INTO setting VALUES('store', lower(hex(randomblob(16))));
        CREATE TABLE target(
            name TEXT PRIMARY KEY,
            anchor TEXT NOT NULL,
            backlog TEXT,
            backlog_end INTEGER,
            delivered INTEGER NOT NULL,
            left_out INTEGER NOT NULL,
            state TEXT NOT NULL,
            words TEXT,
            changed INTEGER NOT NULL,
            filter TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE set_aside(
            target TEXT NOT NULL,
            uuid TEXT NOT NULL,
            seq INTEGER NOT NULL,
            words TEXT NOT NULL,
            time INTEGER NOT NULL,
            retry INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(target, uuid)
        ) WITHOUT ROWID;
        """
}
