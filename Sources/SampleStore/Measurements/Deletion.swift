import HealthModel

/// Writes and counts the deletions, restorations and decisions of one ledger entry. Used inside a transaction.
final class Deletion {
    typealias Kind = DecisionTable.Kind

    let connection: Connection
    /// The id of the ledger entry.
    let ingest: Int64
    private(set) var deleted = 0
    private(set) var restored = 0
    /// Whether anything other than samples changed, so that the ledger entry must be kept.
    private(set) var hasChangedMore = false
    private var table: SampleTable { connection.samples }
    /// Whether the store has any derived samples, or `nil` if this is not known yet.
    private var hasDerived: Bool?
    /// Samples derived from those that were deleted or restored.
    private var derived: Set<SampleKey> = []

    init(connection: Connection, ingest: Int64) {
        self.connection = connection
        self.ingest = ingest
    }

    func changesMore() { hasChangedMore = true }

    /// Deletes samples by a person's decision.
    ///
    /// - Returns: The number of samples deleted.
    @discardableResult
    func delete(_ places: [SampleKey]) throws(StoreError) -> Int {
        var live: [SampleKey] = []
        for place in places where try table.contains(place) { live.append(place) }
        try decide(.deleted, live)
        // A deletion is the latest decision, so no other report of the measurement becomes live.
        return try bury(live.map { SampleTable.Burial(place: $0) })
    }

    /// Records a person's decision about samples.
    func decide(_ kind: Kind, _ places: [SampleKey]) throws(StoreError) {
        for place in places { try connection.decisions.add(kind, on: place, by: ingest) }
    }

    /// Removes a decision that this ledger entry just recorded about a sample.
    func takeBackDecision(on place: SampleKey) throws(StoreError) {
        try connection.decisions.remove(place, by: ingest)
    }

    @discardableResult
    func bury(_ burials: [SampleTable.Burial]) throws(StoreError) -> Int {
        guard !burials.isEmpty else { return 0 }
        let count = try table.bury(burials, by: ingest)
        deleted += count
        try noteDerived(from: burials.lazy.map(\.place))
        return count
    }

    func revive(_ revivals: [SampleTable.Revival]) throws(StoreError) {
        guard !revivals.isEmpty else { return }
        restored += try table.revive(revivals, by: ingest)
        try noteDerived(from: revivals.lazy.map(\.place))
    }

    private func noteDerived(from places: some Sequence<SampleKey>) throws(StoreError) {
        let table = connection.derived
        if hasDerived == nil { hasDerived = try !table.isEmpty }
        guard hasDerived == true else { return }
        for place in places { derived.formUnion(try table.samples(from: place)) }
    }

    /// Updates the derived samples. They are live only while their inputs are.
    func settleDerived() throws(StoreError) {
        while !derived.isEmpty {
            let places = derived
            derived = []
            try Settlement(self).settle(
                places.sorted { ($0.series, $0.start, $0.high, $0.low) < ($1.series, $1.start, $1.high, $1.low) })
        }
    }

    /// Promotes a duplicate to a sample. In the import's counts it moves from duplicates to stored samples, unless the
    /// import is the current one, which does this itself.
    func addWitness(_ place: SampleKey) throws(StoreError) {
        guard let bringer = try connection.duplicates.duplicate(at: place)?.ingest,
            try table.add(DuplicateTable.sample, place.values, broughtBy: bringer, cause: ingest)
        else { return }
        try connection.settings.set("standIns", to: .integer(1))
        try noteDerived(from: [place])
        guard bringer != ingest else { return }
        try connection.ledger.promoteDuplicate(of: bringer)
        changesMore()
    }
}
