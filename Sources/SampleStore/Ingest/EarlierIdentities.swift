import HealthModel
import Pipeline

/// Finds readings that are there under the identity that they had before the way of measuring was part of it (``MetadataKey/methods``). Used inside
/// a transaction.
///
/// A file that an earlier version imported has the same readings, and they are not stored again. Only a row that tells the same way of measuring is
/// one: where a finger-stick was taken for the sensor's reading, it is stored now.
struct EarlierIdentities {
    let connection: Connection

    /// The rows, by their place in the batch, that are there, or were and were deleted, or are another path's witness.
    func known(among rows: [SampleRow], of batch: [GatedSample], where isOpen: (Int32) -> Bool) throws(StoreError) -> [Int32] {
        var known: [Int32] = []
        for row in rows where isOpen(row.index) {
            let sample = batch[Int(row.index)].sample
            guard sample.record == nil, !sample.method.isEmpty, let hash = Self.hash(of: sample) else { continue }
            if try isThere(row, hash, sample.method) { known.append(row.index) }
        }
        return known
    }

    /// Of the identity without the method; `nil` where the sample's comes from something else.
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
