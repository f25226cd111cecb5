import HealthModel

/// The samples that a deletion or an undo removes or restores in several transactions.
///
/// 1. The samples are listed. Readers see no change.
/// 2. Restored samples are written, but hidden from readers (``Connection/hidePending()``).
/// 3. One small transaction changes the ledger. From then on, readers see all restored samples and no removed ones.
/// 4. The samples are updated to match the ledger and leave the list.
///
/// If the process is killed, the next writer completes step 4 or reverts step 2. Both work the same way: the
/// measurements are updated to match the ledger.
struct PendingChanges {
    let connection: Connection

    /// The SQL condition that a row of `sample` is hidden. A row to be removed is hidden once the entry is effective,
    /// and a restored row until then.
    static func isHidden(_ row: String) -> String {
        """
        (\(SettingTable.value("pending")) IS NOT NULL AND EXISTS(SELECT 1 FROM main.pending AS p WHERE p.series = \(row).series
            AND p.start = \(row).start AND p.hash = \(row).hash AND p.comes = (\(SettingTable.value("pending")) < 0)))
        """
    }

    /// The number of the ledger entry, negative until it is effective, or `nil` if nothing is pending.
    func entry() throws(StoreError) -> Int64? {
        try connection.settings.integer("pending")
    }

    func set(_ entry: Int64) throws(StoreError) {
        try connection.settings.set("pending", to: .integer(entry))
    }

    func end() throws(StoreError) { try connection.settings.remove("pending") }

    /// Lists samples in one transaction.
    func add(going: [SampleKey], coming: [SampleKey] = []) throws(StoreError) {
        do {
            try connection.partialTransaction {
                for (keys, isRestored) in [(going, 0), (coming, 1)] {
                    for key in keys {
                        try connection.run(
                            "INSERT OR IGNORE INTO pending VALUES(?, ?, ?, ?)", key.values + [.integer(Int64(isRestored))])
                    }
                }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.defect, "\(error)")
        }
    }

    /// The next listed samples, sorted by place.
    func keys(after last: SampleKey? = nil, isRestored: Bool? = nil, limit: Int) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT series, start, hash FROM pending WHERE (series, start, hash) > (?1, ?2, ?3) AND (?4 IS NULL OR comes = ?4)
            ORDER BY series, start, hash LIMIT ?5
            """,
            [
                .integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? []),
                .optional(isRestored.map { $0 ? 1 : 0 }), .integer(Int64(limit)),
            ])
    }

    func remove(_ keys: [SampleKey]) throws(StoreError) {
        for key in keys {
            try connection.run("DELETE FROM pending WHERE \(SampleTable.isHere)", key.values)
        }
    }
}

extension Connection {
    /// Hides the rows that ``PendingChanges`` hides from a reader, with views of the same names as the tables. Used
    /// when a snapshot begins.
    ///
    /// A writer sees the tables unchanged. The views of a restricted reader already contain the condition.
    func hidePending() throws(StoreError) {
        guard !isWritable, !isRestricted else { return }
        let isPending: Bool
        do throws(StoreError) {
            isPending = try PendingChanges(connection: self).entry() != nil
        } catch {
            // Files that are not stores are detected later.
            return
        }
        guard isPending != hidesPending else { return }
        try execute("PRAGMA query_only = OFF")
        defer { _ = try? execute("PRAGMA query_only = ON") }
        try execute(
            isPending
                ? """
                CREATE TEMP VIEW IF NOT EXISTS sample AS SELECT * FROM main.sample AS row WHERE NOT \(PendingChanges.isHidden("row"));
                CREATE TEMP VIEW IF NOT EXISTS summary AS SELECT * FROM main.summary WHERE 0
                """
                : "DROP VIEW IF EXISTS temp.sample; DROP VIEW IF EXISTS temp.summary")
        hidesPending = isPending
    }

    /// The samples to which the change log refers, including hidden ones. A reader of the log sees each change when it
    /// is written.
    var loggedSamples: String { isRestricted ? "logged_sample" : "main.sample" }
}
