extension Schema {
    /// - `characteristic`: each recorded value of a person's characteristic (``CharacteristicEntry``). It contains the day from which the
    ///   value is valid, the time when it was recorded, and the ingest that brought it. `ingest` is NULL if it was set by a command.
    ///   `value` is NULL if the characteristic was set to unknown. `said` and `holds_from` are NULL if an export does not contain its own
    ///   date. Entries of an undone ingest no longer count.
    static let characteristics = """
        CREATE TABLE characteristic(
            id INTEGER PRIMARY KEY, subject TEXT NOT NULL, type TEXT NOT NULL, value TEXT, holds_from TEXT, said INTEGER,
            ingest INTEGER);
        CREATE INDEX characteristic_by_subject ON characteristic(subject, type);
        CREATE INDEX characteristic_by_ingest ON characteristic(ingest) WHERE ingest IS NOT NULL;
        """
}
