extension Schema {
    /// - `series`: the person, type, source, and device that are part of a sample's identity. `longest` is the longest duration of any of
    ///   its samples so far.
    /// - `origin`: properties of the source that may change within a series, such as versions and the device's description.
    /// - `context`: properties that neighboring samples share: origin, unit as received, zone, and source of the time. `skew` is the number
    ///   of microseconds that the nominal start (part of the UUID) is ahead of `start`.
    /// - `sample`: the key consists of series, start, and the 74 bits of the hash, so the UUID needs no index. `numeral` is NULL if the
    ///   shortest decimal text of `value` is the numeral as received. `received` is relative to `start`. It is NULL if it is the time of
    ///   the ingest, or `start` if the time comes from the hub's clock. `duration`, `grp`, and `metadata` are NULL if there is none.
    /// - `deleted`: the tombstones as whole rows, so that `restore` brings back the identical sample.
    /// - `place`: maps nominal start and hash to start, only for samples with a skew.
    /// - `record`: the versions of a record that has an id from its producer. At most one of them is live.
    /// - `change`: the change log with one entry per commit. It contains the series and time range that the commit touched, and its ingest.
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
