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

    /// A change of an alert's state, for a week.
    ///
    /// - `kind`: `began` or `ended`.
    /// - `time`: the start of the reading that changed the state, or when a reading had been missing for the hours of the alert.
    /// - `noticed`: when the check found it.
    static let alertEvent = """
        CREATE TABLE alert_event(
            id INTEGER PRIMARY KEY AUTOINCREMENT, alert INTEGER NOT NULL, subject TEXT NOT NULL, kind TEXT NOT NULL,
            time INTEGER NOT NULL, noticed INTEGER NOT NULL);
        """

    /// A receiver of alerts, by its name in the configuration.
    ///
    /// - `delivered`: the last event that it has.
    /// - `failing`: since when deliveries fail, with the last error in `words`. NULL if they do not.
    static let alertReceiver = """
        CREATE TABLE alert_receiver(
            name TEXT PRIMARY KEY, delivered INTEGER NOT NULL, failing INTEGER, words TEXT) WITHOUT ROWID;
        """
}
