import HealthModel

/// Keeps what the search found. Used inside a transaction.
struct WitnessKeeper {
    let connection: Connection
    let batch: BatchTable
    let ingest: Int64
    let type: QuantityType

    /// Keeps rows of one series as witnesses of the samples that came first: whole, so that nothing of them is lost.
    func keep(witnesses: [NearDuplicateSearch.Match], among rows: [SampleRow], text: [UInt8]) throws {
        guard !witnesses.isEmpty else { return }
        let (moment, lasting) = (rule(lasting: false), rule(lasting: true))
        let rule = moment == lasting ? "'\(moment)'" : "CASE WHEN duration IS NULL THEN '\(moment)' ELSE '\(lasting)' END"
        try batch.with(rows: rows, text: text, witnesses: witnesses) {
            try connection.run(
                """
                INSERT INTO witness(series, start, hash, value, numeral, context, duration, received, grp, metadata, ingest,
                    of_series, of_start, of_hash, rule)
                SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata, ?,
                    of_series, of_start, of_hash, \(rule) FROM batch
                """, .integer(ingest))
            guard witnesses.contains(where: { rows[$0.row].nominal != rows[$0.row].start }) else { return }
            try connection.run(
                """
                INSERT OR IGNORE INTO place(series, nominal, hash, start)
                SELECT series, nominal, hash, start FROM batch WHERE nominal <> start
                """)
        }
    }

    /// Links rows, about to be stored, with the samples of other devices that they agree with.
    func keep(links: [NearDuplicateSearch.Match], among rows: [SampleRow]) throws(StoreError) {
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

    private func rule(lasting: Bool) -> String { DuplicateRule.of(type, lasting: lasting).rawValue }
}
