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
        let statement = try connection.statement(
            """
            SELECT start, hash, value, numeral, context, duration, received, grp, metadata, ingest FROM quarantine
            WHERE series = ? AND hash = ? AND uuid = ?
            """)
        defer { statement.reset() }
        try statement.bind([
            .integer(series), .blob(sample.identity.storedHash), .text(sample.identity.description),
        ])
        guard try statement.step() else { return nil }
        return try SampleDecoder(connection: connection).decodeHeld(statement, series: series).sample
    }

    /// Whether a measurement, identified by its start and group, has another value of the sample's type.
    public func hasOther(than sample: Sample, at start: Instant, group: UInt64) throws(StoreError) -> Bool {
        guard let series = try series(of: sample.origin) else { return false }
        for table in ["sample", "quarantine"] {
            let found = try connection.integer(
                "SELECT 1 FROM \(table) WHERE series = ? AND start = ? AND grp = ? AND hash <> ? LIMIT 1", .integer(series),
                .integer(start.microseconds), .integer(Int64(bitPattern: group)), .blob(sample.identity.storedHash))
            if found != nil { return true }
        }
        return false
    }

    private func series(of origin: Origin) throws(StoreError) -> Int64? {
        try connection.integer(
            "SELECT id FROM series WHERE type = ? AND subject = ? AND source = ? AND device = ?", .text(origin.type.id),
            .text(origin.subject), .text(origin.source.id), .text(origin.device?.key ?? ""))
    }
}
