import HealthModel

/// The reason why a reading is a sample of its own or a duplicate.
public struct Explanation: Sendable {
    /// Another reading that agrees with this one.
    public struct Relation: Sendable {
        /// The other reading.
        public var other: StoredSample
        /// The rule by which they agree.
        public var rule: DuplicateRule
        /// The id of the ledger entry that made the decision.
        public var ingest: Int64
    }

    /// The reading itself.
    public var stored: StoredSample
    /// The original of this reading, or `nil` if the reading is not a duplicate.
    public var first: Relation?
    /// The duplicates of this reading, which arrived over other paths.
    public var witnesses: [Relation] = []
    /// The samples from other devices that agree with this one.
    public var linked: [Relation] = []
}

extension SampleStore {
    /// Explains a reading and the readings that agree with it. Returns `nil` if no sample, tombstone or duplicate has
    /// this UUID.
    public func explain(_ uuid: SampleIdentity) throws(StoreError) -> Explanation? {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var explanation: Explanation?
        var place: SampleKey?
        for table in ["sample", "witness", "deleted"] where explanation == nil {
            for candidate in try places(of: uuid, in: table) {
                guard let stored = try sample(at: candidate, in: table) else { continue }
                explanation = Explanation(stored: stored)
                place = candidate
                break
            }
        }
        guard var explanation, let place else { return nil }
        let here: [Value] = [.integer(place.series), .integer(place.start), .blob(place.hash)]
        let firsts = try relations(
            "SELECT of_series, of_start, of_hash, rule, ingest FROM witness WHERE series = ? AND start = ? AND hash = ? AND NOT stands_in AND NOT parted",
            here)
        explanation.first = firsts.first
        explanation.witnesses = try relations(
            WitnessRows.ofFirst(
                "series, start, hash, rule, ingest",
                """
                \(WitnessRows.isActive) AND NOT EXISTS(SELECT 1 FROM main.sample AS s
                    WHERE (s.series, s.start, s.hash) = (witness_row.series, witness_row.start, witness_row.hash))
                """, order: "ingest, series"), here)
        explanation.linked = try relations(
            """
            SELECT of_series, of_start, of_hash, rule, ingest FROM link WHERE series = ?1 AND start = ?2 AND hash = ?3
            UNION SELECT series, start, hash, rule, ingest FROM link WHERE of_series = ?1 AND of_start = ?2 AND of_hash = ?3
            """, here)
        return explanation
    }

    /// The duplicates found by an import: each reading in it that had already arrived over another path.
    public func witnesses(of ingest: Int64, limit: Int) throws(StoreError) -> [(
        witness: SampleIdentity, first: SampleIdentity, rule: DuplicateRule
    )] {
        let statement = try connection.statement(
            """
            SELECT series, start, hash, of_series, of_start, of_hash, rule FROM witness WHERE ingest = ? AND NOT stands_in
            ORDER BY start LIMIT ?
            """)
        defer { statement.reset() }
        try statement.bind([.integer(ingest), .integer(Int64(limit))])
        let names = WitnessRows(connection: connection)
        var found: [(witness: SampleIdentity, first: SampleIdentity, rule: DuplicateRule)] = []
        while try statement.step() {
            let own = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
            let first = try SampleKey(series: statement.integer(3), start: statement.integer(4), hash: statement.blob(5))
            guard let witness = try names.uuid(of: own), let sample = try names.uuid(of: first),
                let rule = DuplicateRule(rawValue: statement.text(6))
            else { continue }
            found.append((witness, sample, rule))
        }
        return found
    }

    private func relations(_ sql: String, _ bindings: [Value]) throws(StoreError) -> [Explanation.Relation] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        var found: [Explanation.Relation] = []
        while try statement.step() {
            let place = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
            guard let rule = DuplicateRule(rawValue: statement.text(3)) else { continue }
            let ingest = statement.integer(4)
            for table in ["sample", "witness", "deleted"] {
                guard let other = try sample(at: place, in: table) else { continue }
                found.append(Explanation.Relation(other: other, rule: rule, ingest: ingest))
                break
            }
        }
        return found
    }

    /// The row at a place in `sample`, `witness` or `deleted`, or `nil` if there is no row or it was forgotten.
    func sample(at place: SampleKey, in table: String) throws(StoreError) -> StoredSample? {
        let columns =
            table == "witness"
            ? SampleDecoder.heldColumns : SampleDecoder.columns
        let remembered = table == "deleted" ? " AND NOT forgotten" : ""
        let statement = try connection.statement(
            "SELECT \(columns) FROM \(table) WHERE series = ? AND start = ? AND hash = ?\(remembered)")
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        guard try statement.step() else { return nil }
        let decoder = SampleDecoder(connection: connection)
        return table == "witness"
            ? try decoder.decodeHeld(statement, series: place.series) : try decoder.decode(statement, series: place.series)
    }
}
