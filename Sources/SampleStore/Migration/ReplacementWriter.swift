import HealthModel

/// One sample that goes and one that comes in its place.
struct Replacement {
    /// How the new one comes to be there.
    enum Arrival: Int64 {
        /// A row of its own.
        case made = 0
        /// Out of its tombstone.
        case restored = 1
        /// It is there already.
        case present = 2
    }

    var old: SamplePlace
    /// Whether the old one leaves; where it does not, it had never made way.
    var leaves = true
    var arrival: Arrival
    var series: Int64
    var sample: SamplePlace { SamplePlace(series: series, start: start, hash: hash) }
    var start: Int64
    var hash: [UInt8]
    var uuid: SampleIdentity
    /// The ingest that the new one counts for.
    var bringer: Int64
    // Of a sample that is made.
    var value = 0.0
    var numeral: String?
    var context: Int64 = 0
    var duration: Int64 = 0
    var received: Int64?
    var group: Int64?
    var metadata: Int64?
    /// What the reading would have been identified by, had it been read rightly.
    var alias: (nominal: Int64, hash: [UInt8])?
}

/// Writes replacements, some thousand at a time, as statements over sets. Used inside a transaction.
final class ReplacementWriter {
    private let connection: Connection
    private let ingest: Int64
    private let migration: Int64
    private let changes: ChangeLog
    private var seq: Int64
    private(set) var made = 0
    private(set) var restored = 0
    private(set) var deleted = 0

    /// Changes in one entry of the log: a reader sorts as many at a time.
    private static let entry = 1024

    init(connection: Connection, ingest: Int64, migration: Int64) throws(StoreError) {
        self.connection = connection
        self.ingest = ingest
        self.migration = migration
        changes = ChangeLog(connection: connection, cause: ingest)
        seq = try connection.integer("SELECT value FROM setting WHERE name = 'seq'") ?? 0
        try connection.execute("DROP TABLE IF EXISTS temp.replacement")
        try connection.execute(
            """
            CREATE TEMP TABLE replacement(
                n INTEGER PRIMARY KEY, arrival INTEGER, leaves INTEGER, old_series INTEGER, old_start INTEGER, old_hash BLOB,
                old_seq INTEGER, uuid TEXT, series INTEGER, start INTEGER, hash BLOB, seq INTEGER, value REAL, numeral TEXT,
                context INTEGER, duration INTEGER, received INTEGER, grp INTEGER, metadata INTEGER, nominal INTEGER, alias BLOB)
            """)
    }

    /// Ends the writing: the change log's last number is kept, the scratch table goes.
    func finish() throws(StoreError) {
        try connection.run("UPDATE setting SET value = ? WHERE name = 'seq'", .integer(seq))
        try connection.execute("DROP TABLE temp.replacement")
    }

    /// Writes a chunk: each old sample's deletion is followed at once by the new one's addition.
    func write(_ chunk: [Replacement]) throws(StoreError) {
        let sorted = chunk.sorted {
            ($0.old.series, $0.series, $0.bringer, $0.old.start) < ($1.old.series, $1.series, $1.bringer, $1.old.start)
        }
        try connection.run("DELETE FROM temp.replacement")
        try log(sorted)
        try bury()
        try bring()
        made += sorted.count { $0.arrival == .made }
        restored += sorted.count { $0.arrival == .restored }
        deleted += sorted.count { $0.leaves }
    }

    /// Numbers the changes, and puts them into the log and the rows into the scratch table.
    private func log(_ chunk: [Replacement]) throws(StoreError) {
        var run = 0..<0
        var first = seq + 1
        for (index, replacement) in chunk.enumerated() {
            if let last = run.last {
                let other = chunk[last]
                if run.count >= Self.entry || other.old.series != replacement.old.series || other.series != replacement.series
                    || other.bringer != replacement.bringer
                {
                    try log(chunk[run], from: first)
                    run = index..<index
                    first = seq + 1
                }
            }
            // Both numbers are spent, so that deletions are odd and additions even within a run.
            seq += 2
            try stage(replacement, seqs: (seq - 1, seq))
            run = run.lowerBound..<index + 1
        }
        if !run.isEmpty { try log(chunk[run], from: first) }
    }

    private func log(_ run: ArraySlice<Replacement>, from first: Int64) throws(StoreError) {
        let gone = run.filter(\.leaves).map(\.old.start)
        if let low = gone.min(), let high = gone.max(), let series = run.first?.old.series {
            try changes.insert(series: series, seqs: first...seq, low: low, high: high, deletion: true, ingest: ingest)
        }
        let come = run.filter { $0.arrival != .present }.map(\.start)
        if let low = come.min(), let high = come.max(), let one = run.first {
            try changes.insert(
                series: one.series, seqs: first + 1...seq, low: low, high: high, deletion: false, ingest: one.bringer)
        }
    }

