import HealthModel

extension SampleStore.Changes {
    /// Passes every change after an anchor to `body`, in order and exactly once. A sample that was added and then
    /// deleted appears only as deleted.
    ///
    /// - Parameter anchor: The number of the last change seen, or 0 for all changes. A number does not identify its
    ///   store, so readers keep an ``Anchor`` instead.
    /// - Parameter pruned: Called with each pruning.
    func read(
        after anchor: Int64, types: Set<SampleType>?, pruned: (Pruning) throws -> Void = { _ in },
        _ body: (SampleChange) throws -> Void
    ) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let series = Dictionary(
            uniqueKeysWithValues: try store.samples.series(matching: SampleQuery(types: types)).map { ($0.id, $0) })
        try ChangeReader(connection: connection, series: series).read(after: anchor, pruned: pruned, body)
    }
}
