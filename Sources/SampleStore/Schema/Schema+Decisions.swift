extension Schema {
    /// Most facts about a witness are the same for all witnesses that an ingest brought over one path. They are stored once, in `decision`,
    /// and the rows refer to it. The rows stay small, with few enough columns for SQLite's fast comparison of keys.
    ///
    /// - `decision`: the facts that such witnesses share. A witness that changes alone moves to another decision.
    /// - `witness_row`: the rows. Its index covers those far from their original.
    /// - `witness`: a view of the rows together with their decisions.
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
