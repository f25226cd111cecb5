import HealthModel
import Pipeline

/// Finds readings that the store has under the identity used before the measuring method became part of it
/// (``MetadataKey/methods``). Used inside a transaction.
///
/// The readings of a file that an earlier version imported are not stored again. A row only matches if its measuring
/// method is the same. For example, a finger-stick value that was mistaken for a sensor reading is stored now.
struct EarlierIdentities {
    let connection: Connection

    /// The batch indices of rows that the store already has as a live sample, a deleted sample, or another path's
    /// duplicate.
    func known(among rows: [SampleRow], of batch: [GatedSample], where isOpen: (Int32) -> Bool) throws(StoreError) -> [Int32] {
        var known: [Int32] = []
        for row in rows where isOpen(row.index) {
            let sample = batch[Int(row.index)].sample
            guard sample.record == nil, !sample.method.isEmpty, let hash = Self.hash(of: sample) else { continue }
            if try isThere(row, hash, sample.method) { known.append(row.index) }
        }
        return known
    }

    /// The hash of the identity without the method, or `nil`.
    private static func hash(of sample: Sample) -> [UInt8]? {
        let end = sample.nominalStart &+ (sample.end.microseconds &- sample.start.microseconds)
        return SampleIdentity(
            series: sample.origin.seriesKey, start: sample.nominalStart, end: end, numeral: sample.numeral, unit: sample.unit,
            ordinal: sample.ordinal ?? 0
        ).storedHash
    }

    private func isThere(_ row: SampleRow, _ hash: [UInt8], _ method: [UInt8]) throws(StoreError) -> Bool {
        let placed = try connection.integer(
            "SELECT start FROM place WHERE series = ? AND nominal = ? AND hash = ?", .integer(row.series), .integer(row.nominal),
            .blob(hash))
        let statement = try connection.statement(
            """
            SELECT metadata FROM sample WHERE series = ?1 AND start = ?2 AND hash = ?3
            UNION ALL SELECT metadata FROM deleted WHERE series = ?1 AND start = ?2 AND hash = ?3 AND NOT forgotten
            UNION ALL SELECT metadata FROM witness_row WHERE series = ?1 AND start = ?2 AND hash = ?3
            """)
        defer { statement.reset() }
        try statement.bind([.integer(row.series), .integer(placed ?? row.nominal), .blob(hash)])
        while try statement.step() {
            let json = try connection.text("SELECT json FROM metadata WHERE id = ?", .integer(statement.integer(0)))
            if (json.flatMap { try? Metadata(json: $0) })?.method == method { return true }
        }
        return false
    }
}
