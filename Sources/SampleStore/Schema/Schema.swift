/// The store's tables, as named steps that are only ever added to: a store of any earlier version is brought up by the steps it lacks.
enum Schema {
    /// "VGAT", SQLite's application id of a store of ours.
    static let applicationID: Int64 = 0x5647_4154
    static var version: Int64 { Int64(steps.count) }

    static let steps: [(name: String, sql: String)] = [
        ("samples", samples), ("devices", devices), ("repairs", repairs), ("duplicates", duplicates), ("judgements", judgements),
        ("persons", persons), ("far witnesses", farWitnesses), ("lengths", lengths), ("decisions", decisions), ("feed", feed),
        ("epochs", epochs), ("counter", counter), ("own keys", ownKeys),
        ("ordinals", ordinals),
    ]

    /// - `series`: whose, what, from where: what identity is keyed with; `longest` is the longest duration any of its samples ever had.
    /// - `origin`: what may change while a series goes on: versions, the device's description.
    /// - `context`: what neighbouring samples share: origin, unit as received, zone, where the time came from, and `skew`, by how many
    ///   microseconds the nominal start (of which the UUID is made) is ahead of `start`.
    /// - `sample`: keyed by series, start and the hash's 74 bits, so that the UUID needs no index. `numeral` is NULL where the shortest
    ///   decimal text of `value` is the numeral as received; `duration`, `received` (after `start`; NULL: with the ingest, or at `start`
    ///   where the hub's clock gave the time), `grp` and `metadata` are NULL where there is none.
    /// - `deleted`: the tombstones, whole rows, so that `restore` gives back the very same sample.
    /// - `place`: from nominal start and hash to start, only for samples with a skew.
    /// - `record`: the versions of a record that has its maker's id; one of them at most is live.
    /// - `change`: the change log at the grain of a commit: which series and stretch of time it touched, by which ingest.
    static let samples = """
        CREATE TABLE setting(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
        CREATE TABLE series(
            id INTEGER PRIMARY KEY, subject TEXT NOT NULL, type TEXT NOT NULL, source TEXT NOT NULL, device TEXT NOT NULL,
            longest INTEGER NOT NULL DEFAULT 0,
            UNIQUE(type, subject, source, device));
        CREATE TABLE origin(
            id INTEGER PRIMARY KEY, source_name TEXT NOT NULL, source_version TEXT, device_name TEXT, manufacturer TEXT, model TEXT,
            serial TEXT, hardware TEXT, firmware TEXT, software TEXT, udi TEXT);
        CREATE TABLE context(
            id INTEGER PRIMARY KEY, origin INTEGER NOT NULL REFERENCES origin, unit TEXT NOT NULL, molar_mass REAL, zone INTEGER,
            time_origin INTEGER NOT NULL, skew INTEGER NOT NULL);
        CREATE TABLE metadata(id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE);
        CREATE TABLE sample(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, value REAL NOT NULL, numeral TEXT,
            context INTEGER NOT NULL, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER, seq INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
        CREATE TABLE deleted(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, value REAL NOT NULL, numeral TEXT,
            context INTEGER NOT NULL, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER, seq INTEGER NOT NULL,
            deleted_seq INTEGER NOT NULL, ingest INTEGER NOT NULL, replaced_by TEXT, forgotten INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
        CREATE TABLE place(
            series INTEGER NOT NULL, nominal INTEGER NOT NULL, hash BLOB NOT NULL, start INTEGER NOT NULL,
            PRIMARY KEY(series, nominal, hash)) WITHOUT ROWID;
        CREATE TABLE record(
            series INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL,
            PRIMARY KEY(series, id, version)) WITHOUT ROWID;
        CREATE INDEX record_by_start ON record(series, start);
        CREATE TABLE change(
            series INTEGER NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL, deletion INTEGER NOT NULL,
            low INTEGER NOT NULL, high INTEGER NOT NULL, ingest INTEGER NOT NULL, cause INTEGER NOT NULL,
            PRIMARY KEY(series, first_seq)) WITHOUT ROWID;
        CREATE INDEX change_by_seq ON change(last_seq);
        CREATE TABLE ingest(
            id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT, profile TEXT, zone TEXT, received INTEGER NOT NULL,
            finished INTEGER, state TEXT NOT NULL, owner TEXT, stored INTEGER NOT NULL DEFAULT 0, duplicate INTEGER NOT NULL DEFAULT 0,
            quarantined INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0,
            restored INTEGER NOT NULL DEFAULT 0, undoes INTEGER, notes TEXT);
        CREATE TABLE skipped(
            ingest INTEGER NOT NULL, kind TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(ingest, kind)) WITHOUT ROWID;
        CREATE TABLE refused(
            ingest INTEGER NOT NULL, reason TEXT NOT NULL, place_kind TEXT NOT NULL, place INTEGER NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY(ingest, place_kind, place, reason)) WITHOUT ROWID;
        CREATE TABLE quarantine(
            id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, ingest INTEGER NOT NULL, rule TEXT NOT NULL, place TEXT NOT NULL,
            state TEXT NOT NULL, series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, value REAL NOT NULL,
            numeral TEXT, context INTEGER NOT NULL, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER,
            record TEXT, version INTEGER);
        """

