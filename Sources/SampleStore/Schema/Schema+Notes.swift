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
    /// - `device`: the address of the adopted device whose readings are missing. NULL for readings of any source.
    /// - `margin`, `lasting`, `hold`: how the alert begins and ends (``AlertTiming``). Times are in microseconds.
    /// - `made`: when it was added. Readings from before raise no alert.
    /// - `seq`: the last change that was judged.
    /// - `quarantined`: the last quarantined reading that was judged.
    /// - `reading`: the UUID of the reading that decides the state, with its time in `checked`. NULL if there was none, or if its time is
    ///   not known.
    /// - `within`: whether that reading ends the alert.
    /// - `since`, `last`: the first and the last reading beyond the limit without one within it in between.
    /// - `raised`: since when the alert is raised. NULL if it is not.
    /// - `acknowledged`: when a person acknowledged the raised alert.
    static let alert = """
        CREATE TABLE alert(
            id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, type TEXT NOT NULL, condition TEXT NOT NULL,
            bound REAL NOT NULL, device TEXT, margin REAL NOT NULL, lasting INTEGER NOT NULL, hold INTEGER NOT NULL, made INTEGER NOT NULL,
            seq INTEGER NOT NULL, held INTEGER NOT NULL, reading TEXT, checked INTEGER, within INTEGER NOT NULL DEFAULT 1, since INTEGER, last INTEGER,
            raised INTEGER, acknowledged INTEGER);
        """

    /// A change of an alert's state: the history of a person's alerts.
    ///
    /// - `kind`: `began` or `ended`.
    /// - `time`: the start of the reading that changed the state, or when a reading had been missing for the hours of the alert.
    /// - `noticed`: when the check found it.
    /// - `late`: whether the reading arrived late.
    /// - `doubtful`: whether the reading is implausible and quarantined.
    /// - `acknowledged`: when a person acknowledged the beginning.
    static let alertEvent = """
        CREATE TABLE alert_event(
            id INTEGER PRIMARY KEY AUTOINCREMENT, alert INTEGER NOT NULL, subject TEXT NOT NULL, kind TEXT NOT NULL,
            time INTEGER NOT NULL, noticed INTEGER NOT NULL, late INTEGER NOT NULL, doubtful INTEGER NOT NULL,
            acknowledged INTEGER);
        CREATE INDEX alert_event_by_subject ON alert_event(subject, id);
        """

    /// A receiver that acknowledged the message for an event, or the summary that contained it.
    static let alertDelivery = """
        CREATE TABLE alert_delivery(
            event INTEGER NOT NULL, receiver TEXT NOT NULL, subject TEXT NOT NULL, time INTEGER NOT NULL,
            PRIMARY KEY(event, receiver)) WITHOUT ROWID;
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
