import HealthModel

/// Queries that live readers use to identify a measurement.
extension SampleStore {
    /// Returns the stored reading with the identity of a sample: a live or deleted sample, a witness, or a quarantined reading.
    public func taken(as sample: Sample) throws(StoreError) -> Sample? {
        guard let series = try series(of: sample.origin) else { return nil }
        for table in ["sample", "witness", "deleted"] {
            for place in try places(of: sample.identity, in: table, ofSeries: series) {
                if let found = try self.sample(at: place, in: table) { return found.sample }
            }
        }
        let decoder = SampleDecoder(connection: connection)
        return try connection.quarantine.readings(
            where: "series = ? AND hash = ? AND uuid = ?",
            [.integer(series), .blob(sample.identity.storedHash), .text(sample.identity.description)]
        ) { row throws(StoreError) in try decoder.decodeHeld(row, series: series).sample }.first
    }

    /// Whether a measurement, identified by its start and group, has another value of the sample's type.
    public func hasOther(than sample: Sample, at start: Instant, group: UInt64) throws(StoreError) -> Bool {
        guard let series = try series(of: sample.origin) else { return false }
        let group = Int64(bitPattern: group)
        let found = try connection.integer(
            "SELECT 1 FROM sample WHERE series = ? AND start = ? AND grp = ? AND hash <> ? LIMIT 1", .integer(series),
            .integer(start.microseconds), .integer(group), .blob(sample.identity.storedHash))
        if found != nil { return true }
        return try connection.quarantine.hasOther(
            than: sample.identity, series: series, start: start.microseconds, group: group)
    }

    private func series(of origin: Origin) throws(StoreError) -> Int64? {
        try connection.integer(
            "SELECT id FROM series WHERE type = ? AND subject = ? AND source = ? AND device = ?", .text(origin.type.id),
            .text(origin.subject), .text(origin.source.id), .text(origin.device?.key ?? ""))
    }
}
