extension Schema {
    /// An entry of the change log: the series and time range that a commit touched, and its ingest. Readers read the entries by their first
    /// numbers. `deletion` is 1 for deleted samples and 2 for permanently removed ones.
    static let change = """
        CREATE TABLE change(
            series INTEGER NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL, deletion INTEGER NOT NULL,
            low INTEGER NOT NULL, high INTEGER NOT NULL, ingest INTEGER NOT NULL, cause INTEGER NOT NULL,
            PRIMARY KEY(series, first_seq)) WITHOUT ROWID;
        CREATE INDEX change_by_first ON change(first_seq);
        """

    /// A range in the history of the change log, from the first change that a process wrote. Each writing process has a random token, which
    /// is stored with its first change.
    static let epoch = """
        CREATE TABLE epoch(token TEXT PRIMARY KEY, first_seq INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// The highest number of a permanently removed change that a viewer could read. A viewer is a client, by the id of its source, or a
    /// person. A reader of changes that has not reached this number must start again. The number does not depend on data that only others
    /// can read.
    static let lost = """
        CREATE TABLE lost(viewer TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// The progress of a target in the change log, by name (``Target``).
    ///
    /// - `anchor`: the last change that it has.
    /// - `backlog`: the same for changes from before the target was added, up to the number `backlog_end`.
    /// - `delivered`, `left_out`: total counts.
    /// - `identity`, `count`, `shape`, `rewriting`: the state by which the target is recognized: its own identity, the number of the last
    ///   delivery that it acknowledged, the settings under which its contents were written, and whether they are being rewritten.
    static let target = """
        CREATE TABLE target(
            name TEXT PRIMARY KEY, anchor TEXT NOT NULL, backlog TEXT, backlog_end INTEGER, delivered INTEGER NOT NULL,
            left_out INTEGER NOT NULL, state TEXT NOT NULL, words TEXT, changed INTEGER NOT NULL, filter TEXT NOT NULL, identity TEXT,
            count INTEGER NOT NULL DEFAULT 0, shape TEXT, rewriting INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
        """

    /// A sample that a target rejected, with its message. `seq` is the number of the change and `retry` whether it is to be sent again.
    static let setAside = """
        CREATE TABLE set_aside(
            target TEXT NOT NULL, uuid TEXT NOT NULL, seq INTEGER NOT NULL, words TEXT NOT NULL, time INTEGER NOT NULL,
            retry INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(target, uuid)) WITHOUT ROWID;
        """
}
