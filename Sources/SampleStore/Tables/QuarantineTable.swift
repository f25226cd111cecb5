import HealthModel

/// The readings that a rule quarantined and that are not judged yet.
public struct QuarantineSummary: Hashable, Sendable {
    /// The rule.
    public var rule: String
    /// The number of readings.
    public var count: Int
    /// When the first of them arrived.
    public var since: Instant
}

/// The quarantined readings and the decisions about them. It has all SQL on ``Schema/quarantine`` and ``Schema/decision``. Used inside a
/// transaction.
///
/// Each judgement belongs to an entry of the ledger and counts while the entry is active. The state of a reading is its last judgement that
/// counts. Without one the reading is quarantined (`quarantined`). Undoing the import that brought quarantined readings rejects them.
struct QuarantineTable {
    let connection: Connection

    /// One reading, without its value.
    struct Row {
        var key: SampleKey
        var uuid: String
        var rule: String
        var context: Int64
        /// The difference between the nominal start and the start, in microseconds.
        var skew: Int64
        /// The time from the start to the arrival, in microseconds.
        var received: Int64
        /// The id of the metadata, and the metadata as JSON.
        var metadata: (id: Int64, json: String)?
        var record: RecordIdentifier?
        /// The ledger entry that brought it.
        var ingest: Int64
    }

    /// SQL for the time from the start to the arrival.
    private static let received = "coalesce(received, \(LedgerTable.received(of: "quarantine.ingest")) - start)"

    // MARK: Reading

    /// Returns the readings that meet a condition, oldest first. The columns are those of ``SampleDecoder/quarantineColumns``, then series, id,
    /// rule, place, state, and frame.
    func readings<Reading>(
        where condition: String, _ bindings: [Value], limit: Int? = nil, _ read: (Statement) throws(StoreError) -> Reading
    ) throws(StoreError) -> [Reading] {
        try connection.list(
            """
            SELECT \(SampleDecoder.quarantineColumns), series, id, rule, place, state, frame FROM quarantine WHERE \(condition) ORDER BY id
            LIMIT \(limit ?? -1)
            """, bindings, read)
    }

    /// Returns the reading with a number, in any state.
    func row(_ id: Int64) throws(StoreError) -> Row? {
        try connection.first(
            """
            SELECT series, start, hash, uuid, rule, context, skew, \(Self.received), metadata,
                (SELECT json FROM metadata WHERE metadata.id = quarantine.metadata), record, version, ingest
            FROM quarantine JOIN context ON context.id = context WHERE quarantine.id = ?
            """, [.integer(id)]
        ) { row throws(StoreError) in
            Row(
                key: try SampleKey(row, at: 0),
                uuid: row.text(3), rule: row.text(4), context: row.integer(5), skew: row.integer(6),
                received: row.integer(7),
                metadata: row.optionalInteger(8).map { ($0, row.text(9)) },
                record: row.optionalText(10).map { RecordIdentifier(id: $0, version: row.integer(11)) },
                ingest: row.integer(12))
        }
    }

    /// Returns the number, state, and rule of a reading of a series.
    func decided(
        _ uuid: SampleIdentity, inSeries series: Int64
    ) throws(StoreError) -> (number: Int64, state: String, rule: String)? {
        try connection.first(
            "SELECT id, state, rule FROM quarantine WHERE series = ? AND hash = ? AND uuid = ?",
            [.integer(series), .blob(uuid.storedHash), .text(uuid.description)]
        ) { ($0.integer(0), $0.text(1), $0.text(2)) }
    }

    /// Whether a reading is in quarantine.
    func isQuarantined(_ id: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM quarantine WHERE id = ? AND state = 'held'", .integer(id)) != nil
    }

    /// Whether the series has a reading, in any state.
    func contains(series: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM quarantine WHERE series = ? LIMIT 1", .integer(series)) != nil
    }

