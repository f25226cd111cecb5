import HealthModel

extension SampleStore.Samples {
    /// Returns the producer's id of a sample whose identity is based on one, or `nil` for any other.
    public func record(of sample: Sample) throws(StoreError) -> RecordIdentifier? {
        guard sample.ordinal == nil else { return nil }
        let named = try connection.records.records(of: sample).filter { sample.isNamed(by: $0.record) }
        // A higher version may have been made by an entry that is undone.
        for version in named {
            var isActive = version.entry == 0
            if !isActive { isActive = try !connection.ledger.isUndone(version.entry) }
            if isActive { return version.record }
        }
        return named.first?.record
    }
}
