extension Schema {
    /// - `context.resolution`: what times were cut to, in seconds; `series.coarsest`: the coarsest of any of its samples.
    /// - `witness`: readings that are the same measurement as a sample that came first over another path: whole rows, so that nothing is
    ///   lost, with the sample (`of_…`), the rule, and the ingest that brought them. `stands_in` is 1 where the witness became a sample
    ///   because the first was taken back; `withdrawn` is the ingest that took the witness itself back. Later a view (``decisions``).
    /// - `link`: samples of two devices that agree; both are kept, and statistics count one.
    static let duplicates = """
        ALTER TABLE context ADD COLUMN resolution INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE series ADD COLUMN coarsest INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE ingest ADD COLUMN witnesses INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE ingest ADD COLUMN linked INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE witness(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, value REAL NOT NULL, numeral TEXT,
            context INTEGER NOT NULL, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER, ingest INTEGER NOT NULL,
            of_series INTEGER NOT NULL, of_start INTEGER NOT NULL, of_hash BLOB NOT NULL, rule TEXT NOT NULL,
            stands_in INTEGER NOT NULL DEFAULT 0, withdrawn INTEGER,
            PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
        CREATE INDEX witness_of ON witness(of_series, of_start, of_hash);
        CREATE TABLE link(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, of_series INTEGER NOT NULL, of_start INTEGER NOT NULL,
            of_hash BLOB NOT NULL, rule TEXT NOT NULL, ingest INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash, of_series, of_start, of_hash)) WITHOUT ROWID;
        CREATE INDEX link_of ON link(of_series, of_start, of_hash);
        """

    /// Those of a sample that start within seconds of it are found among their series' rows; only the others need an index.
    static let farWitnesses = """
        CREATE INDEX witness_far ON witness(of_series, of_start, of_hash) WHERE start - of_start NOT BETWEEN -5000000 AND 5000000;
        DROP INDEX witness_of;
        """

    /// Most of how a witness came to be one is the same for all that an ingest brought over one path: it is kept once, and the rows lead
    /// there. That leaves them small, and few enough of columns for SQLite's quick comparison of keys.
    ///
    /// - `decision`: what such witnesses share. One that changes alone goes over to another decision.
    /// - `witness_row`: the rows. Its index is of those far from their first.
    /// - `witness`: the same rows as they are read, with what was decided.
    static let decisions = """
        CREATE TABLE decision(
            id INTEGER PRIMARY KEY, ingest INTEGER NOT NULL, of_series INTEGER NOT NULL, rule TEXT NOT NULL,
            stands_in INTEGER NOT NULL DEFAULT 0, withdrawn INTEGER);
        CREATE INDEX decision_by_ingest ON decision(ingest, of_series, rule);
        INSERT INTO decision(ingest, of_series, rule, stands_in, withdrawn)
            SELECT DISTINCT ingest, of_series, rule, stands_in, withdrawn FROM witness;
        ALTER TABLE witness RENAME TO whole_witness;
        CREATE TABLE witness_row(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, value REAL NOT NULL, numeral TEXT,
            context INTEGER NOT NULL, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER, decision INTEGER NOT NULL,
            of_start INTEGER NOT NULL, of_hash BLOB NOT NULL,
            PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
        INSERT INTO witness_row
            SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata, decision.id, of_start, of_hash
            FROM whole_witness AS whole CROSS JOIN decision ON decision.ingest = whole.ingest AND decision.of_series = whole.of_series
                AND decision.rule = whole.rule AND decision.stands_in = whole.stands_in AND decision.withdrawn IS whole.withdrawn
            ORDER BY series, start, hash;
        DROP TABLE whole_witness;
        CREATE INDEX witness_far ON witness_row(series, of_start, of_hash) WHERE start - of_start NOT BETWEEN -5000000 AND 5000000;
        CREATE VIEW witness AS
            SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata, ingest, of_series, of_start, of_hash,
                rule, stands_in, withdrawn, decision
            FROM witness_row CROSS JOIN decision ON decision.id = witness_row.decision;
        """
}
