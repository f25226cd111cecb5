import HealthModel

/// A reading in quarantine.
public struct QuarantinedSample: Sendable {
    /// The number by which it is accepted or rejected.
    public var id: Int64
    /// The sample that it becomes if it is accepted.
    public var stored: StoredSample
    /// The rule that quarantined it.
    public var rule: String
    /// Its position in the file or stream it came from.
    public var place: String
    /// The state: `held`, `accepted`, `rejected`, or `released` if it passed the gate when it arrived again.
    public var state: String
    /// The received data: bytes in hexadecimal, or a row.
    public var frame: String?
}

extension SampleStore {
    /// Returns the quarantined readings in a state, oldest first.
    public func quarantined(state: String = "held") throws(StoreError) -> [QuarantinedSample] {
        try quarantined("state = ?", .text(state))
    }

    /// Returns a quarantined or judged reading by its number, or nil if there is none.
    public func quarantined(number: Int64) throws(StoreError) -> QuarantinedSample? {
        try quarantined("id = ?", .integer(number)).first
    }

    private func quarantined(_ condition: String, _ binding: Value) throws(StoreError) -> [QuarantinedSample] {
        let statement = try connection.statement(
            """
            SELECT start, hash, value, numeral, context, duration, received, grp, metadata, ingest, series, id, rule, place, state, frame
            FROM quarantine WHERE \(condition) ORDER BY id
            """)
        defer { statement.reset() }
        try statement.bind([binding])
        let decoder = SampleDecoder(connection: connection)
        var held: [QuarantinedSample] = []
        while try statement.step() {
            held.append(
                QuarantinedSample(
                    id: statement.integer(11), stored: try decoder.decodeHeld(statement, series: statement.integer(10)),
                    rule: statement.text(12), place: statement.text(13), state: statement.text(14),
                    frame: statement.optionalText(15)))
        }
        return held
    }

    /// Stores quarantined readings unchanged as samples, because a person decided that they are right.
    @discardableResult
    public func accept(_ ids: [Int64], description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try change(description) { ingest, deletion in
            let judgements = Judgements(connection: connection)
            for id in ids.sorted() {
                try requireHeld(id)
                try judgements.judge([id], "accepted", by: ingest)
                guard try !isMadeByRepair(held: id) else {
                    throw StoreError(
                        .invalid, "number \(id) is already stored as the result of a repair: reject it")
                }
                let place = try place(ofHeld: id)
                if try restoreJudged(place, deletion) { continue }
                if let told = try told(held: id) {
                    throw StoreError(.invalid, "number \(id) is a duplicate of sample \(told) in another unit: reject it")
                }
                try claimRecord(ofHeld: id, by: ingest)
                let table = SampleTable(connection: connection)
                guard try !table.contains(place), try !table.contains(place, among: .tombstones),
                    try table.add(
                        """
                        SELECT series, start, hash, value, numeral, context, duration,
                            coalesce(received, (SELECT ingest.received FROM ingest WHERE ingest.id = quarantine.ingest) - start), grp, ?
                        FROM quarantine WHERE id = ?
                        """, [.integer(interner.id(of: decided(onHeld: id))), .integer(id)], broughtBy: ingest, cause: ingest)
                else { throw StoreError(.invalid, "number \(id) arrived again later and is already stored: reject it") }
                try countAccepted()
            }
            return ids.count
        }
    }

    private func requireHeld(_ id: Int64) throws(StoreError) {
        let isHeld = try connection.integer("SELECT 1 FROM quarantine WHERE id = ? AND state = 'held'", .integer(id)) != nil
        guard isHeld else { throw StoreError(.invalid, "there is no quarantined reading \(id)") }
    }

    /// Restores a sample that returned to quarantine because its acceptance was undone. Returns false if it never was a sample or is
    /// deleted.
    func restoreJudged(_ place: SampleKey, _ deletion: Deletion) throws(StoreError) -> Bool {
        let settlement = Settlement(deletion)
        guard let row = try settlement.reader.row(at: place), !row.isLive,
            try !settlement.reader.states.isActive(settlement.reader.bringer(of: row.number, in: place.series))
        else { return false }
        try deletion.decide(.restored, [place])
        try settlement.settle([place])
        return try SampleTable(connection: connection).contains(place)
    }

