import HealthModel

/// A sample that tells a reading again beside the one that told it first: in another unit, or over another path.
public struct Retelling: Hashable, Sendable {
    /// The sample.
    public var uuid: SampleIdentity
    /// The one that stays where they are merged.
    public var first: SampleIdentity
    /// Whether it is left as it is, since other readings are its witnesses or linked with it, or both were repaired.
    public var isLeft: Bool
}

extension SampleStore {
    /// Samples that tell a reading again: in another unit, which an earlier version, or `import --exact`, stored beside the first; or over
    /// another path, where a repair has moved one to where the other stands, an undoing has given it back there, or `--exact` stored both.
    public func retellings() throws(StoreError) -> [Retelling] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let names = WitnessRows(connection: connection)
        var found: [Retelling] = []
        func note(_ place: SampleKey, _ first: SampleKey, _ isLeft: Bool) throws(StoreError) {
            guard let uuid = try names.uuid(of: place), let first = try names.uuid(of: first) else { return }
            found.append(Retelling(uuid: uuid, first: first, isLeft: isLeft))
        }
        try RetoldSamples(connection: connection).search { pair, _ throws(StoreError) in
            try note(pair.place, pair.first, pair.isLeft)
        }
        try TwoPathSamples(connection: connection).search { pairs throws(StoreError) in
            for pair in pairs { try note(pair.place, pair.first, pair.isLeft) }
        }
        return found
    }

    /// How many samples that came behind this number of the change log are told over another path as well, as one more sample.
    public func retoldOverPaths(since: Int64) throws(StoreError) -> Int {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var count = 0
        try TwoPathSamples(connection: connection).search(since: since) { count += $0.count }
        return count
    }

    /// Makes samples that tell a reading again witnesses of the one that told it first. Undoing the ingest gives them back.
    @discardableResult
    public func mergeRetellings(description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try resumePending()
        return try change(description) { _, deletion in
            try refuseIfPending()
            var pairs: [(pair: RetoldSamples.Pair, type: SampleType)] = []
            try RetoldSamples(connection: connection).search { pair, type throws(StoreError) in
                if !pair.isLeft { pairs.append((pair, type)) }
            }
            for (pair, type) in pairs {
                try WitnessKeeper(connection: connection, batch: batch, ingest: pair.bringer, type: type, rule: .unit)
                    .record(pair.place, asWitnessOf: pair.first, deletion)
            }
            var count = pairs.count
            try TwoPathSamples(connection: connection).search { pairs throws(StoreError) in
                for pair in pairs where !pair.isLeft {
                    try WitnessKeeper(connection: connection, batch: batch, ingest: pair.bringer, type: pair.type)
                        .record(pair.place, asWitnessOf: pair.first, lasting: pair.lasts, deletion)
                    count += 1
                }
            }
            return count
        }
    }
}
