import HealthModel

extension SampleStore.Samples {
    /// Whether repairs or corrections made a sample from a reading that was stored by a change up to this number.
    public func isMade(_ stored: StoredSample, fromReadingUpTo last: Int64) throws -> Bool {
        guard let series = try connection.series.id(of: stored.sample.origin) else { return false }
        var (sample, key) = (
            stored.sample,
            SampleKey(series: series, start: stored.sample.start.microseconds, of: stored.sample.identity)
        )
        for _ in 0..<RepairTable.maximumChainLength {
            guard let before = try connection.repairs.origin(of: key)?.key ?? corrected(by: sample),
                let found = try table.stored(at: before, among: .tombstones, evenForgotten: true)
            else { return false }
            if found.seq <= last { return true }
            (sample, key) = (found.sample, before)
        }
        return false
    }

    /// The tombstone of the reading that a sample corrects.
    private func corrected(by sample: Sample) throws -> SampleKey? {
        guard let uuid = sample.corrected else { return nil }
        let rule = ReferenceRule(of: sample.origin)
        for key in try keys(of: uuid, among: .tombstones) where try connection.series.permits(key, by: rule) { return key }
        return nil
    }
}