    /// Counts a quarantined reading that is now a sample, for the sums of the ledger.
    func countAccepted() throws(StoreError) {
        try connection.run("INSERT INTO setting VALUES('accepted', 1) ON CONFLICT(name) DO UPDATE SET value = value + 1")
    }

    /// Whether a repaired sample is what this reading would have been if it had been read correctly. An import would treat the reading as a
    /// duplicate.
    private func isMadeByRepair(held id: Int64) throws(StoreError) -> Bool {
        try connection.integer(
            """
            SELECT 1 FROM quarantine AS q JOIN reading_alias AS a ON (a.series, a.nominal, a.hash) = (q.series, q.start, q.hash)
                JOIN context ON context.id = q.context
            WHERE q.id = ? AND skew = 0
            """, .integer(id)) != nil
    }

    private func place(ofHeld id: Int64) throws(StoreError) -> SampleKey {
        let statement = try connection.statement("SELECT series, start, hash FROM quarantine WHERE id = ?")
        defer { statement.reset() }
        try statement.bind([.integer(id)])
        guard try statement.step() else { throw StoreError(.invalid, "there is no quarantined reading \(id)") }
        return try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
    }

    /// Returns the sample that a quarantined reading repeats in another unit, as `import --exact` quarantines both. The sample is live or
    /// deleted by a person.
    private func told(held id: Int64) throws(StoreError) -> SampleIdentity? {
        let search = RetellingSearch(connection: connection)
        guard let first = try search.told(held: id) else { return nil }
        let history = try MeasurementReader(connection: connection).measurement(of: first).history
        let isDeleted = history.decisions.contains { $0.isActive && $0.kind == .deleted }
        return history.live.isEmpty && !isDeleted ? nil : try WitnessRows(connection: connection).uuid(of: first)
    }

    /// Returns the metadata of a quarantined reading with the decision to accept it.
    private func decided(onHeld id: Int64) throws(StoreError) -> Metadata {
        let rule = try connection.text("SELECT rule FROM quarantine WHERE id = ?", .integer(id)) ?? ""
        let json = try connection.text(
            "SELECT json FROM metadata WHERE id = (SELECT metadata FROM quarantine WHERE id = ?)", .integer(id))
        var entries: [(String, MetadataValue)] = []
        if let json {
            do throws(MetadataError) {
                entries = try Metadata(json: json).entries.map { ($0.key, $0.value) }
            } catch {
                throw StoreError(.corrupt, "the metadata of number \(id) cannot be read: \(error)")
            }
        }
        return Metadata(entries + [("acceptedAgainst", .string(rule))])
    }

    /// Returns the number of readings that an undo put back into quarantine and that are still there.
    public func heldAgain(by undoing: Int64) throws(StoreError) -> Int {
        Int(
            try connection.integer(
                """
                SELECT count(*) FROM judgement JOIN quarantine ON quarantine.id = held
                WHERE judgement.ingest = (SELECT undoes FROM ingest WHERE id = ?) AND quarantine.state = 'held'
                """, .integer(undoing)) ?? 0)
    }

    /// Replaces the lower version of a record by the accepted one.
    private func claimRecord(ofHeld id: Int64, by ingest: Int64) throws(StoreError) {
        let statement = try connection.statement("SELECT record, version, series, start, hash, uuid FROM quarantine WHERE id = ?")
        defer { statement.reset() }
        try statement.bind([.integer(id)])
        guard try statement.step(), let record = statement.optionalText(0), let identity = SampleIdentity(statement.text(5))
        else { return }
        let claimed = try Records(connection: connection, ingest: ingest).claim(
            RecordIdentifier(id: record, version: statement.integer(1)), series: statement.integer(2),
            start: statement.integer(3),
            hash: Array(statement.blob(4)), identity: identity)
        guard claimed else {
            throw StoreError(.invalid, "the same or a newer version of number \(id) is already stored")
        }
    }

    /// Rejects quarantined readings. If they arrive again, they are duplicates.
    @discardableResult
    public func reject(_ ids: [Int64], description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try change(description) { ingest, _ in
            for id in ids {
                try requireHeld(id)
                try Judgements(connection: connection).judge([id], "rejected", by: ingest)
            }
            return ids.count
        }
    }
}
