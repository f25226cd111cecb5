import HealthModel

/// Changes to the reason why a row is a tombstone.
extension SampleTable {
    /// Exchanges the roles of the tombstone of a repaired sample and the tombstone of the sample it was made from. The old one takes over
    /// the ingest and successor of the new one. The new one is then marked as replaced by the old one.
    func handBack(_ new: SampleKey, to old: SampleKey, _ uuid: SampleIdentity, by ingest: Int64) throws(StoreError) {
        let (here, there): ([Value], [Value]) = (
            [.integer(old.series), .integer(old.start), .blob(old.hash)],
            [.integer(new.series), .integer(new.start), .blob(new.hash)]
        )
        try connection.run(
            """
            UPDATE deleted SET (ingest, replaced_by) = (SELECT new.ingest, new.replaced_by FROM deleted AS new
                WHERE (new.series, new.start, new.hash) = (?4, ?5, ?6))
            WHERE (series, start, hash) = (?1, ?2, ?3)
            """, here[0], here[1], here[2], there[0], there[1], there[2])
        try connection.run(
            "UPDATE deleted SET ingest = ?4, replaced_by = ?5 WHERE (series, start, hash) = (?1, ?2, ?3)", there[0], there[1],
            there[2], .integer(ingest), .text(uuid.description))
    }

    /// Removes the successor from a tombstone.
    func forgetSuccessor(of key: SampleKey) throws(StoreError) {
        try connection.run(
            "UPDATE deleted SET replaced_by = NULL WHERE (series, start, hash) = (?, ?, ?)", .integer(key.series),
            .integer(key.start), .blob(key.hash))
    }
}
