extension Schema {
    /// - `target`: the progress of each target in the change log, by name. `anchor` is the last change that it has. `backlog` is the same
    ///   for changes from before the target was added, up to the number `backlog_end`. The counts are totals.
    /// - `set_aside`: the samples that a target rejected, with its message. `seq` is the number of the change and `retry` whether it is to
    ///   be sent again.
    /// - `setting`: the identifier of the store, by which a target distinguishes the stores that feed it. A copy of the store has the same
    ///   identifier.
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
