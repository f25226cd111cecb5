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
    public var duplicates: [Relation] = []
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
        var key: SampleKey?
        for rows in [SampleTable.Rows.live, .duplicates, .tombstones] where explanation == nil {
            for candidate in try store.samples.keys(of: uuid, among: rows) {
                guard let stored = try table.stored(at: candidate, among: rows) else { continue }
                explanation = Explanation(stored: stored)
                key = candidate
                break
            }
        }
        guard var explanation, let key else { return nil }
        let duplicates = connection.duplicates
        let own = try duplicates.countingDuplicate(at: key)
        let first = own.map { $0.isVersion ? key : $0.first } ?? key
        let others = try duplicates.countingDuplicates(of: first).filter { $0.key != key }
        let samples = connection.samples
        if try !samples.contains(key) {
            // The sample is the first report, or one that was found later and is more precise.
            var standIn: DuplicateTable.Duplicate?
            for other in others where standIn == nil && !other.isVersion {
                if try samples.contains(other.key) { standIn = other }
            }
            if let standIn, try !samples.contains(first) {
                explanation.first = try relation(to: standIn.key, (own ?? standIn).rule, (own ?? standIn).ingest)
            } else if let own {
                explanation.first = try relation(to: own.first, own.rule, own.ingest)
            }
        } else {
            if let own, first != key, try samples.tombstone(at: first)?.replacedBy != nil {
                if let found = try relation(to: first, own.rule, own.ingest) { explanation.duplicates.append(found) }
            }
            for other in others {
                if let found = try relation(to: other.key, other.rule, other.ingest) { explanation.duplicates.append(found) }
            }
        }
        for link in try duplicates.links(of: key) {
            if let found = try relation(to: link.other, link.rule, link.ingest) { explanation.linked.append(found) }
        }
        return explanation
    }

    /// The duplicates found by an import: the readings in it that had already arrived over another path, and those that it replaced because
    /// it reports them more precisely.
    public func nearDuplicates(of ingest: Int64, limit: Int) throws(StoreError) -> [(
        duplicateID: SampleIdentity, first: SampleIdentity, rule: DuplicateRule
    )] {
        var found: [(duplicateID: SampleIdentity, first: SampleIdentity, rule: DuplicateRule)] = []
        let reader = MeasurementReader(connection: connection)
        for duplicate in try connection.duplicates.duplicates(ingestedBy: ingest, limit: limit) {
            let history = try reader.measurement(of: duplicate.key).history
            var (key, first) = (duplicate.key, duplicate.first)
            if case .live? = history.state(of: key), !duplicate.isVersion {
                guard case .duplicate? = history.state(of: first) else { continue }
                (key, first) = (history.root(of: first), key)
            } else if case .duplicate(let representative)? = history.state(of: key) {
                first = representative
            }
            guard let duplicateID = try table.identity(at: key), let original = try table.identity(at: first),
                let rule = DuplicateRule(rawValue: duplicate.rule)
            else { continue }
            found.append((duplicateID, original, rule))
        }
        return found
    }

    private func relation(to key: SampleKey, _ rule: String, _ ingest: Int64) throws(StoreError) -> Explanation.Relation? {
        guard let rule = DuplicateRule(rawValue: rule) else { return nil }
        for rows in [SampleTable.Rows.live, .duplicates, .tombstones] {
            guard let other = try table.stored(at: key, among: rows) else { continue }
            return Explanation.Relation(other: other, rule: rule, ingest: ingest)
        }
        return nil
    }
}
