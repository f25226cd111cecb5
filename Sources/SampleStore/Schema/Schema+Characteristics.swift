extension Schema {
    /// - `characteristic`: each word on what is so of a person (``CharacteristicEntry``): from which day on it holds, when it was said, and the ingest
    ///   that brought it, NULL where a person said it by command. `value` is NULL where that was that nothing is known; `said` and `holds_from` are NULL
    ///   where an export does not tell when it was made. What an undone ingest brought counts no more.
    static let characteristics = """
        CREATE TABLE characteristic(
            id INTEGER PRIMARY KEY, subject TEXT NOT NULL, type TEXT NOT NULL, value TEXT, holds_from TEXT, said INTEGER,
            ingest INTEGER);
        CREATE INDEX characteristic_by_subject ON characteristic(subject, type);
        CREATE INDEX characteristic_by_ingest ON characteristic(ingest) WHERE ingest IS NOT NULL;
        """
}
