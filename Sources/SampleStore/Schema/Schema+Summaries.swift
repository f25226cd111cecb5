extension Schema {
    /// - `summary`: ten minutes of a dense series from `start` on: the number of samples, the lowest and highest value, the sum and weight
    ///   of the average, and the last sample. Summaries are made after the samples are written and removed by a change that touches them,
    ///   so existing rows are correct. Sums depend on the type's aggregation. A schema step that changes the aggregation of a type must
    ///   empty both tables.
    /// - `summarized`: the time up to which summaries were computed.
    static let summaries = """
        CREATE TABLE summary(
            series INTEGER NOT NULL, start INTEGER NOT NULL, count INTEGER NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
            sum REAL NOT NULL, weight REAL NOT NULL, latest INTEGER NOT NULL, last REAL NOT NULL,
            PRIMARY KEY(series, start)) WITHOUT ROWID;
        CREATE TABLE summarized(series INTEGER PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
        """
}
