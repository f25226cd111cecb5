import HealthModel

extension SampleStore.Repairs {
    /// Returns all repairs, oldest first.
    public func all() throws(StoreError) -> [Migration] { try connection.repairs.migrations("ORDER BY id") }

    /// Returns a repair, or `nil` if the number does not exist.
    public func repair(_ id: Int64) throws(StoreError) -> Migration? {
        try connection.repairs.migrations("WHERE id = ?", [.integer(id)]).first
    }

    /// Returns the repair of a ledger entry.
    func repair(ingest: Int64) throws(StoreError) -> Migration? {
        try connection.repairs.migrations("WHERE ingest = ?", [.integer(ingest)]).first
    }

    /// Calls `body` with each pair of samples of a repair.
    public func forEachPair(of migration: Int64, _ body: (RepairedPair) throws -> Void) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        try connection.repairs.forEachPair(of: migration, body)
    }

    /// Returns the repair that made a sample, or `nil` if none did.
    public func repair(thatMade uuid: SampleIdentity) throws(StoreError) -> Migration? {
        for place in try table.places(of: uuid) {
            if let origin = try connection.repairs.origin(of: place) { return try repair(origin.migration) }
        }
        return nil
    }
}
