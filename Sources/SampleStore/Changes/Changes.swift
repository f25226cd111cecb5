import HealthModel

extension SampleStore {
    /// Gives every change behind an anchor to `body`, in order, each once; a sample that was added and deleted since shows as deleted
    /// only.
    ///
    /// - Parameter anchor: the number of the last change seen; 0 for all. A number says nothing of the store that it is of: readers
    ///   keep an ``Anchor``.
    /// - Parameter pruned: is told of what was removed for good.
    func changes(
        after anchor: Int64, types: Set<SampleType>?, pruned: (Pruning) throws -> Void = { _ in },
        _ body: (SampleChange) throws -> Void
    ) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let names = Dictionary(uniqueKeysWithValues: try series(matching: SampleQuery(types: types)).map { ($0.id, $0.type) })
        try ChangeReader(connection: connection, series: names).read(after: anchor, pruned: pruned, body)
    }
}