    /// Whether the series has a reading with this UUID, in any state.
    func contains(_ uuid: SampleIdentity, inSeries series: Int64) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM quarantine WHERE series = ? AND hash = ?", .integer(series), .blob(uuid.storedHash)) != nil
    }

    /// Returns the entry of the ledger that brought a reading, in any state.
    func ingestID(of uuid: SampleIdentity, inSeries series: Int64) throws(StoreError) -> Int64? {
        try connection.integer(
            "SELECT ingest FROM quarantine WHERE series = ? AND hash = ?", .integer(series), .blob(uuid.storedHash))
    }

    /// Whether there is a reading with this UUID, in any state.
    func contains(_ uuid: SampleIdentity) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM quarantine WHERE uuid = ?", .text(uuid.description)) != nil
    }

    /// Whether a group of a series has another reading at a start.
    func hasOther(than uuid: SampleIdentity, series: Int64, start: Int64, group: Int64) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM quarantine WHERE series = ? AND start = ? AND grp = ? AND hash <> ? LIMIT 1", .integer(series),
            .integer(start), .integer(group), .blob(uuid.storedHash)) != nil
    }

    func quarantinedCount() throws(StoreError) -> Int {
        Int(try connection.integer("SELECT sum(count) FROM held_count") ?? 0)
    }

    /// Returns the number of quarantined readings that an import brought and that two rules hold.
    func quarantinedCount(of ingest: Int64, by rules: [Value]) throws(StoreError) -> Int {
        Int(
            try connection.first(
                "SELECT count(*) FROM quarantine WHERE ingest = ? AND state = 'held' AND rule IN (?, ?)",
                [.integer(ingest)] + rules
            ) { $0.integer(0) } ?? 0)
    }

    /// Returns the number of quarantined readings by rule, the most frequent first. The first reading is the one with the lowest number.
    func summary() throws(StoreError) -> [QuarantineSummary] {
        try connection.list(
            """
            SELECT counted.rule, sum(count), (SELECT start + \(Self.received) FROM quarantine
                WHERE state = 'held' AND quarantine.rule = counted.rule ORDER BY id LIMIT 1)
            FROM held_count AS counted GROUP BY counted.rule ORDER BY sum(count) DESC, counted.rule
            """, []
        ) { QuarantineSummary(rule: $0.text(0), count: Int($0.integer(1)), since: Instant(microseconds: $0.integer(2))) }
    }

    /// SQL for the condition that a reading is in quarantine and belongs to a person. The index by series finds them, so that those of
    /// others are not read.
    private static func isQuarantined(of person: String) -> String {
        "state = 'held' AND series IN \(SeriesTable.ids(ofPerson: person))"
    }

    /// SQL for the condition that a reading is one of the first in quarantine that belong to a person.
    static func quarantined(of person: String, limit: String) -> String {
        // The sign keeps SQLite from walking through the readings of others in the order of their numbers.
        "id IN (SELECT id FROM quarantine WHERE \(isQuarantined(of: person)) ORDER BY +id LIMIT \(limit))"
    }

    /// SQL for the condition that a reading is one of the first in quarantine within a range of numbers that belong to some series.
    static func quarantined(after first: String, through last: String, ofSeries series: [Int64], limit: Int) -> String {
        // The sign makes SQLite follow the numbers, so that only the range is read.
        """
        id IN (SELECT id FROM quarantine WHERE state = 'held' AND id > \(first) AND id <= \(last)
            AND +series IN (\(series.map(String.init).joined(separator: ","))) ORDER BY id LIMIT \(limit))
        """
    }

    /// Returns the number of a person's quarantined readings by series.
    func quarantinedCounts(of person: String) throws(StoreError) -> [Int64: Int] {
        let rows = try connection.list(
            "SELECT series, sum(count) FROM held_count WHERE series IN \(SeriesTable.ids(ofPerson: "?")) GROUP BY series",
            [.text(person)]
        ) {
            ($0.integer(0), Int($0.integer(1)))
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    func lastNumber() throws(StoreError) -> Int64 {
        try connection.integer("SELECT coalesce(max(id), 0) FROM quarantine") ?? 0
    }

    /// Returns the number of readings that an undo put back into quarantine and that are still there.
    func quarantinedCount(againBy undoing: Int64) throws(StoreError) -> Int {
        Int(
            try connection.integer(
                """
                SELECT count(*) FROM judgement JOIN quarantine ON quarantine.id = held
                WHERE judgement.ingest = \(LedgerTable.undone(by: "?")) AND quarantine.state = 'held'
                """, .integer(undoing)) ?? 0)
    }

    /// Returns the numbers and frames of quarantined readings of files that a profile read, latest first.
    ///
    /// - Parameter person: The person of the readings.
    func frames(
        quarantinedBy rule: String, profile: String, of person: String, limit: Int64
    ) throws(StoreError) -> [(number: Int64, text: String)] {
        try connection.list(
            """
            SELECT quarantine.id, frame FROM quarantine JOIN ingest ON ingest.id = quarantine.ingest
            WHERE quarantine.state = 'held' AND rule = ?1 AND profile = ?2 AND frame <> ''
                AND quarantine.series IN \(SeriesTable.ids(ofPerson: "?4"))
            ORDER BY quarantine.id DESC LIMIT ?3
            """, [.text(rule), .text(profile), .integer(limit), .text(person)]
        ) { ($0.integer(0), $0.text(1)) }
    }

    // MARK: Repetitions in another unit

    /// SQL for the nominal starts of a series' readings between two UUIDs. The plus makes SQLite search by UUID instead of series. A UUID
    /// matches one row, but a series may have thousands.
    static let nominalStarts = """
        SELECT start + skew FROM quarantine CROSS JOIN context ON context.id = context
        WHERE uuid >= ? AND uuid < ? AND +series = ? AND record IS NULL
        """

    /// SQL for a series' readings between two UUIDs, with a nominal start, in another unit.
    static let inOtherUnit = """
        SELECT start, hash, value, numeral, context, coalesce(duration, 0), quarantine.id, state, quarantine.metadata
        FROM quarantine CROSS JOIN context ON context.id = context
        WHERE uuid >= ? AND uuid < ? AND +series = ? AND start + skew = ? AND record IS NULL AND unit <> ? ORDER BY quarantine.id
        """

    /// SQL for the reading with a number, if it is no record.
    static let withSeries = """
        SELECT start, hash, value, numeral, context, coalesce(duration, 0), series, type, start + skew, ingest, quarantine.metadata
        FROM quarantine CROSS JOIN context ON context.id = context CROSS JOIN series ON series.id = series
        WHERE quarantine.id = ? AND record IS NULL
        """

    // MARK: Clocks

    /// Returns the times of a device's readings that a rule holds, except those with the time of their arrival.
    func times(quarantinedBy rule: String, device: String) throws(StoreError) -> [QuarantinedTimes] {
        try connection.list(
            """
            SELECT quarantine.id, start, start + skew, start + \(Self.received),
                (SELECT json FROM metadata WHERE metadata.id = quarantine.metadata)
            FROM quarantine JOIN series ON series.id = series JOIN context ON context.id = context
            WHERE rule = ? AND state = 'held' AND device = ? AND time_origin <> ? ORDER BY quarantine.id
            """, [.text(rule), .text(device), .integer(Int64(TimeOrigin.receipt.rawValue))]
        ) {
            QuarantinedTimes(
                id: $0.integer(0), start: $0.integer(1), nominal: $0.integer(2),
                received: $0.integer(3), metadata: $0.optionalText(4))
        }
    }

    /// Returns the readings that a rule holds and whose only time is that of their arrival.
    func arrivals(quarantinedBy rule: String, after first: Int64, through last: Int64) throws(StoreError) -> [(
        id: Int64, start: Int64
    )] {
        try connection.list(
            """
            SELECT quarantine.id, start FROM quarantine JOIN context ON context.id = context
            WHERE rule = ? AND state = 'held' AND quarantine.id > ? AND quarantine.id <= ? AND time_origin = ? ORDER BY quarantine.id
            """, [.text(rule), .integer(first), .integer(last), .integer(Int64(TimeOrigin.receipt.rawValue))]
        ) { ($0.integer(0), $0.integer(1)) }
    }

    /// Returns the readings that a rule holds, with a time from their device.
    func times(quarantinedBy rule: String, after first: Int64, through last: Int64) throws(StoreError) -> [QuarantinedTimes] {
        try connection.list(
            """
            SELECT quarantine.id, start, start + skew, start + \(Self.received),
                (SELECT json FROM metadata WHERE metadata.id = quarantine.metadata)
            FROM quarantine JOIN context ON context.id = context
            WHERE rule = ? AND state = 'held' AND quarantine.id > ? AND quarantine.id <= ? AND time_origin <> ? ORDER BY quarantine.id
            """, [.text(rule), .integer(first), .integer(last), .integer(Int64(TimeOrigin.receipt.rawValue))]
        ) {
            QuarantinedTimes(
                id: $0.integer(0), start: $0.integer(1), nominal: $0.integer(2),
                received: $0.integer(3), metadata: $0.optionalText(4))
        }
    }

    /// Adds a sample that is withdrawn. A reading that was released before is held again.
    ///
    /// - Parameter select: A query for the ``SampleTable/columns`` of the sample's row.
    func add(
        withdrawn uuid: SampleIdentity, at key: SampleKey, _ select: String, rule: String, metadata: Int64, ingest: Int64
    ) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO quarantine(uuid, ingest, rule, place, state, metadata, series, start, hash, value, numeral, context, duration,
                received, grp)
            SELECT ?, ?, ?, '', 'held', ?, series, start, hash, value, numeral, context, duration, received, grp FROM (\(select))
            WHERE true ON CONFLICT(uuid) DO UPDATE SET state = 'held', rule = excluded.rule, metadata = excluded.metadata,
                ingest = excluded.ingest
            """, .text(uuid.description), .integer(ingest), .text(rule), .integer(metadata), .integer(key.series),
            .integer(key.start), .blob(key.hash))
    }

    /// Moves the arrivals of readings with a time from their device.
    func moveArrivals(quarantinedBy rule: String, after first: Int64, through last: Int64, by step: Int64) throws(StoreError) {
        try connection.run(
            """
            UPDATE quarantine SET received = \(Self.received) + ?
            WHERE id > ? AND id <= ? AND rule = ? AND (SELECT time_origin FROM context WHERE context.id = context) <> ?
            """, .integer(step), .integer(first), .integer(last), .text(rule), .integer(Int64(TimeOrigin.receipt.rawValue)))
    }

    // MARK: Writing

    /// Adds a reading of a batch.
    ///
    /// - Returns: False if the reading is there already, in any state.
    func add(
        _ row: SampleRow, _ sample: Sample, numeral: String?, rule: String, place: String, frame: String?, ingest: Int64
    ) throws(StoreError) -> Bool {
        try connection.run(
            """
            INSERT OR IGNORE INTO quarantine(uuid, ingest, rule, place, state, series, start, hash, value, numeral, context, duration,
                received, grp, metadata, record, version, frame)
            VALUES(?, ?, ?, ?, 'held', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .text(sample.identity.description), .integer(ingest), .text(rule), .text(place), .integer(row.series),
            .integer(row.start), .blob(row.key.hash), .real(row.value), .optional(numeral), .integer(row.context),
            row.duration == 0 ? .null : .integer(row.duration), row.received == .min ? .null : .integer(row.received),
            row.group == 0 ? .null : .integer(row.group), row.metadata == 0 ? .null : .integer(row.metadata),
            .optional(sample.record?.id), .optional(sample.record?.version), .optional(frame))
        return connection.changes > 0
    }

    /// Adds a reading to the samples, with another time, context, or metadata if these changed.
    ///
    /// - Returns: False if the sample exists already.
    func addSample(
        _ id: Int64, start: Int64, context: Int64, received: Int64, metadata: Int64?, by ingest: Int64
    ) throws(StoreError) -> Bool {
        let isNew = try connection.samples.add(
            "SELECT series, ?, hash, value, numeral, ?, duration, ?, grp, ? FROM quarantine WHERE id = ?",
            [.integer(start), .integer(context), .integer(received), .optional(metadata), .integer(id)], ingestedBy: ingest,
            cause: ingest)
        // The sums of the ledger do not contain it.
        if isNew { try connection.settings.add(1, to: "accepted") }
        return isNew
    }

    /// Records a judgement about readings.
    ///
    /// - Parameter state: `accepted`, `rejected`, or `released`.
    func decide(_ ids: [Int64], _ state: String, by ingest: Int64) throws(StoreError) {
        for id in ids {
            try connection.run(
                "INSERT OR REPLACE INTO judgement(held, ingest, what) VALUES(?, ?, ?)", .integer(id), .integer(ingest),
                .text(state))
            try connection.run("UPDATE quarantine SET state = ? WHERE id = ?", .text(state), .integer(id))
        }
    }

    /// Rejects the quarantined readings of a source.
    ///
    /// - Returns: Whether there were any.
    func reject(profile source: String, by ingest: Int64) throws(StoreError) -> Bool {
        try connection.run(
            """
            INSERT OR IGNORE INTO judgement SELECT id, ?2, 'rejected' FROM quarantine
            WHERE series IN (SELECT id FROM series WHERE source = ?1) AND state = 'held'
            """, .text(source), .integer(ingest))
        return connection.changes > 0
    }

    /// Computes the state of all readings that an entry of the ledger brought or judged. Those of an undone import are rejected.
    func update(touchedBy entry: Int64) throws(StoreError) {
        try connection.run(
            """
            UPDATE quarantine SET state = CASE WHEN \(LedgerTable.isUndone("quarantine.ingest")) THEN 'rejected' ELSE coalesce(
                (SELECT what FROM judgement AS j WHERE j.held = quarantine.id AND NOT \(LedgerTable.isUndone("j.ingest"))
                    ORDER BY j.ingest DESC LIMIT 1),
                'held') END
            WHERE ingest = ?1 OR id IN (SELECT held FROM judgement WHERE judgement.ingest = ?1)
            """, .integer(entry))
    }

    // MARK: Samples

    /// SQL for the entries that accepted or released the reading of a row. The sample that they added counts only while the reading's
    /// import is active, too. If the reading itself arrived again, another import brought the sample.
    private static let acceptances =
        "judgement AS j ON j.held = quarantine.id JOIN ingest AS i ON i.id = j.ingest AND i.kind IN ('accept', 'release')"

    /// Whether the quarantine of a series has a reading that was accepted or released.
    func containsAccepted(series: Int64) throws(StoreError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM quarantine JOIN \(Self.acceptances) WHERE series = ? LIMIT 1", [.integer(series)])
    }

    /// Returns the import of the reading that an entry made a sample, or nil if the entry did not.
    func ingestID(of key: SampleKey, acceptedBy entry: Int64) throws(StoreError) -> Int64? {
        try connection.first(
            """
            SELECT quarantine.ingest FROM quarantine JOIN \(Self.acceptances)
            WHERE series = ? AND hash = ? AND j.ingest = ?
            """, [.integer(key.series), .blob(key.hash), .integer(entry)]
        ) { $0.integer(0) }
    }

    /// Returns the entries that rejected the reading of a sample after an entry accepted it.
    func rejections(of key: SampleKey, after entry: Int64) throws(StoreError) -> [Int64] {
        try connection.list(
            """
            SELECT j.ingest FROM quarantine JOIN judgement AS j ON j.held = quarantine.id AND j.what = 'rejected'
            WHERE series = ? AND hash = ? AND j.ingest > ?
            """, [.integer(key.series), .blob(key.hash), .integer(entry)]
        ) { $0.integer(0) }
    }

    /// Returns the samples, live or not, that were readings of an import and were accepted or released.
    func acceptedSamples(ingestedBy ingest: Int64) throws(StoreError) -> [SampleKey] {
        try acceptedSamples("quarantine.ingest = ?1", ingest)
    }

    /// Returns the samples, live or not, whose readings an entry brought or judged, and that were accepted or released.
    func acceptedSamples(touchedBy entry: Int64) throws(StoreError) -> [SampleKey] {
        try acceptedSamples(
            "quarantine.ingest = ?1 OR quarantine.id IN (SELECT held FROM judgement WHERE judgement.ingest = ?1)", entry)
    }

    private func acceptedSamples(_ condition: String, _ entry: Int64) throws(StoreError) -> [SampleKey] {
        let readings = try connection.list(
            """
            SELECT DISTINCT series, start + context.skew, hash FROM quarantine JOIN context ON context.id = context JOIN \(Self.acceptances)
            WHERE \(condition)
            """, [.integer(entry)]
        ) { row throws(StoreError) in try SampleKey(row, at: 0) }
        return try readings.map { reading throws(StoreError) in
            // The clock may have been corrected since, which changes the start and not the nominal start.
            var key = reading
            let identity = SampleIdentity(nominalStart: reading.start, high: reading.high, low: reading.low)
            key.start = try connection.samples.start(ofNominal: reading.start, identity, in: reading.series) ?? reading.start
            return key
        }
    }

    /// Removes the readings of an import, except those that are samples.
    func remove(ingestedBy ingest: Int64) throws(StoreError) {
        try connection.run("DELETE FROM quarantine WHERE ingest = ? AND state <> 'accepted'", .integer(ingest))
        try removeOrphans()
    }

    /// Removes the judgements of readings that no longer exist.
    func removeOrphans() throws(StoreError) {
        try connection.run("DELETE FROM judgement WHERE held NOT IN (SELECT id FROM quarantine)")
    }

    /// SQL for the entries of the ledger that judged readings, with the readings' series.
    static let judges = "(SELECT j.ingest, series FROM judgement AS j JOIN quarantine ON quarantine.id = held)"
}

/// The times of a quarantined reading, in microseconds since 1970.
struct QuarantinedTimes {
    var id: Int64
    var start: Int64
    var nominal: Int64
    var received: Int64
    /// The metadata as JSON.
    var metadata: String?
}
