extension Schema {
    /// A repair that was applied, with its conditions as JSON and its counts. `ingest` is its entry in the ledger and `undone_by` the entry
    /// that undid it. `joined` counts the pairs of a repaired sample and another path's sample that became one measurement, and the
    /// samples that were replaced by another version of their record.
    static let repairID = """
        CREATE TABLE migration(
            id INTEGER PRIMARY KEY, ingest INTEGER NOT NULL, repair TEXT NOT NULL, conditions TEXT NOT NULL, source TEXT,
            applied INTEGER NOT NULL, state TEXT NOT NULL, undone INTEGER, undone_by INTEGER, matched INTEGER NOT NULL,
            repaired INTEGER NOT NULL, merged INTEGER NOT NULL, already_right INTEGER NOT NULL, ambiguous INTEGER NOT NULL,
            impossible INTEGER NOT NULL, joined INTEGER NOT NULL DEFAULT 0);
        """

    /// A repaired sample and the one it replaced (`old_…`), even if the repair was undone. `merged` is 1 if the new sample already existed
    /// because the same reading had been read correctly.
    static let repaired = """
        CREATE TABLE repaired(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, old_series INTEGER NOT NULL, old_start INTEGER NOT NULL,
            old_hash BLOB NOT NULL, migration INTEGER NOT NULL, merged INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash, old_series, old_start, old_hash)) WITHOUT ROWID;
        CREATE INDEX repaired_by_old ON repaired(old_series, old_start, old_hash);
        """

    /// Readings of a series, by the starts of the first and the last, that a person declared right although they fit the unit `fits` better.
    static let dismissed = """
        CREATE TABLE dismissed(
            series INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL, fits TEXT NOT NULL,
            PRIMARY KEY(series, low, high, fits)) WITHOUT ROWID;
        """

    /// The identity that a repaired reading would have had if it had been read correctly from the beginning. If a corrected profile or app
    /// delivers the reading again, it is a duplicate. The repaired sample (`form_…`) has the same series.
    static let readingAlias = """
        CREATE TABLE reading_alias(
            series INTEGER NOT NULL, nominal INTEGER NOT NULL, hash BLOB NOT NULL, migration INTEGER NOT NULL,
            form_start INTEGER NOT NULL, form_hash BLOB NOT NULL, PRIMARY KEY(series, nominal, hash)) WITHOUT ROWID;
        """
}
