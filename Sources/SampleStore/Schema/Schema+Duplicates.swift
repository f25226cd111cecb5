extension Schema {
    /// The facts that the duplicates of one import over one path share. They are stored once, so that the rows stay small, with few enough
    /// columns for SQLite's fast comparison of keys.
    ///
    /// - `ingest`: the import that brought the duplicates.
    /// - `of_series`: the series of the original samples.
    /// - `rule`: the rule that recognized them.
    /// - `merge`: the merge that recognized them, or NULL if the import did.
    static let decision = """
        CREATE TABLE decision(
            id INTEGER PRIMARY KEY, ingest INTEGER NOT NULL, of_series INTEGER NOT NULL, rule TEXT NOT NULL, merge INTEGER);
        CREATE INDEX decision_by_ingest ON decision(ingest, of_series, rule);
        """

    /// A duplicate: a reading of the same measurement as a sample (`of_…`) that arrived first over another path. It is a whole row, so that
    /// nothing is lost. Duplicates that start within seconds of their sample are found among the rows of their series. Only the others need
    /// an index.
    static let duplicateRow = """
        CREATE TABLE witness_row(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, value REAL NOT NULL, numeral TEXT,
            context INTEGER NOT NULL, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER, decision INTEGER NOT NULL,
            of_start INTEGER NOT NULL, of_hash BLOB NOT NULL,
            PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
        CREATE INDEX witness_far ON witness_row(series, of_start, of_hash) WHERE start - of_start NOT BETWEEN -5000000 AND 5000000;
        """

    /// A duplicate with its decision and its computed state.
    ///
    /// - `stands_in`: it is a sample now.
    /// - `withdrawn`: its import is undone.
    /// - `parted`: its merge is undone.
    static let duplicate = """
        CREATE VIEW witness AS
            SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata, ingest, of_series, of_start, of_hash,
                rule, merge, decision,
                EXISTS(SELECT 1 FROM sample AS s WHERE (s.series, s.start, s.hash) = (witness_row.series, witness_row.start, witness_row.hash))
                    AS stands_in,
                EXISTS(SELECT 1 FROM ingest AS i WHERE i.id = decision.ingest AND i.state = 'undone') AS withdrawn,
                EXISTS(SELECT 1 FROM ingest AS i WHERE i.id = decision.merge AND i.state = 'undone') AS parted
            FROM witness_row CROSS JOIN decision ON decision.id = witness_row.decision;
        """

    /// Two samples of two devices that agree. Both are kept, and statistics count one.
    static let link = """
        CREATE TABLE link(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, of_series INTEGER NOT NULL, of_start INTEGER NOT NULL,
            of_hash BLOB NOT NULL, rule TEXT NOT NULL, ingest INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash, of_series, of_start, of_hash)) WITHOUT ROWID;
        CREATE INDEX link_of ON link(of_series, of_start, of_hash);
        """
}
