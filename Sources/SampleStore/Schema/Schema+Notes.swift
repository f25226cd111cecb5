extension Schema {
    /// A note of a person on a day.
    ///
    /// - `day`: the date in the person's calendar, such as `2026-11-20`.
    /// - `tags`: separated by line feeds.
    static let annotation = """
        CREATE TABLE annotation(
            id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, day TEXT NOT NULL, tags TEXT NOT NULL, note TEXT NOT NULL);
        CREATE INDEX annotation_by_day ON annotation(subject, day);
        """

    /// A person's target for each day or week (`span`) of a type, in the type's canonical unit.
    static let goal = """
        CREATE TABLE goal(
            subject TEXT NOT NULL, type TEXT NOT NULL, span TEXT NOT NULL, value REAL NOT NULL,
            PRIMARY KEY(subject, type)) WITHOUT ROWID;
        """

    /// A condition on a person's readings of a type.
    ///
    /// - `condition`: `above`, `below`, or `missing`.
    /// - `bound`: in the type's canonical unit, or the hours without a reading.
    /// - `made`: when it was added. Earlier readings raise no alert.
    /// - `checked`: the start of the last reading that was checked. NULL if there was none.
    /// - `raised`: since when the condition is met. NULL if it is not met.
    static let alert = """
        CREATE TABLE alert(
            id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, type TEXT NOT NULL, condition TEXT NOT NULL,
            bound REAL NOT NULL, made INTEGER NOT NULL, checked INTEGER, raised INTEGER);
        """
}
