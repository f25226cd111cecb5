import HealthModel

/// A sample that a person deleted.
public struct RestorableSample: Sendable {
    /// The sample as it was.
    public var stored: StoredSample
    /// The time of the deletion.
    public var deleted: Instant
}

extension SampleStore.Samples {
    /// Returns the samples of a person that somebody deleted and that can be restored, the last deletion first. Samples that a repair
    /// replaced are not among them.
    public func restorable(of person: String, limit: Int) throws -> [RestorableSample] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let decoder = SampleDecoder(connection: connection)
        var (found, times): ([RestorableSample], [Int64: Instant]) = ([], [:])
        for (key, entry) in try connection.decisions.deletions(ofPerson: person) {
            guard found.count < limit else { break }
            guard let stored = try table.stored(at: key, among: .tombstones, decoder),
                try table.tombstone(at: key)?.replacedBy == nil
            else { continue }
            if times[entry] == nil {
                times[entry] = try store.ledger.account(of: entry).map { Instant(microseconds: $0.received) }
            }
            found.append(RestorableSample(stored: stored, deleted: times[entry] ?? stored.sample.start))
        }
        return found
    }
}
