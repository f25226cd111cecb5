import HealthModel
import Pipeline

/// Completion of stored readings, for example a meter's record that first arrived without its context and arrives whole in a later
/// collection.
extension SampleStore.Repairs {
    /// Completes readings with the additional metadata of equal readings in a batch. Within the batch, the first equal reading gets the
    /// metadata of the others. A stored sample is repaired: it is replaced by a sample with all of the metadata. Existing metadata is not
    /// changed. Samples that a person deleted and repairs that were undone stay as they are.
    ///
    /// Only readings with a time from their device are completed. Used inside a transaction, before the batch is stored.
    ///
    /// - Returns: The number of stored samples that were repaired.
    @discardableResult
    public func complete(_ batch: inout [GatedSample], at now: Instant) throws -> Int {
        let repeating = batch.indices.filter { index in
            let sample = batch[index].sample
            return sample.metadata != nil && sample.timeOrigin != .receipt && sample.record == nil && batch[index].rule == nil
                && sample.origin.kind == .quantity
        }
        guard !repeating.isEmpty else { return 0 }
        merge(&batch)
        var found: [Replacement] = []
        let rows = RepairRows(connection: connection, interner: store.interner)
        var seen: Set<SampleKey> = []
        for index in repeating {
            guard let next = try completion(by: batch[index].sample, rows), seen.insert(next.old).inserted else {
                continue
            }
            found.append(next)
        }
        guard !found.isEmpty else { return 0 }
        let repairID = try connection.repairs.nextNumber()
        let ingest = try store.beginIngest(
            IngestDescription(kind: .migrate, name: Repair.words(of: Self.completing), received: now.microseconds))
        let writer = try ReplacementWriter(store, ingest: ingest.id, repairID: repairID)
        for index in found.indices { found[index].ingestID = ingest.id }
        try writer.write(found)
        try writer.finish()
        try closeAccount(ingest.id, writer, at: now)
        try connection.repairs.add(
            StoredRepair(
                id: repairID, ingest: ingest.id, repair: Self.completing, conditions: "{}", source: "duplicates",
                applied: now.microseconds, state: "applied", matched: found.count, repaired: found.count, merged: 0,
                alreadyRight: 0, ambiguous: 0, impossible: 0))
        return found.count
    }

    /// The text of this repair in the list of repairs.
    private static let completing = "complete metadata"

    /// Adds the metadata of equal readings in a batch to the first of them.
    private func merge(_ batch: inout [GatedSample]) {
        var first: [SampleIdentity: Int] = [:]
        for index in batch.indices where batch[index].sample.timeOrigin != .receipt {
            let identity = batch[index].sample.identity
            guard let earlier = first[identity] else {
                first[identity] = index
                continue
            }
            guard let more = batch[index].sample.metadata,
                let both = Self.completed(batch[earlier].sample.metadata, by: more)
            else { continue }
            batch[earlier].sample.metadata = both
        }
    }

    /// Returns the combined metadata, in which existing entries take precedence, or nil if the other has nothing to add.
    private static func completed(_ metadata: Metadata?, by other: Metadata) -> Metadata? {
        let known = Set((metadata?.entries ?? []).map(\.key) + ["cutOff", "reservedBits"])
        let more = other.entries.filter { !known.contains($0.key) }
        guard !more.isEmpty else { return nil }
        return Metadata((metadata?.entries ?? []).map { ($0.key, $0.value) } + more.map { ($0.key, $0.value) })
    }

    private func completion(by sample: Sample, _ rows: RepairRows) throws -> Replacement? {
        guard let more = sample.metadata else { return nil }
        let series = try rows.series(of: sample.origin)
        guard let key = try key(of: sample, in: series) else { return nil }
        let live = try connection.repairs.last(from: key)
        guard let row = try table.whole(at: live) else { return nil }
        let stored = row.stored
        guard let metadata = Self.completed(stored.sample.metadata, by: more) else { return nil }
        var after = stored.sample
        after.metadata = metadata
        after.nominalStart = after.start.microseconds
        after.identity = SampleIdentity(
            series: after.origin.seriesKey, start: after.nominalStart, repaired: stored.sample.identity,
            by: "complete \(metadata.json)")
        let new = SampleKey(series: live.series, start: live.start, of: after.identity)
        // The completed sample was made before, and its repair was undone.
        guard try rows.arrival(at: new) == .made else { return nil }
        var replacement = Replacement(order: stored.seq, old: live, arrival: .made, new: new, uuid: after.identity, ingestID: 0)
        replacement.value = after.value
        if !rows.isReported(after.numeral, in: after.unit, of: after.origin.type) { replacement.numeral = after.numeral.text }
        replacement.context = try rows.context(instead: row.context, after)
        replacement.duration = after.end.microseconds - after.start.microseconds
        replacement.received = after.received.microseconds &- after.start.microseconds
        replacement.group = stored.sample.group.map { Int64(bitPattern: $0) }
        replacement.metadata = try store.interner.id(of: metadata)
        return replacement
    }

    /// Returns the key of a reading, live or deleted, under the identity with which it arrives.
    private func key(of sample: Sample, in series: Int64) throws(StoreError) -> SampleKey? {
        let here = SampleKey(series: series, start: sample.nominalStart, of: sample.identity)
        let table = connection.samples
        if try table.contains(here) { return here }
        if try table.contains(here, among: .tombstones) { return here }
        let start = try table.start(ofNominal: sample.nominalStart, sample.identity, in: series)
        return start.map { SampleKey(series: series, start: $0, of: sample.identity) }
    }
}
