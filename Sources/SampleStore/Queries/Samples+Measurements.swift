import HealthModel

/// Queries that live readers use to identify a measurement.
extension SampleStore.Samples {
    /// Returns the stored reading with the identity of a sample: a live or deleted sample, a witness, or a quarantined reading.
    public func taken(as sample: Sample) throws(StoreError) -> Sample? {
        guard let series = try connection.series.id(of: sample.origin) else { return nil }
        for rows in [SampleTable.Rows.live, .duplicates, .tombstones] {
            for key in try table.keys(of: sample.identity, among: rows, ofSeries: series) {
                if let found = try table.stored(at: key, among: rows) { return found.sample }
            }
        }
        let decoder = SampleDecoder(connection: connection)
        return try connection.quarantine.readings(
            where: "series = ? AND hash = ? AND uuid = ?",
            [.integer(series), .blob(sample.identity.storedHash), .text(sample.identity.description)]
        ) { row throws(StoreError) in try decoder.decodeQuarantined(row, series: series).sample }.first
    }

    /// Whether a measurement, identified by its start and group, has another value of the sample's type.
    public func hasOther(than sample: Sample, at start: Instant, group: UInt64) throws(StoreError) -> Bool {
        guard let series = try connection.series.id(of: sample.origin) else { return false }
        let group = Int64(bitPattern: group)
        if try table.hasOther(than: sample.identity, in: series, at: start.microseconds, group: group) { return true }
        return try connection.quarantine.hasOther(
            than: sample.identity, series: series, start: start.microseconds, group: group)
    }
}
