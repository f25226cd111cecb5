import HealthModel

/// A sample that repeats an earlier one, in another unit or over another path.
public struct MergeCandidate: Hashable, Sendable {
    /// The UUID of the sample.
    public var uuid: SampleIdentity
    /// The UUID of the sample that remains if the two are merged.
    public var first: SampleIdentity
    /// Whether the sample is kept because other readings are its duplicates or are linked with it, or because both
    /// samples were repaired.
    public var isLeft: Bool
}

extension SampleStore.Duplicates {
    /// The samples that repeat another sample. A repetition in another unit was stored by `import --exact`. A repetition
    /// over another path was moved there by a repair, restored by an undo, or stored by `import --exact`.
    public func mergeCandidates() throws(StoreError) -> [MergeCandidate] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let names = connection.samples
        var found: [MergeCandidate] = []
        let reader = MeasurementReader(connection: connection)
        func note(_ key: SampleKey, _ first: SampleKey, _ isLeft: Bool) throws(StoreError) {
            var (key, first) = (key, first)
            // The more precise report remains, as it was reported before repairs.
            if let own = try names.precision(of: reader.root(of: key)),
                let other = try names.precision(of: reader.root(of: first)),
                own < other
            {
                (key, first) = (first, key)
            }
            guard let uuid = try names.identity(at: key), let first = try names.identity(at: first) else { return }
            found.append(MergeCandidate(uuid: uuid, first: first, isLeft: isLeft))
        }
        try StoredRepeats(connection: connection).search { pairs throws(StoreError) in
            for pair in pairs { try note(pair.key, pair.first, pair.isLeft) }
        }
        return found
    }

    /// The number of samples that were added after this change number and are also stored from another path.
    public func duplicateCount(since: Int64) throws(StoreError) -> Int {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var count = 0
        try StoredRepeats(connection: connection).search(since: since) { count += $0.count }
        return count
    }

    /// Turns samples that repeat an earlier one into its duplicates. Undoing the ledger entry restores them.
    @discardableResult
    public func merge(description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try store.resumePending()
        return try store.samples.change(description) { _, deletion in
            try store.refuseIfPending()
            return try merge(deletion)
        }
    }

    /// Turns samples that repeat an earlier one into its duplicates. They are apart again while the entry of the deletion is undone.
    ///
    /// - Parameter since: If not 0, only pairs of two sources are merged in which a sample was added after this change number.
    /// - Returns: The number of pairs.
    func merge(since: Int64 = 0, _ deletion: Deletion) throws(StoreError) -> Int {
        var count = 0
        try StoredRepeats(connection: connection).search(since: since) { pairs throws(StoreError) in
            for pair in pairs where !pair.isLeft {
                let decision = try connection.duplicates.decision(
                    of: pair.ingestID, pair.first.series, rule: pair.rule.rawValue, merge: deletion.ingest)
                try connection.duplicates.add(pair.key, of: pair.first, decision: decision)
                try LiveSampleUpdate(deletion).update([pair.key])
                count += 1
            }
        }
        return count
    }
}
