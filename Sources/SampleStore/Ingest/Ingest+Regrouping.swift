import HealthModel
import Pipeline

extension Ingest {
    /// Groups the contested rows of the batch with all reports around them. Marks the rows that became samples as stored.
    func regroup(_ batch: [GatedSample], _ outcomes: inout [SampleOutcome]) throws(StoreError) {
        let deletion = Deletion(connection: connection, ingest: id)
        let regrouping = Regrouping(deletion)
        try regrouping.update(around: contested, arriving: Set(contested), provisional: provisional)
        try deletion.updateDerived()
        let promotions = promotions + deletion.ownPromotions
        guard !promotions.isEmpty else { return }
        let rows = try duplicates(of: batch, outcomes)
        var counted: Set<SampleKey> = []
        // A row that was a sample for a moment left a change, so it counts as stored.
        for key in promotions {
            if let index = rows[key], counted.insert(key).inserted {
                outcomes[index] = .stored
                nearDuplicates -= 1
            } else {
                // An earlier batch of this import has counted it as a duplicate, or it became a sample again.
                try connection.ledger.promoteDuplicate(of: id)
            }
        }
    }

    /// The indices of the duplicates in a batch.
    private func duplicates(of batch: [GatedSample], _ outcomes: [SampleOutcome]) throws(StoreError) -> [SampleKey: Int] {
        var rows: [SampleKey: Int] = [:]
        for index in batch.indices where outcomes[index] == .duplicate {
            let sample = batch[index].sample
            guard let series = try connection.series.id(of: sample.origin) else { continue }
            let key = SampleKey(series: series, start: sample.start.microseconds, of: sample.identity)
            if rows[key] == nil { rows[key] = index }
        }
        return rows
    }
}
