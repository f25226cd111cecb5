import HealthModel

/// A sample that repeats an earlier one, in another unit or over another path.
public struct Retelling: Hashable, Sendable {
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
    public func retellings() throws(StoreError) -> [Retelling] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let names = connection.samples
        var found: [Retelling] = []
        let reader = MeasurementReader(connection: connection)
        func note(_ place: SampleKey, _ first: SampleKey, _ isLeft: Bool) throws(StoreError) {
            var (place, first) = (place, first)
            // The more precise report remains, as it was reported before repairs.
            if let own = try names.precision(of: reader.root(of: place)),
                let other = try names.precision(of: reader.root(of: first)),
                own < other
            {
                (place, first) = (first, place)
            }
            guard let uuid = try names.identity(at: place), let first = try names.identity(at: first) else { return }
            found.append(Retelling(uuid: uuid, first: first, isLeft: isLeft))
        }
        try StoredUnitDuplicates(connection: connection).search { pair, _ throws(StoreError) in
            try note(pair.place, pair.first, pair.isLeft)
        }
        try StoredPathDuplicates(connection: connection).search { pairs throws(StoreError) in
            for pair in pairs { try note(pair.place, pair.first, pair.isLeft) }
        }
        return found
    }

    /// The number of samples that were added after this change number and are also stored from another path.
    public func retoldOverPaths(since: Int64) throws(StoreError) -> Int {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var count = 0
        try StoredPathDuplicates(connection: connection).search(since: since) { count += $0.count }
        return count
    }

    /// Turns samples that repeat an earlier one into its duplicates. Undoing the ledger entry restores them.
    @discardableResult
    public func merge(description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try store.resumePending()
        return try store.samples.change(description) { _, deletion in
            try store.refuseIfPending()
            var pairs: [(pair: StoredUnitDuplicates.Pair, type: SampleType)] = []
            try StoredUnitDuplicates(connection: connection).search { pair, type throws(StoreError) in
                if !pair.isLeft { pairs.append((pair, type)) }
            }
            for (pair, type) in pairs {
                try WitnessKeeper(connection: connection, batch: store.batch, ingest: pair.bringer, type: type, rule: .unit)
                    .record(pair.place, asWitnessOf: pair.first, deletion)
            }
            var count = pairs.count
            try StoredPathDuplicates(connection: connection).search { pairs throws(StoreError) in
                for pair in pairs where !pair.isLeft {
                    try WitnessKeeper(connection: connection, batch: store.batch, ingest: pair.bringer, type: pair.type)
                        .record(pair.place, asWitnessOf: pair.first, lasting: pair.lasts, deletion)
                    count += 1
                }
            }
            return count
        }
    }
}