    /// - `quarantine.judged`: the ingest that accepted or rejected; `revoked`: the undoing that holds the reading again; `frame`: what
    ///   arrived, for a person who judges.
    /// - `clock`: comparisons of devices' clocks with ours, the evidence for corrected times; `ahead` is NULL where the clock was right.
    static let judgements = """
        ALTER TABLE quarantine ADD COLUMN judged INTEGER;
        ALTER TABLE quarantine ADD COLUMN revoked INTEGER;
        ALTER TABLE quarantine ADD COLUMN frame TEXT;
        CREATE INDEX quarantine_by_series ON quarantine(series, hash);
        CREATE TABLE clock(
            device TEXT NOT NULL, received INTEGER NOT NULL, shown INTEGER NOT NULL, ahead INTEGER,
            PRIMARY KEY(device, received)) WITHOUT ROWID;
        """

    /// - `device`: the devices a person adopted, by how they are reached; from `known` on what they said of themselves, and how far their
    ///   stored records were collected, in the transaction of the samples.
    /// - `device_alias`: a device key that a re-paired device came to have, and the one its readings go by.
    static let devices = """
        CREATE TABLE device(
            address TEXT PRIMARY KEY, key TEXT NOT NULL, profiles TEXT NOT NULL, name TEXT NOT NULL, subject TEXT NOT NULL,
            adopted INTEGER NOT NULL, bind_key TEXT, known INTEGER NOT NULL, device_name TEXT, manufacturer TEXT, model TEXT,
            serial TEXT, hardware TEXT, firmware TEXT, software TEXT, udi TEXT, record_number INTEGER, record_fingerprint INTEGER,
            record_count INTEGER, delivered INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE device_alias(old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;
        """

    /// - `migration`: each repair that was applied, the conditions as JSON, and what it found; `ingest` is its entry in the ledger, `undone_by`
    ///   the one that took it back.
    /// - `repaired`: from each repaired sample to the one it replaced, also when the repair was undone; `merged` where the new one was there
    ///   before, as the same reading read rightly.
    /// - `reading_alias`: the identity that a repaired reading would have had, had it been read rightly from the beginning: what
    ///   a profile or an app that was put right gives is a duplicate.
    static let repairs = """
        CREATE TABLE migration(
            id INTEGER PRIMARY KEY, ingest INTEGER NOT NULL, repair TEXT NOT NULL, conditions TEXT NOT NULL, source TEXT,
            applied INTEGER NOT NULL, state TEXT NOT NULL, undone INTEGER, undone_by INTEGER, matched INTEGER NOT NULL,
            repaired INTEGER NOT NULL, merged INTEGER NOT NULL, already_right INTEGER NOT NULL, ambiguous INTEGER NOT NULL,
            impossible INTEGER NOT NULL);
        CREATE TABLE repaired(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, old_series INTEGER NOT NULL, old_start INTEGER NOT NULL,
            old_hash BLOB NOT NULL, migration INTEGER NOT NULL, merged INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash, old_series, old_start, old_hash)) WITHOUT ROWID;
        CREATE TABLE reading_alias(
            series INTEGER NOT NULL, nominal INTEGER NOT NULL, hash BLOB NOT NULL, migration INTEGER NOT NULL,
            PRIMARY KEY(series, nominal, hash)) WITHOUT ROWID;
        """

    /// What was held lasted, too, when it became a sample.
    static let lengths = """
        UPDATE series SET longest = max(longest, coalesce((SELECT max(duration) FROM quarantine
            WHERE quarantine.series = series.id AND state IN ('accepted', 'released')), 0));
        """

    /// - `person`: names, for people only; samples have the subject.
    /// - `shared_use`: who shares a device, and the weights, in kilograms, by which each of them is told.
    static let persons = """
        CREATE TABLE person(subject TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
        CREATE TABLE shared_use(
            address TEXT NOT NULL, subject TEXT NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
            PRIMARY KEY(address, subject)) WITHOUT ROWID;
        """
}
