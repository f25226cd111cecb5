import HealthModel

/// Writes and counts the deletions, restorations and decisions of one ledger entry. Used inside a transaction.
final class Deletion {
    typealias Kind = DecisionTable.Kind

    let connection: Connection
    /// The id of the ledger entry.
    let ingest: Int64
    /// The only people whose samples may end, or `nil` if those of all may: a member of the household or a client changes nothing of others.
    let people: Set<String>?
    private(set) var deleted = 0
    private(set) var restored = 0
    /// The duplicates of this ledger entry that became samples, once for each time.
    private(set) var ownPromotions: [SampleKey] = []
    /// Whether anything other than samples changed, so that the ledger entry must be kept.
    private(set) var hasChangedMore = false
    private var table: SampleTable { connection.samples }
    /// Whether the store has any derived samples, or `nil` if this is not known yet.
    private var hasDerived: Bool?
    /// Samples derived from those that were deleted or restored.
    private var derived: Set<SampleKey> = []

    init(connection: Connection, ingest: Int64, of people: Set<String>? = nil) {
        self.connection = connection
        self.ingest = ingest
        self.people = people
    }

    /// The error if a sample of somebody else would end.
    static let others = StoreError(
        .invalid, "this would replace a reading that was assigned to another person: only the owner of the hub can do that")

    func changesMore() { hasChangedMore = true }

    /// Deletes samples by a person's decision.
    ///
    /// - Returns: The number of samples deleted.
    @discardableResult
    func delete(_ keys: [SampleKey]) throws(StoreError) -> Int {
        var live: [SampleKey] = []
        for key in keys where try table.contains(key) { live.append(key) }
        try decide(.deleted, live)
        // A deletion is the latest decision, so no other report of the measurement becomes live.
        return try moveToTombstones(live.map { SampleTable.TombstoneMove(key: $0) })
    }

    /// Records a person's decision about samples.
    func decide(_ kind: Kind, _ keys: [SampleKey]) throws(StoreError) {
        for key in keys { try connection.decisions.add(kind, on: key, by: ingest) }
    }

    /// Removes a decision that this ledger entry just recorded about a sample.
    func takeBackDecision(on key: SampleKey) throws(StoreError) {
        try connection.decisions.remove(key, by: ingest)
    }

    @discardableResult
    func moveToTombstones(_ tombstones: [SampleTable.TombstoneMove]) throws(StoreError) -> Int {
        guard !tombstones.isEmpty else { return 0 }
        if let people {
            for tombstone in tombstones {
                guard let person = try connection.series.person(of: tombstone.key.series), people.contains(person) else {
                    throw Self.others
                }
            }
        }
        let count = try table.moveToTombstones(tombstones, by: ingest)
        deleted += count
        try noteDerived(from: tombstones.lazy.map(\.key))
        return count
    }

    func restore(_ restorations: [SampleTable.RestorationMove]) throws(StoreError) {
        guard !restorations.isEmpty else { return }
        restored += try table.restore(restorations, by: ingest)
        try noteDerived(from: restorations.lazy.map(\.key))
    }

    private func noteDerived(from keys: some Sequence<SampleKey>) throws(StoreError) {
        let table = connection.derived
        if hasDerived == nil { hasDerived = try !table.isEmpty }
        guard hasDerived == true else { return }
        for key in keys { derived.formUnion(try table.samples(from: key)) }
    }

    /// Updates the derived samples. They are live only while their inputs are.
    func updateDerived() throws(StoreError) {
        while !derived.isEmpty {
            let keys = derived
            derived = []
            try LiveSampleUpdate(self).update(
                keys.sorted { ($0.series, $0.start, $0.high, $0.low) < ($1.series, $1.start, $1.high, $1.low) })
        }
    }

    /// Promotes a duplicate to a sample. In the import's counts it moves from duplicates to stored samples, unless the
    /// import is the current one, which does this itself.
    func promoteDuplicate(_ key: SampleKey) throws(StoreError) {
        guard let ingestID = try connection.duplicates.duplicate(at: key)?.ingest,
            try table.add(DuplicateTable.sample, key.values, ingestedBy: ingestID, cause: ingest)
        else { return }
        try connection.settings.set("standIns", to: .integer(1))
        try noteDerived(from: [key])
        guard ingestID != ingest else {
            ownPromotions.append(key)
            return
        }
        try connection.ledger.promoteDuplicate(of: ingestID)
        changesMore()
    }
}
