import HealthModel

/// The reason why a reading is a sample of its own or a duplicate.
public struct Explanation: Sendable {
    /// Another reading that agrees with this one.
    public struct Relation: Sendable {
        /// The other reading.
        public var other: StoredSample
        /// The rule by which they agree.
        public var rule: DuplicateRule
        /// The id of the ledger entry that made the decision.
        public var ingest: Int64
    }

    /// The reading itself.
    public var stored: StoredSample
    /// The original of this reading, or `nil` if the reading is not a duplicate.
    public var first: Relation?
    /// The duplicates of this reading, which arrived over other paths.
    public var witnesses: [Relation] = []
    /// The samples from other devices that agree with this one.
    public var linked: [Relation] = []
}

extension SampleStore.Duplicates {
    /// Explains a reading and the readings that agree with it. Returns `nil` if no sample, tombstone or duplicate has
    /// this UUID.
    public func explain(_ uuid: SampleIdentity) throws(StoreError) -> Explanation? {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var explanation: Explanation?
        var place: SampleKey?
        for rows in [SampleTable.Rows.live, .duplicates, .tombstones] where explanation == nil {
            for candidate in try store.samples.places(of: uuid, among: rows) {
                guard let stored = try table.stored(at: candidate, among: rows) else { continue }
                explanation = Explanation(stored: stored)
                place = candidate
                break
            }
        }
        guard var explanation, let place else { return nil }
        let duplicates = connection.duplicates
        let own = try duplicates.countingDuplicate(at: place)
        let first = own.map { $0.isVersion ? place : $0.first } ?? place
        let others = try duplicates.countingDuplicates(of: first).filter { $0.place != place }
        let samples = connection.samples
        if try !samples.contains(place) {
            // The sample is the first report, or one that was found later and is more precise.
            var standIn: DuplicateTable.Duplicate?
            for other in others where standIn == nil && !other.isVersion {
                if try samples.contains(other.place) { standIn = other }
            }
            if let standIn, try !samples.contains(first) {
                explanation.first = try relation(to: standIn.place, (own ?? standIn).rule, (own ?? standIn).ingest)
            } else if let own {
                explanation.first = try relation(to: own.first, own.rule, own.ingest)
            }
        } else {
            if let own, first != place, try samples.tombstone(at: first)?.replacedBy != nil {
                if let found = try relation(to: first, own.rule, own.ingest) { explanation.witnesses.append(found) }
            }
            for other in others {
                if let found = try relation(to: other.place, other.rule, other.ingest) { explanation.witnesses.append(found) }
            }
        }
        for link in try duplicates.links(of: place) {
            if let found = try relation(to: link.other, link.rule, link.ingest) { explanation.linked.append(found) }
        }
        return explanation
    }

    /// The duplicates found by an import: the readings in it that had already arrived over another path, and those that it replaced because
    /// it reports them more precisely.
    public func witnesses(of ingest: Int64, limit: Int) throws(StoreError) -> [(
        witness: SampleIdentity, first: SampleIdentity, rule: DuplicateRule
    )] {
        var found: [(witness: SampleIdentity, first: SampleIdentity, rule: DuplicateRule)] = []
        let reader = MeasurementReader(connection: connection)
        for duplicate in try connection.duplicates.duplicates(broughtBy: ingest, limit: limit) {
            let history = try reader.measurement(of: duplicate.place).history
            var (place, first) = (duplicate.place, duplicate.first)
            if case .live? = history.state(of: place), !duplicate.isVersion {
                guard case .duplicate? = history.state(of: first) else { continue }
                (place, first) = (history.root(of: first), place)
            } else if case .duplicate(let representative)? = history.state(of: place) {
                first = representative
            }
            guard let witness = try table.identity(at: place), let original = try table.identity(at: first),
                let rule = DuplicateRule(rawValue: duplicate.rule)
            else { continue }
            found.append((witness, original, rule))
        }
        return found
    }

    private func relation(to place: SampleKey, _ rule: String, _ ingest: Int64) throws(StoreError) -> Explanation.Relation? {
        guard let rule = DuplicateRule(rawValue: rule) else { return nil }
        for rows in [SampleTable.Rows.live, .duplicates, .tombstones] {
            guard let other = try table.stored(at: place, among: rows) else { continue }
            return Explanation.Relation(other: other, rule: rule, ingest: ingest)
        }
        return nil
    }
}
