extension Schema {
    /// - `context.resolution`: the resolution of the times, in seconds. `series.coarsest` is the coarsest one of any of its samples.
    /// - `witness`: readings of the same measurement as a sample that arrived first over another path. These are whole rows, so that
    ///   nothing is lost, with the sample (`of_…`), the rule, and the ingest that brought them. `stands_in` is 1 if the witness became a
    ///   sample because the original was undone. `withdrawn` is the ingest that undid the witness itself. A later step turns this table
    ///   into a view (``decisions``).
    /// - `link`: samples of two devices that agree. Both are kept, and statistics count one.
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
}
