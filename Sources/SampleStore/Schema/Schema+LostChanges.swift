extension Schema {
    /// - `lost`: for each viewer, the highest number of a permanently removed change that the viewer could read. A viewer is a client, by
    ///   the id of its source, or a person. A reader of changes that has not reached this number must start again. The number does not
    ///   depend on data that only others can read.
    static let lostChanges = """
        CREATE TABLE lost(viewer TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO lost SELECT '\(Client.sourcePrefix)' || client.id, value FROM client JOIN setting ON setting.name = 'pruned';
        INSERT OR IGNORE INTO lost SELECT subject, value FROM series JOIN setting ON setting.name = 'pruned';
        """
}
