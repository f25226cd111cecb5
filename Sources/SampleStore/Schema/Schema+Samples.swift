extension Schema {
    /// A property of the whole store by name, such as `person`, `seq` (the number of the last change), or `pending`.
    static let setting = """
        CREATE TABLE setting(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
        """

    /// The person, type, source, and device that are part of a sample's identity.
    ///
    /// - `maximumLength`: the longest duration in microseconds of any of its samples so far.
    /// - `longest_total`: that of any of its samples that is the total of an hour, a day, or longer (``TotalPeriod``), 0 without any.
    /// - `coarsest`: the coarsest `context.resolution` of any of its samples.
    /// - `kind`: the kind of its objects (``SampleKind``).
    static let series = """
        CREATE TABLE series(
            id INTEGER PRIMARY KEY, subject TEXT NOT NULL, type TEXT NOT NULL, source TEXT NOT NULL, device TEXT NOT NULL,
            longest INTEGER NOT NULL DEFAULT 0, longest_total INTEGER NOT NULL DEFAULT 0, coarsest INTEGER NOT NULL DEFAULT 1,
            kind INTEGER NOT NULL DEFAULT 0,
            UNIQUE(type, subject, source, device));
        """

    /// Properties of a source that may change within a series, such as versions and the device's description.
    static let origin = """
        CREATE TABLE origin(
            id INTEGER PRIMARY KEY, source_name TEXT NOT NULL, source_version TEXT, device_name TEXT, manufacturer TEXT, model TEXT,
            serial TEXT, hardware TEXT, firmware TEXT, software TEXT, udi TEXT);
        """

    /// Properties that neighboring samples share.
    ///
    /// - `unit`, `molar_mass`: the unit as received.
    /// - `skew`: the microseconds that the nominal start, which is part of the UUID, is ahead of `start`.
    /// - `resolution`: the resolution of the times in seconds.
    /// - `ordinal`: the position among the equal readings of a frame. NULL if the identity does not depend on it.
    /// - `body`: the body of the samples, NULL if there is none. Samples share a context only if their bodies are equal, so a body follows
    ///   its row into the tables of deleted samples, quarantined readings, and duplicates.
    static let context = """
        CREATE TABLE context(
            id INTEGER PRIMARY KEY, origin INTEGER NOT NULL REFERENCES origin, unit TEXT NOT NULL, molar_mass REAL, zone INTEGER,
            time_origin INTEGER NOT NULL, skew INTEGER NOT NULL, resolution INTEGER NOT NULL DEFAULT 1, ordinal INTEGER, body INTEGER);
        CREATE INDEX context_by_body ON context(body) WHERE body IS NOT NULL;
        """

    /// The contents of objects beyond a number (``SampleBody``), each stored once. `digest` is used to find an existing one.
    static let body = """
        CREATE TABLE body(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, octets BLOB NOT NULL);
        """

    /// The metadata of samples, each text stored once.
    static let metadata = """
        CREATE TABLE metadata(id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE);
        """

    /// A live sample. The key consists of series, start, and the 74 bits of the hash, so the UUID needs no index.
    ///
    /// - `numeral`: the number as received. NULL if it is the shortest decimal text of `value`.
    /// - `duration`, `grp`, `metadata`: NULL if there is none.
    /// - `received`: microseconds after `start`. NULL if it is the time of the ingest, or `start` if the time comes from the hub's clock.
    /// - `seq`: the number of the change that added it.
    static let sample = """
        CREATE TABLE sample(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, value REAL NOT NULL, numeral TEXT,
            context INTEGER NOT NULL, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER, seq INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
        """

    /// A tombstone: a deleted sample as a whole row, so that `restore` brings back the identical sample.
    static let deleted = """
        CREATE TABLE deleted(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, value REAL NOT NULL, numeral TEXT,
            context INTEGER NOT NULL, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER, seq INTEGER NOT NULL,
            deleted_seq INTEGER NOT NULL, ingest INTEGER NOT NULL, replaced_by TEXT, forgotten INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
        """

    /// The start of a sample with a skew, by its nominal start and hash.
    static let place = """
        CREATE TABLE place(
            series INTEGER NOT NULL, nominal INTEGER NOT NULL, hash BLOB NOT NULL, start INTEGER NOT NULL,
            PRIMARY KEY(series, nominal, hash)) WITHOUT ROWID;
        """

    /// A version of a record that has an id from its producer. At most one version of a record is live. `across` is 1 if the version
    /// replaces lower ones of other devices as well. `entry` is 0 for a version as it was reported first. Otherwise it is the entry of the
    /// ledger that accepted another value for the same version, or that reported an earlier value again as the latest one.
    static let record = """
        CREATE TABLE record(
            series INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, entry INTEGER NOT NULL DEFAULT 0,
            start INTEGER NOT NULL, hash BLOB NOT NULL, across INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(series, id, version, entry)) WITHOUT ROWID;
        CREATE INDEX record_by_start ON record(series, start);
        CREATE INDEX record_by_entry ON record(entry) WHERE entry <> 0;
        """

    /// An input (`of_…`) of a computed sample. A sample may have been computed several times, each time as a `basis`. One valid basis
    /// suffices.
    static let derived = """
        CREATE TABLE derived(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, basis INTEGER NOT NULL, of_series INTEGER NOT NULL,
            of_start INTEGER NOT NULL, of_hash BLOB NOT NULL,
            PRIMARY KEY(series, start, hash, basis, of_series, of_start, of_hash)) WITHOUT ROWID;
        CREATE INDEX derived_by_input ON derived(of_series, of_start, of_hash);
        """

    /// Ten minutes of a dense series from `start` on: the number of samples, the lowest and highest value, the sum and weight of the
    /// average, and the last sample. Summaries are made after the samples are written and removed by a change that touches them, so
    /// existing rows are correct. Sums depend on the type's aggregation. A schema step that changes the aggregation of a type must empty
    /// this table and ``summarized``.
    static let summary = """
        CREATE TABLE summary(
            series INTEGER NOT NULL, start INTEGER NOT NULL, count INTEGER NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
            sum REAL NOT NULL, weight REAL NOT NULL, latest INTEGER NOT NULL, last REAL NOT NULL,
            PRIMARY KEY(series, start)) WITHOUT ROWID;
        """

    /// The time up to which the summaries of a series were computed.
    static let summarized = """
        CREATE TABLE summarized(series INTEGER PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// The settings and the epoch of a new store. `store` is the identifier by which a target distinguishes the stores that feed it. A copy
    /// of the store has the same identifier. `longestChange` is the maximum count of numbers in an entry of ``change``. From it a reader
    /// knows how far before its anchor an entry may begin.
    static let firstRows = """
        INSERT INTO setting VALUES('store', lower(hex(randomblob(16)))), ('longestChange', \(ChangeLog.maximumLength));
        INSERT INTO epoch VALUES(lower(hex(randomblob(8))), 0);
        """
}
