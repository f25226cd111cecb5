import HealthModel

extension SampleStore {
    /// Returns the producer's id of a sample whose identity is based on one, or `nil` for any other.
    public func record(of sample: Sample) throws(StoreError) -> RecordIdentifier? {
        guard sample.ordinal == nil else { return nil }
        let origin = sample.origin
        let statement = try connection.statement(
            """
            SELECT record.id, record.version FROM series CROSS JOIN \(Records.byPlace(connection))
            ON record.series = series.id AND record.start = ?5 AND record.hash = ?6
            WHERE series.type = ?1 AND series.subject = ?2 AND series.source = ?3 AND series.device = ?4
            """)
        defer { statement.reset() }
        try statement.bind([
            .text(origin.type.id), .text(origin.subject), .text(origin.source.id), .text(origin.device?.key ?? ""),
            .integer(sample.start.microseconds), .blob(sample.identity.storedHash),
        ])
        while try statement.step() {
            let record = RecordIdentifier(id: statement.text(0), version: statement.integer(1))
            let identity = SampleIdentity(series: sample.origin.seriesKey, start: sample.nominalStart, record: record)
            if identity == sample.identity { return record }
        }
        return nil
    }
}
