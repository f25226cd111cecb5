extension Schema {
    /// - `summary`: what ten minutes of a dense series come to, from `start` on: how many samples, the lowest and highest value, the sum and weight of the
    ///   average, and the last sample. Made behind what is written, and gone with a change that touches it: what is there is right. Sums go by the type's
    ///   aggregation: a step that gives a type another one empties both tables.
    /// - `summarized`: up to where that was looked at.
    static let summaries = """
        CREATE TABLE summary(
            series INTEGER NOT NULL, start INTEGER NOT NULL, count INTEGER NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
            sum REAL NOT NULL, weight REAL NOT NULL, latest INTEGER NOT NULL, last REAL NOT NULL,
            PRIMARY KEY(series, start)) WITHOUT ROWID;
        CREATE TABLE summarized(series INTEGER PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
        """
}
