/// The decisions about quarantined readings. Used inside a transaction.
///
/// Each judgement belongs to an entry of the ledger and counts while the entry is active. The state of a reading is its last judgement that
/// counts. Without one the reading is quarantined (`held`). Undoing the import that brought quarantined readings rejects them.
struct Judgements {
    let connection: Connection

    /// Records a judgement about readings.
    ///
    /// - Parameter what: `accepted`, `rejected`, or `released`.
    func judge(_ ids: [Int64], _ what: String, by ingest: Int64) throws(StoreError) {
        for id in ids {
            try connection.run(
                "INSERT OR REPLACE INTO judgement(held, ingest, what) VALUES(?, ?, ?)", .integer(id), .integer(ingest),
                .text(what))
            try connection.run("UPDATE quarantine SET state = ? WHERE id = ?", .text(what), .integer(id))
        }
    }

    /// Rejects the quarantined readings of an import that is undone.
    func reject(heldBy ingest: Int64, undoneBy undoing: Int64) throws(StoreError) {
        try connection.run(
            "INSERT INTO judgement SELECT id, ?2, 'rejected' FROM quarantine WHERE ingest = ?1 AND state = 'held'",
            .integer(ingest),
            .integer(undoing))
    }

    /// Computes the state of all readings that an entry of the ledger brought or judged.
    func settle(touchedBy entry: Int64) throws(StoreError) {
        try connection.run(
            """
            UPDATE quarantine SET state = coalesce(
                (SELECT what FROM judgement AS j WHERE j.held = quarantine.id
                    AND NOT EXISTS(SELECT 1 FROM ingest AS i WHERE i.id = j.ingest AND i.state = 'undone') ORDER BY j.ingest DESC LIMIT 1),
                'held')
            WHERE ingest = ?1 OR id IN (SELECT held FROM judgement WHERE judgement.ingest = ?1)
            """, .integer(entry))
    }

    /// Removes the judgements of readings that no longer exist.
    func removeOrphans() throws(StoreError) {
        try connection.run("DELETE FROM judgement WHERE held NOT IN (SELECT id FROM quarantine)")
    }
}
