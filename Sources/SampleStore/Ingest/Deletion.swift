import HealthModel

/// Turns samples into tombstones and back for one ingest, and counts them. Used inside a transaction.
final class Deletion {
    let connection: Connection
    /// What deletes and restores.
    let ingest: Int64
    private(set) var deleted = 0
    private(set) var restored = 0
    /// Something else than samples was changed as well, so that the ledger has to tell.
    private(set) var hasChangedMore = false
    private var table: SampleTable { SampleTable(connection: connection) }

    init(connection: Connection, ingest: Int64) {
        self.connection = connection
        self.ingest = ingest
    }

    func changesMore() { hasChangedMore = true }

    /// Deletes one sample; false where there is none.
    @discardableResult
    func delete(_ place: SampleKey, replacedBy: String? = nil) throws(StoreError) -> Bool {
        guard try table.bury(place, replacedBy: replacedBy, by: ingest) else { return false }
        deleted += 1
        return true
    }

    /// Gives back a deleted sample as it was; false where there is no such tombstone, and where another version of its record is live.
    @discardableResult
    func restore(_ place: SampleKey) throws(StoreError) -> Bool {
        if try Records.hasLiveVersion(connection, of: place) { return false }
        // What a repair replaced comes back by undoing the repair: else one reading would be there twice.
        if try Replacements(connection: connection).successor(of: place) != nil { return false }
        guard try table.revive(place, by: ingest) else { return false }
        restored += 1
        return true
    }
}
