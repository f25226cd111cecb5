import HealthModel

extension SampleStore {
    /// The maker's own id of a sample whose identity is made of one; `nil` for any other.
    public func record(of sample: Sample) throws(StoreError) -> RecordIdentifier? {
        guard sample.ordinal == nil else { return nil }
        let statement = try connection.statement(
            """
            SELECT record.id, record.version FROM series CROSS JOIN record
            ON record.series = series.id AND record.start = ? AND record.hash = ?
            """)
        defer { statement.reset() }
        try statement.bind([.integer(sample.start.microseconds), .blob(sample.identity.storedHash)])
        while try statement.step() {
            let record = RecordIdentifier(id: statement.text(0), version: statement.integer(1))
            let identity = SampleIdentity(series: sample.origin.seriesKey, start: sample.nominalStart, record: record)
            if identity == sample.identity { return record }
        }
        return nil
    }
}
