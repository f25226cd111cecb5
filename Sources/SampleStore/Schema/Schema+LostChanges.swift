extension Schema {
    /// - `lost`: of each who reads a part of the store, a client by the id of its source or a person, the highest number of what was removed for good
    ///   and could be read by it: whoever has not seen that yet is told to begin again. What others could read says nothing to it.
    static let lostChanges = """
        CREATE TABLE lost(viewer TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO lost SELECT '\(Client.sourcePrefix)' || client.id, value FROM client JOIN setting ON setting.name = 'pruned';
        INSERT OR IGNORE INTO lost SELECT subject, value FROM series JOIN setting ON setting.name = 'pruned';
        """
}
