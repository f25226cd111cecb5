import HealthModel

extension SampleStore.Repairs {
    /// Returns the plan of a repair without changing anything.
    public func plan(_ request: RepairRequest) throws -> RepairPlan {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let reader = try RepairReader(store, request)
        try reader.forEachChunk(of: { _ in }, { _ in })
        return reader.plan
    }

    /// Repairs samples in one transaction.
    ///
    /// The same repair has nothing to do the second time. Each old sample becomes a tombstone with the UUID of the new one. A reader of the
    /// change log sees the deletion followed by the addition.
    ///
    /// - Parameters:
    ///   - source: The component that requests the repair, if no person does.
    ///   - owner: The name of the process.
    ///   - progress: Called from time to time with the number of samples replaced so far.
    /// - Returns: The results and the number of the repair, which is nil if there was nothing to do.
    /// - Throws: ``FewerReadings`` if more samples would be merged than the request allows, and ``StoreError``.
    public func apply(
        _ request: RepairRequest, source: String? = nil, owner: String? = nil, progress: (Int) -> Void = { _ in }
    ) throws -> (plan: RepairPlan, repairID: Int64?) {
        try store.resumePending()
        do {
            return try connection.transaction {
                try store.refuseIfPending()
                let last = try table.lastNumber()
                let reader = try RepairReader(store, request)
                let repairID = try connection.repairs.nextNumber()
                let ingest = try store.beginIngest(
                    IngestDescription(
                        kind: .migrate, name: Repair.words(of: request.repair.text),
                        received: request.now.microseconds, owner: owner))
                let writer = try ReplacementWriter(store, ingest: ingest.id, repairID: repairID)
                let rows = RepairRows(connection: connection, interner: store.interner)
                try reader.forEachChunk(
                    of: { try replacement($0, rows, ingest: ingest.id, mayBeBack: reader.isKnownRepair) },
                    { chunk in
                        // Beyond the limit, samples are still counted but no longer written.
                        guard request.allows(reader.plan) else { return }
                        try writer.write(chunk)
                        progress(reader.plan.repaired + reader.plan.merged)
                    })
                var plan = reader.plan
                guard request.allows(plan) else { throw FewerReadings(plan: plan) }
                guard plan.repaired + plan.merged > 0 else { throw NoSamplesToRepair(plan: plan) }
                try writer.finish()
                try closeAccount(ingest.id, writer, at: request.now)
                try connection.repairs.add(
                    StoredRepair(
                        id: repairID, ingest: ingest.id, repair: request.repair.text,
                        conditions: request.conditions.json(me: store.owner), source: source, applied: request.now.microseconds,
                        state: "applied", matched: plan.matched, repaired: plan.repaired, merged: plan.merged,
                        alreadyRight: plan.left(.alreadyRight), ambiguous: plan.left(.ambiguous),
                        impossible: plan.left(.impossible)))
                let liveUpdate = LiveSampleUpdate(Deletion(connection: connection, ingest: ingest.id))
                // The same repair was made before, so readings may have agreed with its results.
                if reader.isKnownRepair { try updateAgreements(with: repairID, liveUpdate) }
                let replaced = try updateVersions(movedBy: repairID, request.repair.text, ingest.id).replaced
                try liveUpdate.update(computedAfter: repairID)
                // A repaired sample may be the one of another path.
                plan.joined = try count(ingest.id) { deletion throws(StoreError) in
                    try replaced + store.duplicates.merge(since: last, deletion)
                }
                try connection.repairs.set(joined: plan.joined, of: repairID)
                return (plan, repairID)
            }
        } catch let unchanged as NoSamplesToRepair {
            return (unchanged.plan, nil)
        }
    }

    /// Adds what changes beside the replaced samples to the ledger entry of a repair or its undo.
    func count<Result>(_ ingest: Int64, _ body: (Deletion) throws(StoreError) -> Result) throws(StoreError) -> Result {
        let deletion = Deletion(connection: connection, ingest: ingest)
        return try count(by: deletion) { () throws(StoreError) in try body(deletion) }
    }

    /// Adds what a deletion and its restorations change to its ledger entry.
    func count<Result>(by deletion: Deletion, _ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        let result = try body()
        try deletion.updateDerived()
        try connection.ledger.add(deleted: deletion.deleted, restored: deletion.restored, to: deletion.ingest)
        return result
    }

    private struct NoSamplesToRepair: Error {
        let plan: RepairPlan
    }

    /// - Parameter mayBeBack: Whether the same repair was made before, so that its samples may exist as tombstones.
    private func replacement(
        _ candidate: RepairCandidate, _ rows: RepairRows, ingest: Int64, mayBeBack: Bool
    ) throws(StoreError) -> Replacement {
        let after = candidate.after
        let start = after.start.microseconds
        var series = candidate.series
        if series == nil { series = try rows.series(of: after.origin) }
        guard let series else { throw StoreError(.defect, "a repaired sample has no series") }
        let key = SampleKey(series: series, start: start, of: after.identity)
        var replacement = Replacement(
            order: candidate.stored.seq, old: candidate.key,
            arrival: candidate.isMerged ? .present : mayBeBack ? try rows.arrival(at: key) : .made,
            new: key, uuid: after.identity, ingestID: ingest)
        replacement.alias = candidate.right.map { SampleKey(series: series, start: candidate.rightNominal, of: $0) }
        guard replacement.arrival == .made else { return replacement }
        replacement.value = after.value
        if !rows.isReported(after.numeral, in: after.unit, of: after.origin.type) { replacement.numeral = after.numeral.text }
        replacement.context = try rows.context(instead: candidate.context, after)
        replacement.duration = after.end.microseconds - start
        if after.timeOrigin != .receipt { replacement.received = after.received.microseconds &- start }
        replacement.group = candidate.group
        replacement.metadata = candidate.metadata
        return replacement
    }

    /// Completes the ledger entry of a repair or its undo.
    func closeAccount(_ ingest: Int64, _ writer: ReplacementWriter, at now: Instant) throws(StoreError) {
        try connection.ledger.finish(
            ingest, at: now.microseconds, stored: writer.made, deleted: writer.deleted, restored: writer.restored)
    }
}
