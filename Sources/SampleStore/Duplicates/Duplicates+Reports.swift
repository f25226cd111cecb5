import HealthModel

extension SampleStore.Duplicates {
    /// Whether another source or device has reported the measurement of a sample for its person, live or not.
    public func hasReport(of sample: Sample) throws(StoreError) -> Bool {
        try PathWalk(connection: connection).hasReport(of: ReadingTrace(sample), origin: sample.origin)
    }
}
