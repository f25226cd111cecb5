extension Schema {
    /// An entry of the ledger: an import, a command, or another cause of changes, with its counts. `undoes` is the entry that it undoes.
    /// `of_member` is 1 for a file that a member of the household uploaded.
    static let ingest = """
        CREATE TABLE ingest(
            id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT, profile TEXT, zone TEXT, received INTEGER NOT NULL,
            finished INTEGER, state TEXT NOT NULL, owner TEXT, stored INTEGER NOT NULL DEFAULT 0, duplicate INTEGER NOT NULL DEFAULT 0,
            quarantined INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0,
            restored INTEGER NOT NULL DEFAULT 0, undoes INTEGER, notes TEXT, witnesses INTEGER NOT NULL DEFAULT 0,
            linked INTEGER NOT NULL DEFAULT 0, of_member INTEGER NOT NULL DEFAULT 0);
        """

    /// How many objects of a kind an ingest skipped.
    static let skipped = """
        CREATE TABLE skipped(
            ingest INTEGER NOT NULL, kind TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(ingest, kind)) WITHOUT ROWID;
        """

    /// A place of an ingest's input whose readings were refused, with the reason and their number.
    static let refused = """
        CREATE TABLE refused(
            ingest INTEGER NOT NULL, reason TEXT NOT NULL, place_kind TEXT NOT NULL, place INTEGER NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY(ingest, place_kind, place, reason)) WITHOUT ROWID;
        """

    /// A quarantined reading as a whole row, with the rule that caught it and its place in the input. `state` is computed from
    /// ``quarantineDecision``. `frame` contains the received data for the person who reviews it.
    static let quarantine = """
        CREATE TABLE quarantine(
            id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, ingest INTEGER NOT NULL, rule TEXT NOT NULL, place TEXT NOT NULL,
            state TEXT NOT NULL, series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, value REAL NOT NULL,
            numeral TEXT, context INTEGER NOT NULL, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER,
            record TEXT, version INTEGER, frame TEXT);
        CREATE INDEX quarantine_by_series ON quarantine(series, hash);
        CREATE INDEX quarantine_by_rule ON quarantine(rule) WHERE state = 'held';
        """

    /// The number of quarantined readings that are not judged, by series and rule. Triggers keep it, because counting the rows of
    /// ``quarantine`` would take as long as somebody makes their number.
    static let quarantinedCount = """
        CREATE TABLE held_count(
            series INTEGER NOT NULL, rule TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(series, rule)) WITHOUT ROWID;
        \(countHeld("INSERT", "new"))
        \(countHeld("DELETE", "old"))
        \(countHeld("UPDATE OF state, rule, series", "new"))
        \(countHeld("UPDATE OF state, rule, series", "old"))
        """

    /// A trigger that counts a row of ``quarantine`` as it is after a change (`new`), or as it was before (`old`).
    private static func countHeld(_ change: String, _ row: String) -> String {
        let name = "held_\(change.prefix { $0 != " " }.lowercased())_\(row)"
        let count =
            row == "new"
            ? "INSERT INTO held_count VALUES(new.series, new.rule, 1) ON CONFLICT DO UPDATE SET count = count + 1"
            : """
            UPDATE held_count SET count = count - 1 WHERE series = old.series AND rule = old.rule;
                DELETE FROM held_count WHERE series = old.series AND rule = old.rule AND count = 0
            """
        return "CREATE TRIGGER \(name) AFTER \(change) ON quarantine WHEN \(row).state = 'held' BEGIN \(count); END;"
    }

    /// The decision of an entry of the ledger that a quarantined reading (`quarantined`) was `accepted`, `rejected`, or `released`.
    static let quarantineDecision = """
        CREATE TABLE judgement(
            held INTEGER NOT NULL, ingest INTEGER NOT NULL, what TEXT NOT NULL, PRIMARY KEY(held, ingest)) WITHOUT ROWID;
        """

    /// The decision of an entry of the ledger that a sample is deleted (`description` is 1) or restored (2). The live samples are computed from
    /// reports and decisions.
    static let decided = """
        CREATE TABLE decided(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, ingest INTEGER NOT NULL, what INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash, ingest)) WITHOUT ROWID;
        """

    /// A sample that a deletion or an undo removes (`comes` is 0) or restores (1) in several transactions. The setting `pending` is the
    /// entry in the ledger. It is negative until all of them take effect at the same moment (Decisions/0042).
    static let pending = """
        CREATE TABLE pending(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, comes INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
        """
}
