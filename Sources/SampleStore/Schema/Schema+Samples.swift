extension Schema {
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
}
