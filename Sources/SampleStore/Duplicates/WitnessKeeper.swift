import HealthModel

/// Keeps what the search found. Used inside a transaction.
struct WitnessKeeper {
    let connection: Connection
    let batch: BatchTable
    let ingest: Int64

    /// Keeps rows of one series as witnesses of the samples that came first: whole, so that nothing of them is lost.
    func keep(_ witnesses: [NearDuplicateSearch.Match], among rows: [SampleRow], text: [UInt8]) throws {
        for rule in DuplicateRule.allCases {
            let matches = witnesses.filter { $0.rule == rule }
            guard !matches.isEmpty else { continue }
            let own = matches.map { rows[$0.row] }
            try noteReach(of: matches, among: rows)
            try batch.with(rows: own, text: text, firsts: matches.map(\.of)) {
                try connection.run(
                    """
                    INSERT INTO witness(series, start, hash, value, numeral, context, duration, received, grp, metadata,
                        ingest, of_series, of_start, of_hash, rule)
                    SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata,
                        ?, of_series, of_start, of_hash, ? FROM batch
                    """, .integer(ingest), .text(rule.rawValue))
                guard own.contains(where: { $0.nominal != $0.start }) else { return }
                try connection.run(
                    """
                    INSERT OR IGNORE INTO place(series, nominal, hash, start)
                    SELECT series, nominal, hash, start FROM batch WHERE nominal <> start
                    """)
            }
        }
    }

    /// Notes how far witnesses of one series start from their firsts.
    private func noteReach(of matches: [NearDuplicateSearch.Match], among rows: [SampleRow]) throws(StoreError) {
        var noted = (first: Int64.min, reach: Int64.min)
        for match in matches {
            let apart = abs(rows[match.row].start &- match.of.start)
            guard match.of.series != noted.first || apart > noted.reach else { continue }
            noted = (match.of.series, apart)
            try connection.run(
                """
                INSERT INTO witness_reach VALUES(?, ?, ?)
                ON CONFLICT DO UPDATE SET reach = excluded.reach WHERE excluded.reach > reach
                """, .integer(match.of.series), .integer(rows[match.row].series), .integer(apart))
        }
    }

    /// Links rows, about to be stored, with the samples of other devices that they agree with.
    func keep(_ links: [NearDuplicateSearch.Match], among rows: [SampleRow]) throws(StoreError) {
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
