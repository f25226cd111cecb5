import HealthModel

/// A sample that tells a reading again, in another unit, beside the one that told it first.
public struct Retelling: Hashable, Sendable {
    /// The sample.
    public var uuid: SampleIdentity
    /// The one that came first.
    public var first: SampleIdentity
    /// Whether it is left as it is, since other readings are its witnesses or linked with it.
    public var isLeft: Bool
}

extension SampleStore {
    /// Samples that tell a reading again in another unit, which an earlier version, or `import --exact`, stored beside the first.
    public func retellings() throws(StoreError) -> [Retelling] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let names = Witnesses(connection: connection, deletion: Deletion(connection: connection, ingest: 0))
        var found: [Retelling] = []
        try RetoldSamples(connection: connection).search { pair, _ throws(StoreError) in
            guard let uuid = try names.uuid(of: pair.place), let first = try names.uuid(of: pair.first) else { return }
            found.append(Retelling(uuid: uuid, first: first, isLeft: pair.isLeft))
        }
        return found
    }

    /// Makes samples that tell a reading again in another unit witnesses of the one that told it first. Undoing the ingest gives them back.
    @discardableResult
    public func mergeRetellings(description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try change(description) { _, deletion in
            var pairs: [(pair: RetoldSamples.Pair, type: QuantityType)] = []
            try RetoldSamples(connection: connection).search { pair, type throws(StoreError) in
                if !pair.isLeft { pairs.append((pair, type)) }
            }
            for (pair, type) in pairs {
                try WitnessKeeper(connection: connection, batch: batch, ingest: pair.bringer, type: type, rule: .unit)
                    .record(pair.place, asWitnessOf: pair.first, deletion)
            }
            return pairs.count
        }
    }
}
