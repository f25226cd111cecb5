extension Schema {
    /// - `quarantine.judged`: the ingest that accepted or rejected the reading. `revoked` is the undo that quarantined it again. `frame`
    ///   contains the received data for the person who reviews it.
    /// - `clock`: comparisons of the devices' clocks with the hub's clock, as evidence for corrected times. `ahead` is NULL if the clock
    ///   was right.
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
