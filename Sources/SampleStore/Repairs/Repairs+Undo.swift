import HealthModel

extension SampleStore.Repairs {
    /// Undoes a repair in one transaction. The original samples are restored, and the repaired ones become tombstones.
    ///
    /// A repaired sample that a person has deleted since stays deleted. A merged sample is restored beside the reading that replaced it.
    ///
    /// - Throws: ``StoreError`` if the repair does not exist, is already undone, or a later repair changed its samples. The later one must
    ///   be undone first.
    @discardableResult
    public func undo(
        _ id: Int64, at now: Instant, owner: String? = nil, progress: (Int) -> Void = { _ in }
    ) throws -> (ingest: Int64, count: Int) {
        try store.resumePending()
        return try connection.transaction {
            try store.refuseIfPending()
            guard let repairID = try repair(id) else { throw StoreError(.invalid, "there is no repair \(id)") }
            guard repairID.state == "applied" else { throw StoreError(.invalid, "repair \(id) is already undone") }
            try refuseIfRepairedAgain(id)
            try refuseIfMerged(id)
            try refuseIfErased(id)
            try refuseIfMadeAgain(id)
            let ingest = try store.beginIngest(
                IngestDescription(
                    kind: .undoRepair, name: "migration \(id)", received: now.microseconds, owner: owner))
            try connection.repairs.setUndone(id, by: ingest.id, at: now)
            try connection.ledger.set(state: "undone", of: repairID.ingest)
            try connection.ledger.set(undone: repairID.ingest, by: ingest.id)
            let writer = try ReplacementWriter(store, ingest: ingest.id)
            let liveUpdate = LiveSampleUpdate(Deletion(connection: connection, ingest: ingest.id))
            var last: (new: SampleKey, old: SampleKey)?
            while true {
                let (chunk, seen) = try pairs(of: id, after: last, liveUpdate)
                if !chunk.isEmpty { try writer.write(chunk) }
                progress(writer.restored)
                guard let seen else { break }
                last = seen
            }
            try writer.finish()
            try handBack(id, by: ingest.id)
            try updateAgreements(with: id, liveUpdate)
            try LiveSampleUpdate(Deletion(connection: connection, ingest: ingest.id)).update(computedAfter: id)
            try closeAccount(ingest.id, writer, at: now)
            let restored = try updateVersions(movedBy: id, repairID.repair, ingest.id).restored
            try count(ingest.id) { deletion throws(StoreError) in
                try LiveSampleUpdate(deletion).update(mergedBy: repairID.ingest)
            }
            try connection.repairs.removeAliases(of: id)
            return (ingest.id, writer.restored + restored)
        }
    }

    /// Settles the readings that were found to agree with a result of the repair. They are its duplicates while the repair is applied, and
    /// measurements of their own while it is undone.
    func updateAgreements(with id: Int64, _ liveUpdate: LiveSampleUpdate) throws(StoreError) {
        guard try !connection.duplicates.isEmpty else { return }
        liveUpdate.reader.forgetTraces()
        for form in try connection.repairs.forms(madeBy: id) {
            let agreeing = try connection.duplicates.duplicates(of: form).map(\.key)
            if !agreeing.isEmpty { try liveUpdate.update(agreeing + [form]) }
        }
    }

    /// Settles the records of which a repair moves versions to another person or type, where there are other versions.
    ///
    /// - Parameter repair: The text of the repair.
    /// - Returns: The number of samples that other versions replace, and of those that come forward.
    func updateVersions(
        movedBy id: Int64, _ repair: String, _ ingest: Int64
    ) throws(StoreError) -> (replaced: Int, restored: Int) {
        var counts = (replaced: 0, restored: 0)
        switch Repair(text: repair) {
        case .person, .type: break
        default: return counts
        }
        let reader = MeasurementReader(connection: connection)
        var last: SampleKey?
        while true {
            let moves = try connection.repairs.moves(by: id, after: last, limit: LiveSampleUpdate.chunk)
            guard let end = moves.last else { return counts }
            last = end.new
            var keys: [SampleKey] = []
            for move in moves {
                let root = try reader.root(of: move.old)
                let records = try reader.recordIDs(of: root)
                guard !records.isEmpty else { continue }
                if try !connection.samples.contains(reader.form(of: root)) { keys.append(root) }
                for record in records {
                    // If the repair is undone, the reading is where an earlier repair moved it.
                    for series in [move.old.series, move.new.series] {
                        let others = try reader.versions(of: record, in: series, acrossDevices: true).map(\.key)
                        if others.contains(where: { $0 != root }) { keys += [root] + others }
                    }
                }
            }
            guard !keys.isEmpty else { continue }
            let deletion = Deletion(connection: connection, ingest: ingest)
            try count(by: deletion) { () throws(StoreError) in try LiveSampleUpdate(deletion).update(keys) }
            counts.replaced += deletion.deleted
            counts.restored += deletion.restored
        }
    }

