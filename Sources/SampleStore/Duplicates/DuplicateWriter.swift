import HealthModel

/// Stores the results of a duplicate search. Used inside a transaction.
struct DuplicateWriter {
    let connection: Connection
    let batch: BatchTable
    let ingest: Int64
    let type: SampleType
    /// The rule of the decision, or `nil` for the rule of the type.
    var rule: DuplicateRule?

    /// Stores rows of one series as duplicates of their originals. All fields are stored, so that nothing is lost.
    func record(nearDuplicates: [ArrivalMatching.Match], among rows: [SampleRow], text: [UInt8]) throws {
        guard !nearDuplicates.isEmpty else { return }
        try batch.with(rows: rows, text: text, nearDuplicates: try decided(nearDuplicates, among: rows)) {
            try duplicates.addBatch()
            guard nearDuplicates.contains(where: { rows[$0.row].nominal != rows[$0.row].start }) else { return }
            try connection.samples.addPlacesOfBatch(mayBeThere: true)
        }
    }

    /// Links rows that are about to be stored with the samples of other devices that they agree with.
    func record(links: [ArrivalMatching.Match], among rows: [SampleRow]) throws(StoreError) {
        for link in links {
            let row = rows[link.row]
            try duplicates.link(row.key, with: link.of, rule: rule(lasting: row.duration > 0), by: ingest)
        }
    }

    /// The duplicates with their decisions. Duplicates of one import share a decision if they have the same series and
    /// rule.
    private func decided(
        _ nearDuplicates: [ArrivalMatching.Match], among rows: [SampleRow]
    ) throws(StoreError) -> [BatchTable.DuplicateRow] {
        var decided: [BatchTable.DuplicateRow] = []
        decided.reserveCapacity(nearDuplicates.count)
        var (series, lasting, decision): (Int64, Bool, Int64?) = (0, false, nil)
        for match in nearDuplicates {
            let lasts = rows[match.row].duration > 0
            if decision == nil || series != match.of.series || lasting != lasts {
                (series, lasting) = (match.of.series, lasts)
                decision = try self.decision(series, lasting: lasting)
            }
            if let decision { decided.append(BatchTable.DuplicateRow(row: match.row, decision: decision, of: match.of)) }
        }
        return decided
    }

    private func decision(_ series: Int64, lasting: Bool) throws(StoreError) -> Int64 {
        try duplicates.decision(of: ingest, series, rule: rule(lasting: lasting), merge: nil)
    }

    private var duplicates: DuplicateTable { connection.duplicates }

    private func rule(lasting: Bool) -> String {
        (rule ?? DuplicateRule.of(type, lasting: lasting)).rawValue
    }
}
