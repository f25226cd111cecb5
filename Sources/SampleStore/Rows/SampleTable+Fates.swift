import HealthModel

/// Why a row is a tombstone.
extension SampleTable {
    /// Lets the tombstone of a repaired sample change places with that of the sample it was made from: the old one takes its fate over, and the new
    /// one is replaced by it.
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

    /// Lets a tombstone say no more what took its place.
    func forgetSuccessor(of place: SampleKey) throws(StoreError) {
        try connection.run(
            "UPDATE deleted SET replaced_by = NULL WHERE (series, start, hash) = (?, ?, ?)", .integer(place.series),
            .integer(place.start), .blob(place.hash))
    }
}