    private func stage(_ replacement: Replacement, seqs: (Int64, Int64)) throws(StoreError) {
        let statement = try connection.statement(
            """
            INSERT INTO temp.replacement(arrival, leaves, old_series, old_start, old_hash, old_seq, uuid, series, start, hash, seq, value,
                numeral, context, duration, received, grp, metadata, nominal, alias)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        defer { statement.reset() }
        try statement.bind(.integer(replacement.arrival.rawValue), at: 1)
        try statement.bind(.integer(replacement.leaves ? 1 : 0), at: 2)
        try statement.bind(.integer(replacement.old.series), at: 3)
        try statement.bind(.integer(replacement.old.start), at: 4)
        try statement.bind(.blob(replacement.old.hash), at: 5)
        try statement.bind(.integer(seqs.0), at: 6)
        try statement.bind(.text(replacement.uuid.description), at: 7)
        try statement.bind(.integer(replacement.series), at: 8)
        try statement.bind(.integer(replacement.start), at: 9)
        try statement.bind(.blob(replacement.hash), at: 10)
        try statement.bind(.integer(seqs.1), at: 11)
        try statement.bind(.real(replacement.value), at: 12)
        try statement.bind(.optional(replacement.numeral), at: 13)
        try statement.bind(.integer(replacement.context), at: 14)
        try statement.bind(replacement.duration == 0 ? .null : .integer(replacement.duration), at: 15)
        try statement.bind(.optional(replacement.received), at: 16)
        try statement.bind(.optional(replacement.group), at: 17)
        try statement.bind(.optional(replacement.metadata), at: 18)
        try statement.bind(.optional(replacement.alias?.nominal), at: 19)
        try statement.bind(replacement.alias.map { .blob($0.hash) } ?? .null, at: 20)
        _ = try statement.step()
    }

    /// The old samples become tombstones that name what replaces them.
    private func bury() throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO deleted(series, start, hash, value, numeral, context, duration, received, grp, metadata, seq,
                deleted_seq, ingest, replaced_by, forgotten)
            SELECT old_series, old_start, old_hash, sample.value, sample.numeral, sample.context, sample.duration, sample.received, sample.grp,
                sample.metadata, sample.seq, old_seq, ?, uuid, 0
            FROM temp.replacement AS r CROSS JOIN sample
                ON sample.series = old_series AND sample.start = old_start AND sample.hash = old_hash
            WHERE leaves
            """, .integer(ingest))
        try connection.run(
            """
            DELETE FROM sample WHERE (series, start, hash) IN (SELECT old_series, old_start, old_hash FROM temp.replacement WHERE leaves)
            """)
    }

    /// The new samples are made, or come out of their tombstones.
    private func bring() throws(StoreError) {
        try connection.run(
            """
            INSERT INTO sample(series, start, hash, value, numeral, context, duration, received, grp, metadata, seq)
            SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata, seq FROM temp.replacement
            WHERE arrival = 0
            """)
        try connection.run(
            """
            INSERT INTO sample(series, start, hash, value, numeral, context, duration, received, grp, metadata, seq)
            SELECT d.series, d.start, d.hash, d.value, d.numeral, d.context, d.duration, d.received, d.grp, d.metadata, r.seq
            FROM temp.replacement AS r CROSS JOIN deleted AS d ON d.series = r.series AND d.start = r.start AND d.hash = r.hash
            WHERE r.arrival = 1 AND NOT d.forgotten
            """)
        try connection.run(
            """
            DELETE FROM deleted WHERE (series, start, hash) IN (SELECT series, start, hash FROM temp.replacement WHERE arrival = 1)
            """)
        // Statistics look as far back as the longest sample, and the search for near-duplicates as wide as the coarsest.
        try connection.run(
            """
            UPDATE series SET longest = max(longest,
                (SELECT coalesce(max(duration), 0) FROM temp.replacement WHERE replacement.series = series.id))
            WHERE id IN (SELECT series FROM temp.replacement)
            """)
        try connection.run(
            """
            UPDATE series SET coarsest = max(coarsest, (SELECT max(old.coarsest) FROM series AS old
                WHERE old.id IN (SELECT old_series FROM temp.replacement WHERE replacement.series = series.id)))
            WHERE id IN (SELECT series FROM temp.replacement)
            """)
    }

    /// Notes from which sample each new one comes, and under which identity the reading may come again.
    func map() throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO repaired(series, start, hash, migration, old_series, old_start, old_hash, merged)
            SELECT series, start, hash, ?, old_series, old_start, old_hash, arrival = 2 FROM temp.replacement
            """, .integer(migration))
        try connection.run(
            """
            INSERT OR IGNORE INTO reading_alias(series, nominal, hash, migration)
            SELECT series, nominal, alias, ? FROM temp.replacement WHERE alias IS NOT NULL
            """, .integer(migration))
    }
}
