import HealthModel

/// Keeps what the search found. Used inside a transaction.
struct WitnessKeeper {
    let connection: Connection
    let batch: BatchTable
    let ingest: Int64

    /// Keeps rows of one series as witnesses of the samples that came first: whole, so that nothing of them is lost.
    func keep(witnesses: [NearDuplicateSearch.Match], among rows: [SampleRow], text: [UInt8]) throws {
        guard !witnesses.isEmpty else { return }
        try batch.with(rows: rows, text: text, witnesses: witnesses) {
            try connection.run(
                """
                INSERT INTO witness(series, start, hash, value, numeral, context, duration, received, grp, metadata, ingest,
                    of_series, of_start, of_hash, rule)
                SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata, ?,
                    of_series, of_start, of_hash, rule FROM batch
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
                .integer(link.of.series), .integer(link.of.start), .blob(link.of.hash), .text(link.rule.rawValue),
                .integer(ingest))
        }
    }
}
