import HealthModel

/// The result of a search by UUID.
public enum Lookup: Sendable {
    case live(StoredSample)
    /// The sample was deleted, or replaced by the sample with the given UUID.
    case deleted(StoredSample, replacedBy: String?)
}

extension SampleStore.Samples {
    /// Returns the live or deleted sample with this UUID, or `nil` if there is none.
    public func lookup(_ uuid: SampleIdentity) throws(StoreError) -> Lookup? {
        for rows in [SampleTable.Rows.live, .tombstones] {
            // A forgotten row may have another start than a later row with the same UUID.
            for key in try keys(of: uuid, among: rows) {
                guard let stored = try table.stored(at: key, among: rows) else { continue }
                return rows == .live ? .live(stored) : .deleted(stored, replacedBy: try table.tombstone(at: key)?.replacedBy)
            }
        }
        return nil
    }

    /// The keys of the rows with this UUID, by series.
    func keys(of uuid: SampleIdentity, among rows: SampleTable.Rows) throws(StoreError) -> [SampleKey] {
        var keys: [SampleKey] = []
        for series in try series(matching: SampleQuery()) {
            keys += try table.keys(of: uuid, among: rows, ofSeries: series.id)
        }
        return keys
    }
}
