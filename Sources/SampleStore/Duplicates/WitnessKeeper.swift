import HealthModel

/// Stores the results of a duplicate search. Used inside a transaction.
struct WitnessKeeper {
    let connection: Connection
    let batch: BatchTable
    let ingest: Int64
    let type: SampleType
    /// The rule of the decision, or `nil` for the rule of the type.
    var rule: DuplicateRule?

    /// Stores rows of one series as duplicates of their originals. All fields are stored, so that nothing is lost.
    func record(witnesses: [NearDuplicateSearch.Match], among rows: [SampleRow], text: [UInt8]) throws {
        guard !witnesses.isEmpty else { return }
        try batch.with(rows: rows, text: text, witnesses: try decided(witnesses, among: rows)) {
            try connection.run(
                """
                INSERT INTO witness_row(series, start, hash, value, numeral, context, duration, received, grp, metadata, decision,
                    of_start, of_hash)
                SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata, decision,
                    of_start, of_hash FROM batch
                """)
            guard witnesses.contains(where: { rows[$0.row].nominal != rows[$0.row].start }) else { return }
            try SampleTable(connection: connection).addPlacesOfBatch(mayBeThere: true)
        }
    }

    /// Turns a sample of this import into a duplicate of another one, as if the search had found it on arrival.
    ///
    /// - Parameter deletion: The deletion of the merge.
    func record(
        _ sample: SampleKey, asWitnessOf first: SampleKey, lasting: Bool = false, _ deletion: Deletion
    ) throws(StoreError) {
        let decision = try decision(first.series, lasting: lasting, merge: deletion.ingest)
        try connection.run(
            """
            INSERT INTO witness_row(\(SampleTable.columns), decision, of_start, of_hash)
            SELECT \(SampleTable.columns), ?, ?, ? FROM sample WHERE series = ? AND start = ? AND hash = ?
            """, .integer(decision), .integer(first.start), .blob(first.hash), .integer(sample.series), .integer(sample.start),
            .blob(sample.hash))
        try deletion.bury([
            SampleTable.Burial(place: sample, successor: try WitnessRows(connection: connection).uuid(of: first))
        ])
    }

    /// Links rows that are about to be stored with the samples of other devices that they agree with.
    func record(links: [NearDuplicateSearch.Match], among rows: [SampleRow]) throws(StoreError) {
        for link in links {
            let row = rows[link.row]
            try connection.run(
                """
                INSERT OR IGNORE INTO link(series, start, hash, of_series, of_start, of_hash, rule, ingest) VALUES(?, ?, ?, ?, ?, ?, ?, ?)
                """, .integer(row.series), .integer(row.start), .blob(row.place.hash),
                .integer(link.of.series), .integer(link.of.start), .blob(link.of.hash), .text(rule(lasting: row.duration > 0)),
                .integer(ingest))
        }
    }

    /// The duplicates with their decisions. Duplicates of one import share a decision if they have the same series and
    /// rule.
    private func decided(
        _ witnesses: [NearDuplicateSearch.Match], among rows: [SampleRow]
    ) throws(StoreError) -> [BatchTable.Witness] {
        var decided: [BatchTable.Witness] = []
        decided.reserveCapacity(witnesses.count)
        var (series, lasting, decision): (Int64, Bool, Int64?) = (0, false, nil)
        for match in witnesses {
            let lasts = rows[match.row].duration > 0
            if decision == nil || series != match.of.series || lasting != lasts {
                (series, lasting) = (match.of.series, lasts)
                decision = try self.decision(series, lasting: lasting)
            }
            if let decision { decided.append(BatchTable.Witness(row: match.row, decision: decision, of: match.of)) }
        }
        return decided
    }

    private func decision(_ series: Int64, lasting: Bool, merge: Int64? = nil) throws(StoreError) -> Int64 {
        let (ingest, series, rule) = (Value.integer(ingest), Value.integer(series), Value.text(rule(lasting: lasting)))
        let known = try connection.integer(
            "SELECT id FROM decision WHERE ingest = ? AND of_series = ? AND rule = ? AND merge IS ?", ingest, series, rule,
            .optional(merge))
        if let known { return known }
        try connection.run(
            "INSERT INTO decision(ingest, of_series, rule, merge) VALUES(?, ?, ?, ?)", ingest, series, rule, .optional(merge))
        return connection.lastInsertedRow
    }

    private func rule(lasting: Bool) -> String {
        (rule ?? DuplicateRule.of(type, lasting: lasting)).rawValue
    }
}
