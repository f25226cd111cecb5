import HealthModel

/// The samples that computed samples are based on, for example the weight and the impedance of an estimate of fat-free mass. Used inside a
/// transaction.
struct DerivedSamples {
    let connection: Connection

    /// Returns the samples that were computed from this one.
    func samples(from place: SampleKey) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            "SELECT series, start, hash FROM derived WHERE of_series = ? AND of_start = ? AND of_hash = ?",
            [.integer(place.series), .integer(place.start), .blob(place.hash)])
    }

    /// Settles the samples that were computed from samples that a repair replaced or made.
    func settle(after migration: Int64, _ deletion: Deletion) throws(StoreError) {
        guard try connection.integer("SELECT 1 FROM derived LIMIT 1") != nil else { return }
        let touched = try connection.sampleKeys(
            "SELECT DISTINCT series, start, hash FROM derived WHERE \(RepairTable.isTouched)", [.integer(migration)])
        try Settlement(deletion).settle(touched)
    }

    /// Records the inputs of a computed sample.
    func note(_ place: SampleKey, from inputs: [SampleKey]) throws(StoreError) {
        let here: [Value] = [.integer(place.series), .integer(place.start), .blob(place.hash)]
        let basis = try connection.integer(
            "SELECT coalesce(max(basis), 0) + 1 FROM derived WHERE series = ? AND start = ? AND hash = ?", here[0], here[1],
            here[2])
        for input in inputs {
            try connection.run(
                "INSERT OR IGNORE INTO derived VALUES(?, ?, ?, ?, ?, ?, ?)", here[0], here[1], here[2], .integer(basis ?? 1),
                .integer(input.series), .integer(input.start), .blob(input.hash))
        }
    }
}
