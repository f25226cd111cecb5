import HealthModel

/// The tables `write_back` (the samples that phones write to their own stores) and `write_back_phone` (the phones).
struct WriteBackTable {
    let connection: Connection

    // MARK: Phones

    /// A phone that writes samples.
    struct Phone: Equatable {
        /// The position in the changes, or empty at the beginning.
        var anchor = ""
        /// The last version of a record.
        var version: Int64 = 0
        /// The names under which the phone shows its records.
        var sources: [String] = []
    }

    func phone(_ client: Int64) throws(StoreError) -> Phone? {
        try connection.first("SELECT anchor, version, sources FROM write_back_phone WHERE client = ?", [.integer(client)]) {
            Phone(anchor: $0.text(0), version: $0.integer(1), sources: $0.text(2).split(separator: "\n").map(String.init))
        }
    }

    func save(_ phone: Phone, of client: Int64) throws(StoreError) {
        try connection.run(
            "INSERT OR REPLACE INTO write_back_phone(client, anchor, version, sources) VALUES(?, ?, ?, ?)",
            [.integer(client), .text(phone.anchor), .integer(phone.version), .text(phone.sources.joined(separator: "\n"))])
    }

    /// Returns the clients that are phones.
    func phones() throws(StoreError) -> [Int64] {
        try connection.list("SELECT client FROM write_back_phone ORDER BY client") { $0.integer(0) }
    }

    // MARK: Rows

    /// A sample that a phone writes.
    struct Row {
        var sample: SampleKey
        /// The key of the record on the phone.
        var key: String
        var version: Int64 = 0
        var isPart = false
        var isDeletion = false
        var isSuperseded = true
        var offered: Int64 = 0
        var acknowledged: Int64 = 0
    }

    /// The table by keys. Without the index's name, SQLite reads all records of the phone for each key.
    private static let byKey = "write_back INDEXED BY write_back_by_key"

    private static let columns = "series, start, hash, key, version, part, deletion, superseded, offered, acknowledged"

    private static func read(_ row: Statement) throws(StoreError) -> Row {
        Row(
            sample: try SampleKey(row, at: 0), key: row.text(3), version: row.integer(4), isPart: row.integer(5) != 0,
            isDeletion: row.integer(6) != 0, isSuperseded: row.integer(7) != 0, offered: row.integer(8),
            acknowledged: row.integer(9))
    }

    /// Returns the row of a sample.
    func row(_ client: Int64, at sample: SampleKey) throws(StoreError) -> Row? {
        try connection.first(
            "SELECT \(Self.columns) FROM write_back WHERE client = ? AND \(SampleTable.isHere)",
            [.integer(client)] + sample.values, Self.read)
    }

    /// Returns the rows of a record: those of its samples, and superseded ones.
    func rows(_ client: Int64, of key: String) throws(StoreError) -> [Row] {
        try connection.list(
            "SELECT \(Self.columns) FROM \(Self.byKey) WHERE client = ? AND key = ? ORDER BY version DESC, series, start, hash",
            [.integer(client), .text(key)], Self.read)
    }

    /// Adds or changes a row. The outcome that the phone reported stays.
    func save(_ row: Row, of client: Int64) throws(StoreError) {
        func flag(_ value: Bool) -> Value { .integer(value ? 1 : 0) }
        try connection.run(
            """
            INSERT INTO write_back(client, \(Self.columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
                key = excluded.key, version = excluded.version, part = excluded.part, deletion = excluded.deletion,
                superseded = excluded.superseded
            """,
            [.integer(client)] + row.sample.values + [
                .text(row.key), .integer(row.version), flag(row.isPart), flag(row.isDeletion), flag(row.isSuperseded),
                .integer(row.offered), .integer(row.acknowledged),
            ])
    }

    /// Removes the rows of a record.
    func remove(_ client: Int64, _ key: String) throws(StoreError) {
        try connection.run("DELETE FROM \(Self.byKey) WHERE client = ? AND key = ?", [.integer(client), .text(key)])
    }

    /// Gives records new versions after a number, in their order, so that they are offered again.
    ///
    /// - Parameter all: Whether also those get new versions that are offered anyway, because the phone has not acknowledged them.
    /// - Returns: The last version.
    func raise(_ client: Int64, after version: Int64, all: Bool) throws(StoreError) -> Int64 {
        try connection.run(
            """
            UPDATE \(Self.byKey) SET version = ?2 + n.rank FROM (
                SELECT key, row_number() OVER (ORDER BY min(version)) AS rank FROM write_back
                WHERE client = ?1 AND NOT superseded AND (?3 OR version <= acknowledged) GROUP BY key
            ) AS n WHERE client = ?1 AND NOT superseded AND write_back.key = n.key
            """, [.integer(client), .integer(version), .integer(all ? 1 : 0)])
        return max(
            version,
            try connection.integer("SELECT max(version) FROM write_back WHERE client = ?", .integer(client)) ?? version)
    }

