extension Schema {
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
}
