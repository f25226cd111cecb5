import HealthModel

/// A deleted sample with its deletion.
public struct DeletedSample: Sendable {
    /// The sample as it was stored.
    public let stored: StoredSample
    /// The ledger entry that deleted it.
    public let ingest: Int64
    /// The change number of the deletion.
    public let deletion: Int64
    /// The UUID of the sample that replaced it, or `nil`.
    public let replacedBy: String?
}

extension SampleStore.Samples {
    /// Returns the samples that were deleted last, the last deletion last. Samples that were pruned or erased are not among them.
    ///
    /// - Parameters:
    ///   - types: The types, or `nil` for all.
    ///   - from, to: The range of their starts, without `to`.
    ///   - limit: The maximum number of samples.
    public func deleted(
        types: Set<SampleType>?, from: Instant?, to: Instant?, person: String?, limit: Int
    ) throws(StoreError) -> [DeletedSample] {
        guard limit > 0 else { return [] }
        var latest: [(key: SampleKey, deletion: Int64)] = []
        for series in try store.allSeries()
        where types?.contains(series.type) ?? true && (person == nil || series.person == person) {
            let rows = try table.scan(
                [.key, .deletion], of: series.id, from: from?.microseconds ?? .min,
                through: to.map { $0.microseconds - 1 } ?? .max, among: .tombstones, .remembered, order: .unordered)
            while try rows.next() {
                latest.append((try rows.key, rows.tombstone.deletion))
                if latest.count >= 2 * min(limit, 1_000_000) + 1000 { Self.cut(&latest, to: limit) }
            }
        }
        Self.cut(&latest, to: limit)
        let decoder = SampleDecoder(connection: connection)
        var deleted: [DeletedSample] = []
        for (key, deletion) in latest {
            guard let stored = try table.stored(at: key, among: .tombstones, decoder),
                let tombstone = try table.tombstone(at: key)
            else { continue }
            deleted.append(
                DeletedSample(stored: stored, ingest: tombstone.ingest, deletion: deletion, replacedBy: tombstone.replacedBy))
        }
        return deleted
    }

    private static func cut(_ latest: inout [(key: SampleKey, deletion: Int64)], to limit: Int) {
        latest.sort { $0.deletion < $1.deletion }
        latest.removeFirst(max(0, latest.count - limit))
    }
}
