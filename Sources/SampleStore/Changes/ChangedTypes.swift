import HealthModel

extension SampleStore {
    /// Which types of samples came or went behind an anchor, and the anchor of a reader who knows that. No sample is read for it: its cost
    /// grows with the commits, not with what they brought.
    ///
    /// - Returns: of samples that came and went since also their type.
    /// - Throws: ``StoreError`` of the kind `invalid` where the anchor is not of this store's history.
    public func changedTypes(after anchor: Anchor) throws(StoreError) -> (types: Set<SampleType>, anchor: Anchor) {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var epochs = Epochs(connection)
        let start = try epochs.start(of: anchor)
        let last = try lastChange()
        guard last > start else { return ([], anchor) }
        let statement = try connection.statement(
            """
            SELECT type, kind FROM series WHERE id IN (
                SELECT series FROM change
                WHERE first_seq > ?1 - (SELECT value FROM setting WHERE name = 'longestChange') AND last_seq > ?1)
            """)
        defer { statement.reset() }
        try statement.bind([.integer(start)])
        var types: Set<SampleType> = []
        while try statement.step() { types.insert(try Self.type(statement.text(0), kind: statement.integer(1))) }
        return (types, try epochs.anchor(behind: last))
    }

    /// Why a reader with this anchor can't go on; `nil` where it can.
    public func reasonNotToKnow(_ anchor: Anchor) throws(StoreError) -> String? { try Epochs(connection).fault(of: anchor) }
}

/// In the order of one store's changes. Of two stores' anchors neither is really before the other; which store an anchor is of is looked at
/// where it is used.
extension Anchor: Comparable {
    public static func < (one: Anchor, other: Anchor) -> Bool { (one.seq, one.token) < (other.seq, other.token) }
}