    // MARK: Offers

    /// Returns the next rows of records that a phone has not acknowledged and whose samples it may read, in the order of their versions.
    func pending(_ client: Int64, of person: String, limit: Int) throws(StoreError) -> [Row] {
        try connection.list(
            """
            SELECT \(Self.columns) FROM write_back AS w WHERE client = ?1 AND version > acknowledged AND NOT superseded AND NOT part
                AND \(GrantTable.mayRead(series: "w.series", start: "w.start", client: "?1", person: "?2"))
            ORDER BY version LIMIT ?3
            """, [.integer(client), .text(person), .integer(Int64(limit))], Self.read)
    }

    /// Notes that a record is offered. This is committed before the phone gets it.
    func offer(_ client: Int64, _ key: String) throws(StoreError) {
        try connection.run(
            "UPDATE \(Self.byKey) SET offered = version WHERE client = ? AND key = ? AND NOT superseded AND offered < version",
            [.integer(client), .text(key)])
    }

    /// Notes the phone's report about the current version of a record.
    func acknowledge(
        _ client: Int64, _ key: String, version: Int64, outcome: String, reason: String?
    ) throws(StoreError) {
        try connection.run(
            """
            UPDATE \(Self.byKey) SET acknowledged = version, outcome = ?4, reason = ?5
            WHERE client = ?1 AND key = ?2 AND version = ?3 AND NOT superseded
                AND (acknowledged, outcome, reason) IS NOT (version, ?4, ?5)
            """, [.integer(client), .text(key), .integer(version), .text(outcome), .optional(reason)])
    }

    /// Returns the numbers of records by their last outcome, and `nil` for those that are not acknowledged.
    func counts(_ client: Int64) throws(StoreError) -> [String?: Int] {
        let rows = try connection.list(
            """
            SELECT CASE WHEN version > acknowledged THEN NULL ELSE outcome END, count(*) FROM write_back
            WHERE client = ? AND NOT superseded AND NOT part GROUP BY 1
            """, [.integer(client)]
        ) { ($0.optionalText(0), Int($0.integer(1))) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    /// Returns the reasons of refused records with their numbers, the most frequent first.
    func reasons(_ client: Int64, limit: Int) throws(StoreError) -> [(reason: String, count: Int)] {
        try connection.list(
            """
            SELECT reason, count(*) FROM write_back WHERE client = ? AND NOT superseded AND NOT part AND version = acknowledged
                AND outcome = 'refused' AND reason IS NOT NULL GROUP BY reason ORDER BY 2 DESC, 1 LIMIT ?
            """, [.integer(client), .integer(Int64(limit))]
        ) { ($0.text(0), Int($0.integer(1))) }
    }

    /// Returns the samples of a series that a phone was offered and did not refuse, in any version, by a range of their starts.
    func offered(_ client: Int64, _ series: Int64, from low: Int64, through high: Int64) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT series, start, hash FROM write_back WHERE client = ? AND series = ? AND start BETWEEN ? AND ? AND offered > 0
                AND (outcome IS NOT 'refused' OR deletion)
            """, [.integer(client), .integer(series), .integer(low), .integer(high)])
    }

    /// Whether a phone was offered a record of a person.
    func wasOffered(_ client: Int64, _ key: String, person: String) throws(StoreError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM \(Self.byKey) WHERE client = ?1 AND key = ?2 AND offered > 0 AND series IN \(SeriesTable.ids(ofPerson: "?3"))",
            [.integer(client), .text(key), .text(person)])
    }

    // MARK: Removing

    /// Removes everything of a client.
    func removeAll(of client: Int64) throws(StoreError) {
        try connection.run("DELETE FROM write_back WHERE client = ?", [.integer(client)])
        try connection.run("DELETE FROM write_back_phone WHERE client = ?", [.integer(client)])
    }

    /// Removes the rows of the samples in the table `pruned`.
    func removePruned() throws(StoreError) {
        try connection.run(
            """
            DELETE FROM write_back WHERE client IN (SELECT client FROM write_back_phone)
                AND (series, start, hash) IN (SELECT series, start, hash FROM pruned)
            """, [])
    }

    /// Lets the phones that have grants of a person start again without the names of their apps. Their versions continue.
    func restartPhones(of person: String) throws(StoreError) {
        try connection.run(
            "UPDATE write_back_phone SET anchor = '', sources = '' WHERE client IN \(GrantTable.clients(ofPerson: "?"))",
            [.text(person)])
    }
}
