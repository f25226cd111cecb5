import HealthModel

/// Writes and counts the deletions, restorations and decisions of one ledger entry. Used inside a transaction.
final class Deletion {
    typealias Kind = MeasurementHistory<SampleKey>.Decision.Kind

    let connection: Connection
    /// The id of the ledger entry.
    let ingest: Int64
    private(set) var deleted = 0
    private(set) var restored = 0
    /// Whether anything other than samples changed, so that the ledger entry must be kept.
    private(set) var hasChangedMore = false
    private var table: SampleTable { SampleTable(connection: connection) }
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
        for place in places {
            try connection.run(
                "INSERT OR REPLACE INTO decided(series, start, hash, ingest, what) VALUES(?, ?, ?, ?, ?)", .integer(place.series),
                .integer(place.start), .blob(place.hash), .integer(ingest), .integer(kind.rawValue))
        }
    }

    /// Whether a person has decided anything about any sample.
    var hasDecisions: Bool {
        get throws(StoreError) { try connection.integer("SELECT 1 FROM decided LIMIT 1") != nil }
    }

    /// Whether a person restored the sample.
    func isRestored(_ place: SampleKey) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM decided WHERE (series, start, hash) = (?, ?, ?) AND what = ? LIMIT 1", .integer(place.series),
            .integer(place.start), .blob(place.hash), .integer(Kind.restored.rawValue)) != nil
    }

    /// Removes a decision that this ledger entry just recorded about a sample.
    func takeBackDecision(on place: SampleKey) throws(StoreError) {
        try connection.run(
            "DELETE FROM decided WHERE series = ? AND start = ? AND hash = ? AND ingest = ?", .integer(place.series),
            .integer(place.start), .blob(place.hash), .integer(ingest))
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
        if hasDerived == nil { hasDerived = try connection.integer("SELECT 1 FROM derived LIMIT 1") != nil }
        guard hasDerived == true else { return }
        for place in places { derived.formUnion(try DerivedSamples(connection: connection).samples(from: place)) }
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
        let here: [Value] = [.integer(place.series), .integer(place.start), .blob(place.hash)]
        let bringer = try connection.integer(
            "SELECT ingest FROM witness WHERE series = ? AND start = ? AND hash = ?", here[0], here[1], here[2])
        guard let bringer,
            try table.add(
                "SELECT \(SampleTable.columns) FROM witness_row WHERE series = ? AND start = ? AND hash = ?", here,
                broughtBy: bringer, cause: ingest)
        else { return }
        try connection.settings.set("standIns", to: .integer(1))
        try noteDerived(from: [place])
        guard bringer != ingest else { return }
        try connection.ledger.promoteDuplicate(of: bringer)
        changesMore()
    }
}
