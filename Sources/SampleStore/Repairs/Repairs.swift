import HealthModel

extension SampleStore.Repairs {
    /// Returns all repairs, oldest first.
    public func all() throws(StoreError) -> [StoredRepair] { try connection.repairs.storedRepairs("ORDER BY id") }

    /// Returns a repair, or `nil` if the number does not exist.
    public func repair(_ id: Int64) throws(StoreError) -> StoredRepair? {
        try connection.repairs.storedRepairs("WHERE id = ?", [.integer(id)]).first
    }

    /// Returns the repair of a ledger entry.
    func repair(ingest: Int64) throws(StoreError) -> StoredRepair? {
        try connection.repairs.storedRepairs("WHERE ingest = ?", [.integer(ingest)]).first
    }

    /// Calls `body` with each pair of samples of a repair.
    public func forEachPair(of repairID: Int64, _ body: (RepairedPair) throws -> Void) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        try connection.repairs.forEachPair(of: repairID, body)
    }

    /// Returns the repair that made a sample, or `nil` if none did.
    public func repair(ofEntry uuid: SampleIdentity) throws(StoreError) -> StoredRepair? {
        for key in try table.keys(of: uuid) {
            if let origin = try connection.repairs.origin(of: key) { return try repair(origin.repairID) }
        }
        return nil
    }
}
