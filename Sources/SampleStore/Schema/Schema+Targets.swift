extension Schema {
    /// - `target`: how far each target has come in the change log, by name; counts are of all time.
    /// - `set_aside`: what a target did not take, with its words; `seq` is the change's.
    static let targets = """
        CREATE TABLE target(
            name TEXT PRIMARY KEY,
            anchor TEXT NOT NULL,
            delivered INTEGER NOT NULL DEFAULT 0,
            left_out INTEGER NOT NULL DEFAULT 0,
            state TEXT NOT NULL,
            words TEXT,
            changed INTEGER NOT NULL,
            filter TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE set_aside(
            target TEXT NOT NULL,
            seq INTEGER NOT NULL,
            uuid TEXT NOT NULL,
            words TEXT NOT NULL,
            time INTEGER NOT NULL,
            PRIMARY KEY(target, seq)
        ) WITHOUT ROWID;
        """
}
