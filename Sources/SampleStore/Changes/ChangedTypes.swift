import HealthModel

extension SampleStore.Changes {
    /// The types whose samples changed after an anchor, and the anchor to continue from. This reads no samples, so the
    /// cost grows with the number of commits, not of samples.
    ///
    /// - Returns: The types, including those of samples that were both added and deleted after the anchor.
    /// - Throws: ``StoreError`` of the kind `invalid` if the anchor does not belong to this store's history.
    public func changedTypes(after anchor: Anchor) throws(StoreError) -> (types: Set<SampleType>, anchor: Anchor) {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var epochs = Epochs(connection)
        let start = try epochs.start(of: anchor)
        let last = try store.lastChange()
        guard last > start else { return ([], anchor) }
        let types = try connection.series.types(ofSeries: ChangeTable.seriesAfter, [.integer(start)])
        return (types, try epochs.anchor(after: last))
    }

    /// The reason why a reader with this anchor cannot continue, or `nil` if it can.
    public func reasonNotToKnow(_ anchor: Anchor) throws(StoreError) -> String? { try Epochs(connection).fault(of: anchor) }
}

/// Anchors are ordered by the changes of one store. The order of anchors from different stores has no meaning. The
/// functions that use an anchor check which store it belongs to.
extension Anchor: Comparable {
    public static func < (one: Anchor, other: Anchor) -> Bool { (one.seq, one.token) < (other.seq, other.token) }
}
