/// The table `derived`: the samples that computed samples are based on, for example the weight and the impedance of an estimate of fat-free
/// mass.
struct DerivedTable {
    let connection: Connection

    /// Whether there are no computed samples.
    var isEmpty: Bool {
        get throws(StoreError) { try !connection.exists("SELECT 1 FROM derived LIMIT 1") }
    }

    /// Whether there are computed samples of a series.
    func contains(series: Int64) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM derived WHERE series = ? LIMIT 1", [.integer(series)])
    }

    /// Returns the samples that were computed from this one.
    func samples(from key: SampleKey) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            "SELECT series, start, hash FROM derived WHERE of_series = ? AND of_start = ? AND of_hash = ?", key.values)
    }

    /// Returns the samples that were computed from samples that a repair replaced or made.
    func samples(touchedBy repairID: Int64) throws(StoreError) -> [SampleKey] {
        guard try !isEmpty else { return [] }
        return try connection.sampleKeys(
            "SELECT DISTINCT series, start, hash FROM derived WHERE \(RepairTable.isTouched)", [.integer(repairID)])
    }

    /// Whether the inputs of a computed sample are live. Pruned inputs count as valid.
    func hasLiveInputs(_ key: SampleKey) throws(StoreError) -> Bool {
        let isDeleted = try connection.first(
            """
            SELECT min(isGone) FROM (SELECT max(
                    EXISTS(SELECT 1 FROM deleted AS x WHERE (x.series, x.start, x.hash) = (of_series, of_start, of_hash))
                    AND NOT EXISTS(SELECT 1 FROM sample AS x WHERE (x.series, x.start, x.hash) = (of_series, of_start, of_hash))) AS isGone
                FROM derived WHERE series = ? AND start = ? AND hash = ? GROUP BY basis)
            """, key.values
        ) { $0.integer(0) }
        return isDeleted != 1
    }

    /// Adds the inputs of a computed sample.
    func add(_ key: SampleKey, from inputs: [SampleKey]) throws(StoreError) {
        let basis = try connection.first(
            "SELECT coalesce(max(basis), 0) + 1 FROM derived WHERE \(SampleTable.isHere)", key.values
        ) { $0.integer(0) }
        for input in inputs {
            try connection.run(
                "INSERT OR IGNORE INTO derived VALUES(?, ?, ?, ?, ?, ?, ?)",
                key.values + [.integer(basis ?? 1)] + input.values)
        }
    }

    /// Removes the inputs of a computed sample.
    func remove(_ key: SampleKey) throws(StoreError) {
        try connection.run("DELETE FROM derived WHERE \(SampleTable.isHere)", key.values)
    }

    /// Removes the inputs of the rows in the table `pruned`.
    func removePruned() throws(StoreError) {
        try connection.run("DELETE FROM derived WHERE (series, start, hash) IN (SELECT series, start, hash FROM pruned)")
    }
}
