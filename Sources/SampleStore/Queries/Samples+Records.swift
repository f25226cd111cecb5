import HealthModel

extension SampleStore.Samples {
    /// Returns the producer's id of a sample whose identity is based on one, or `nil` for any other.
    public func record(of sample: Sample) throws(StoreError) -> RecordIdentifier? {
        guard sample.ordinal == nil else { return nil }
        return try connection.records.records(of: sample).first { sample.isNamed(by: $0) }
    }
}
