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
            for place in try places(of: uuid, among: rows) {
                guard let stored = try table.stored(at: place, among: rows) else { continue }
                return rows == .live ? .live(stored) : .deleted(stored, replacedBy: try table.tombstone(at: place)?.replacedBy)
            }
        }
        return nil
    }

    /// The keys of the rows with this UUID, by series.
    func places(of uuid: SampleIdentity, among rows: SampleTable.Rows) throws(StoreError) -> [SampleKey] {
        var places: [SampleKey] = []
        for series in try series(matching: SampleQuery()) {
            places += try table.places(of: uuid, among: rows, ofSeries: series.id)
        }
        return places
    }
}