    /// Moves the deletion of a repaired sample to the tombstone of the sample it was made from.
    private func handBack(_ id: Int64, by ingest: Int64) throws(StoreError) {
        let table = connection.samples
        for pair in try connection.repairs.deletedPairs(of: id, except: ingest) {
            try table.handBack(pair.new, to: pair.old, pair.uuid, by: ingest)
        }
    }

    /// Throws if a later repair changed the same samples, because repairs are undone in reverse order.
    private func refuseIfRepairedAgain(_ id: Int64) throws(StoreError) {
        if let later = try connection.repairs.later(than: id) {
            throw StoreError(
                .invalid, "repair \(later) changed samples of repair \(id) again: run 'vitalgate repair undo \(later)' first")
        }
    }

    /// Throws if another repair has made a sample of a reading that this one replaced. The measurement would exist twice.
    private func refuseIfMadeAgain(_ id: Int64) throws(StoreError) {
        if let other = try connection.repairs.another(than: id) {
            throw StoreError(
                .invalid,
                "repair \(other) created a sample from the same reading as one that repair \(id) replaced: "
                    + "run 'vitalgate repair undo \(other)' first"
            )
        }
    }

    /// Throws if samples that the repair replaced were erased.
    private func refuseIfErased(_ id: Int64) throws(StoreError) {
        guard try connection.repairs.isErased(id) else { return }
        throw StoreError(.invalid, "samples that repair \(id) replaced were erased together with all data of their person")
    }

    /// Throws if `store merge` made witnesses of repaired samples, because they were compared with the repaired form.
    private func refuseIfMerged(_ id: Int64) throws(StoreError) {
        if let merge = try connection.repairs.merge(withSamplesOf: id) {
            throw StoreError(
                .invalid,
                "ledger entry \(merge) merged other readings with samples of repair \(id): run 'vitalgate ledger undo \(merge)' first"
            )
        }
    }

    /// Returns some thousand pairs whose old sample is a tombstone and whose new sample is live.
    ///
    /// A merged sample is restored whatever happened to the reading that replaced it, if its reports and decisions allow it. The same
    /// applies to samples that an early Vitalgate merged into the next sample of the same repair, which was itself replaced.
    private func pairs(
        of repairID: Int64, after last: (new: SampleKey, old: SampleKey)?, _ liveUpdate: LiveSampleUpdate
    ) throws(StoreError) -> ([Replacement], (new: SampleKey, old: SampleKey)?) {
        let statement = try connection.statement(RepairTable.undonePairs)
        defer { statement.reset() }
        try statement.bind([
            .integer(repairID), .integer(last?.new.series ?? .min), .integer(last?.new.start ?? .min),
            .blob(last?.new.hash ?? []),
            .integer(last?.old.series ?? .min), .integer(last?.old.start ?? .min), .blob(last?.old.hash ?? []),
        ])
        let decoder = SampleDecoder(connection: connection)
        var pairs: [Replacement] = []
        var stayed: [SampleKey] = []
        var seen: (new: SampleKey, old: SampleKey)?
        var isFull = false
        while try statement.step() {
            let new = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
            let old = try SampleKey(series: statement.integer(3), start: statement.integer(4), hash: statement.blob(5))
            // Samples with the same start stay in one chunk, so that they keep their order.
            if let seen, pairs.count >= RepairReader.chunk, (seen.new.series, seen.new.start) != (new.series, new.start) {
                isFull = true
                break
            }
            seen = (new, old)
            if statement.integer(6) != 0, try !liveUpdate.isLive(old) {
                stayed.append(old)
                continue
            }
            pairs.append(
                Replacement(
                    order: statement.integer(7), old: new, leaves: statement.integer(6) == 0, arrival: .restored, new: old,
                    uuid: old.identity(skew: statement.integer(8)),
                    ingestID: try decoder.change(of: statement.integer(7), series: old.series).ingest))
        }
        for key in stayed { try connection.samples.forgetSuccessor(of: key) }
        return (pairs, isFull ? seen : nil)
    }

    /// Throws if a repair replaced samples of an ingest that is to be undone. Their repaired forms would remain.
    func refuseIfRepaired(ingestedBy ingest: Int64) throws(StoreError) {
        var last = try connection.repairs.last(ofSamplesIngestedBy: ingest)
        // The entry that accepted a quarantined reading added its sample.
        for key in try connection.quarantine.acceptedSamples(ingestedBy: ingest) {
            for next in try connection.repairs.successors(of: key) where next.isActive { last = max(last ?? 0, next.repair) }
        }
        if let last {
            throw StoreError(
                .invalid, "repair \(last) changed samples of ledger entry \(ingest): run 'vitalgate repair undo \(last)' first")
        }
    }
}
