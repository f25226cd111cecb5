import HealthModel

/// Turns samples into tombstones, and tombstones into samples again. Used inside a transaction.
final class Deletion {
    let connection: Connection
    /// What deletes and restores.
    let ingest: Int64
    private(set) var deleted = 0
    private(set) var restored = 0
    /// Something else than samples was changed as well, so that the ledger has to tell.
    private(set) var hasChangedMore = false

    init(connection: Connection, ingest: Int64) {
        self.connection = connection
        self.ingest = ingest
    }

    private static let columns = "series, start, hash, value, numeral, context, duration, received, grp, metadata"

    func changesMore() { hasChangedMore = true }

    /// The ingest that brought the sample of a row of `deleted`.
    static let bringer = """
        (SELECT change.ingest FROM change WHERE change.series = deleted.series AND first_seq <= deleted.seq
        ORDER BY first_seq DESC LIMIT 1)
        """

    /// Deletes one sample; false where there is none.
    @discardableResult
    func delete(series: Int64, start: Int64, hash: [UInt8], replacedBy: String? = nil) throws(StoreError) -> Bool {
        let seq = try nextChange()
        try connection.run(
            """
            INSERT OR REPLACE INTO deleted(\(Self.columns), seq, deleted_seq, ingest, replaced_by, forgotten)
            SELECT \(Self.columns), seq, ?, ?, ?, 0 FROM sample WHERE series = ? AND start = ? AND hash = ?
            """,
            .integer(seq), .integer(ingest), .optional(replacedBy), .integer(series), .integer(start), .blob(hash))
        guard connection.changes > 0 else { return false }
        try connection.run(
            "DELETE FROM sample WHERE series = ? AND start = ? AND hash = ?", .integer(series), .integer(start), .blob(hash))
        try note(seq)
        try ChangeLog(connection: connection, cause: ingest)
            .add(series: series, seqs: seq...seq, low: start, high: start, deletion: true, ingest: ingest)
        deleted += 1
        return true
    }

    /// Gives back a deleted sample as it was; false where there is no such tombstone, and where another version of its record is live.
    @discardableResult
    func restore(series: Int64, start: Int64, hash: [UInt8]) throws(StoreError) -> Bool {
        if try Records.hasLiveVersion(connection, series: series, start: start, hash: hash) { return false }
        // What a repair replaced comes back by undoing the repair: else one reading would be there twice.
        let place = try SamplePlace(series: series, start: start, hash: hash)
        if try Replacements(connection: connection).successor(of: place) != nil { return false }
        let seq = try nextChange()
        try connection.run(
            """
            INSERT INTO sample(\(Self.columns), seq)
            SELECT \(Self.columns), ? FROM deleted WHERE series = ? AND start = ? AND hash = ? AND NOT forgotten
            """,
            .integer(seq), .integer(series), .integer(start), .blob(hash))
        guard connection.changes > 0 else { return false }
        // It still belongs to the ingest that brought it.
        let bringer = try connection.integer(
            "SELECT \(Self.bringer) FROM deleted WHERE series = ? AND start = ? AND hash = ?", .integer(series), .integer(start),
            .blob(hash))
        try connection.run(
            "DELETE FROM deleted WHERE series = ? AND start = ? AND hash = ?", .integer(series), .integer(start), .blob(hash))
        try note(seq)
        try ChangeLog(connection: connection, cause: ingest)
            .add(series: series, seqs: seq...seq, low: start, high: start, deletion: false, ingest: bringer ?? ingest)
        restored += 1
        return true
    }

    private func nextChange() throws(StoreError) -> Int64 {
        (try connection.integer("SELECT value FROM setting WHERE name = 'seq'") ?? 0) + 1
    }

    private func note(_ seq: Int64) throws(StoreError) {
        try connection.run("UPDATE setting SET value = ? WHERE name = 'seq'", .integer(seq))
    }
}
