import HealthModel

extension SampleStore.Samples {
    /// The number of a series' samples that are searched for a matching one.
    private static let depth = 10_000

    /// Returns the last matching sample of each series, by start.
    ///
    /// - Parameters:
    ///   - types: The types, or `nil` for all.
    ///   - person: The person, or `nil` for everybody.
    ///   - passes: The condition, checked for at most the last 10,000 samples of a series.
    public func latest(
        of types: Set<SampleType>? = nil, person: String? = nil, where passes: (Sample) -> Bool = { _ in true }
    ) throws(StoreError) -> [StoredSample] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let decoder = SampleDecoder(connection: connection)
        var found: [StoredSample] = []
        for series in try series(matching: SampleQuery(types: types, person: person)) {
            let rows = try table.scan(.whole, of: series.id, order: .startAndArrivalDescending, limit: Self.depth)
            while try rows.next() {
                let stored = try rows.stored(decoder)
                guard passes(stored.sample) else { continue }
                found.append(stored)
                break
            }
        }
        return found
    }
}
