import HealthModel

/// Makes the repaired form of a report that represents its measurement since the repair was applied. Used inside a transaction.
struct RepairedForm {
    typealias History = MeasurementHistory<SampleKey>

    let connection: Connection
    let deletion: Deletion

    /// Replaces a live sample by its form after a repair of another report of its measurement.
    ///
    /// - Returns: False if the repair does not change this reading, for example because it already has the unit.
    func make(_ next: History.Outstanding, in history: History) throws(StoreError) -> Bool {
        let key = next.key
        guard let repairID = try connection.repairs.storedRepairs("WHERE id = ?", [.integer(next.repair)]).first,
            let found = try connection.samples.whole(at: key),
            let outcome = try outcome(of: repairID, on: found.stored.sample, like: history.repaired)
        else { return false }
        let sample = found.stored.sample
        let after = outcome.sample(instead: sample, by: repairID.repair)
        let interner = Interner(connection: connection)
        let rows = RepairRows(connection: connection, interner: interner)
        let new = SampleKey(series: try rows.series(of: after.origin), start: after.start.microseconds, of: after.identity)
        if try connection.samples.contains(new, among: .tombstones) {
            try deletion.restore([SampleTable.RestorationMove(key: new, ingestID: repairID.ingest, number: found.stored.seq)])
            try connection.ledger.add(deleted: 0, restored: 1, to: repairID.ingest)
        } else if try !connection.samples.contains(new) {
            let duration = after.end.microseconds - new.start
            let group: Int64? = sample.group.map { Int64(bitPattern: $0) }
            let metadata: Int64? = if let metadata = sample.metadata { try interner.id(of: metadata) } else { nil }
            let isNew = try connection.samples.add(
                "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?",
                new.values + [
                    .real(after.value),
                    .optional(rows.isReported(after.numeral, in: after.unit, of: after.origin.type) ? nil : after.numeral.text),
                    .integer(try rows.context(instead: found.context, after)), duration == 0 ? .null : .integer(duration),
                    after.timeOrigin == .receipt ? .null : .integer(after.received.microseconds &- new.start),
                    .optional(group), .optional(metadata),
                ], ingestedBy: repairID.ingest, cause: deletion.ingest)
            if isNew {
                try connection.ledger.add(
                    stored: 1, duplicate: 0, quarantined: 0, refused: 0, nearDuplicates: 0, linked: 0, to: repairID.ingest)
            }
        }
        try connection.repairs.add(new, from: key, by: next.repair)
        try deletion.moveToTombstones([SampleTable.TombstoneMove(key: key, successor: after.identity)])
        return true
    }

    private func outcome(
        of repairID: StoredRepair, on sample: Sample, like others: [History.Repaired]
    ) throws(StoreError) -> Repairer.Outcome? {
        if let repair = Repair(text: repairID.repair) {
            let repairer = Repairer(repair, takesAmbiguous: true, now: Instant(microseconds: repairID.applied))
            if case .repaired(let outcome) = repairer.evaluate(sample) { return outcome }
            return nil
        }
        // The rules of a zone are not stored. Another report of the same measurement shows what they do to its time.
        guard repairID.repair.hasPrefix("zone "), let edge = others.first(where: { $0.repair == repairID.id && !$0.isMerged })
        else {
            return nil
        }
        var outcome = Repairer.Outcome(sample)
        let step = edge.new.start &- edge.old.start
        outcome.start.microseconds &+= step
        outcome.end.microseconds &+= step
        outcome.nominalStart &+= step
        for rows in SampleTable.Rows.allCases {
            if let made = try connection.samples.sample(at: edge.new, among: rows) { outcome.zone = made.zone }
        }
        return outcome
    }
}
