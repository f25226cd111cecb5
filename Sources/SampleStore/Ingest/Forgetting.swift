import HealthModel

/// Permanently removes the tombstones of an undone import, so that the same file can be imported again.
///
/// It runs in parts, each of which leaves a correct store: nothing that is removed is live.
struct Forgetting {
    /// Runs a part in a transaction.
    typealias Step = ((Deletion) throws -> Void) throws -> Void

    private let connection: Connection
    private let ingest: Int64
    /// The number of rows of a part.
    private let limit: Int

    init(_ connection: Connection, of ingest: Int64, limit: Int) {
        (self.connection, self.ingest, self.limit) = (connection, ingest, limit)
    }

    /// Removes the rows of the import and returns their number.
    func run(_ step: Step) throws -> Int {
        let table = SampleTable(connection: connection)
        func tombstones(after last: SampleKey?, limit: Int) throws(StoreError) -> [SampleKey] {
            try table.tombstones(broughtBy: ingest, after: last, limit: limit)
        }
        if try connection.integer("SELECT 1 FROM decision LIMIT 1") != nil {
            try forEachPart(of: tombstones) { places in
                try step { try handOver(places, $0) }
            }
            try forEachPart(of: witnesses) { places in try step { try handOver(places, $0) } }
        }
        var count = 0
        try forEachPart(of: witnesses) { places in
            try step { _ in
                try table.forgetPlaces(ofWitnesses: places)
                try remove(witnesses: places)
            }
            count += places.count
        }
        try step { _ in count += try forgetDecisions() }
        try forEachPart(of: tombstones) { places in
            try step { _ in
                let forgotten = try table.forget(places)
                // Keep the ledger's sums correct. A forgotten row is replaced if the same sample is stored and deleted again.
                try connection.settings.add(Int64(forgotten), to: "forgotten")
                count += forgotten
            }
        }
        return count
    }

    private func forEachPart(
        of next: (SampleKey?, Int) throws -> [SampleKey], _ body: ([SampleKey]) throws -> Void
    ) throws {
        var last: SampleKey?
        while true {
            let places = try next(last, limit)
            guard let end = places.last else { return }
            try body(places)
            last = end
        }
    }

    /// The next duplicates that the import brought, sorted by place.
    private func witnesses(after last: SampleKey?, limit: Int) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            """
            SELECT series, start, hash FROM witness_row WHERE (series, start, hash) > (?1, ?2, ?3)
                AND decision IN (SELECT id FROM decision WHERE ingest = ?4) ORDER BY series, start, hash LIMIT ?5
            """,
            [
                .integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? []), .integer(ingest),
                .integer(Int64(limit)),
            ])
    }

    private func remove(witnesses places: [SampleKey]) throws(StoreError) {
        for place in places {
            try connection.run(
                "DELETE FROM witness_row WHERE series = ? AND start = ? AND hash = ?", .integer(place.series),
                .integer(place.start), .blob(place.hash))
        }
    }

    /// Removes what the import decided and quarantined.
    private func forgetDecisions() throws(StoreError) -> Int {
        try connection.run("DELETE FROM decision WHERE ingest = ?", .integer(ingest))
        try forgetDecisionsOnForms()
        try connection.quarantine.remove(broughtBy: ingest)
        return try connection.removeCharacteristics(broughtBy: ingest)
    }

    /// Replaces each forgotten report with another report of the same reading. Duplicates were compared with the
    /// forgotten report, and a person's decisions apply to all reports.
    private func handOver(_ places: [SampleKey], _ deletion: Deletion) throws(StoreError) {
        let reader = MeasurementReader(connection: connection)
        var shared: [Int64: Bool] = [:]
        for place in places {
            if shared[place.series] == nil { shared[place.series] = try isShared(place.series) }
            guard shared[place.series] == true else { continue }
            let history = try reader.measurement(of: place).history
            guard let own = history.reports.first(where: { $0.place == place }) else { continue }
            let others = history.reports.filter { $0.group == own.group && $0.place != place && $0.entry != ingest }
            guard
                let heir = others.first(where: { history.form(of: $0.place).map(history.live.contains) ?? false })
                    ?? others.first(where: { $0.first == nil }) ?? others.first
            else { continue }
            try connection.run(
                "UPDATE OR IGNORE decided SET series = ?4, start = ?5, hash = ?6 WHERE (series, start, hash) = (?1, ?2, ?3)",
                .integer(place.series), .integer(place.start), .blob(place.hash), .integer(heir.place.series),
                .integer(heir.place.start), .blob(heir.place.hash))
            if own.first == nil { try makeFirst(heir.place, insteadOf: place, reader, deletion) }
        }
    }

    /// Whether other reports may belong to the series' readings.
    private func isShared(_ series: Int64) throws(StoreError) -> Bool {
        try connection.integer(
            """
            SELECT EXISTS(SELECT 1 FROM decision WHERE of_series = ?1)
                OR EXISTS(SELECT 1 FROM witness_row WHERE series = ?1)
            """, .integer(series)) == 1
    }

    /// Makes another report the original of a reading. It becomes a sample, or a tombstone if it is not live.
    private func makeFirst(
        _ heir: SampleKey, insteadOf first: SampleKey, _ reader: MeasurementReader, _ deletion: Deletion
    ) throws(StoreError) {
        let here: [Value] = [.integer(heir.series), .integer(heir.start), .blob(heir.hash)]
        if try reader.row(at: heir) == nil {
            // A row must become a sample before it can become a tombstone.
            try deletion.addWitness(heir)
            try deletion.bury([SampleTable.Burial(place: heir)])
        }
        for other in try reader.witnesses(of: first) where other != heir {
            let place: [Value] = [.integer(other.series), .integer(other.start), .blob(other.hash)]
            let known = try connection.integer(
                """
                SELECT other.id FROM witness_row CROSS JOIN decision AS own ON own.id = decision
                    CROSS JOIN decision AS other ON (other.ingest, other.rule) = (own.ingest, own.rule) AND other.merge IS own.merge
                WHERE series = ? AND start = ? AND hash = ? AND other.of_series = ?
                """, place[0], place[1], place[2], here[0])
            var decision = known
            if decision == nil {
                try connection.run(
                    """
                    INSERT INTO decision(ingest, of_series, rule, merge) SELECT ingest, ?, rule, merge FROM witness_row
                        CROSS JOIN decision ON decision.id = decision WHERE series = ? AND start = ? AND hash = ?
                    """, here[0], place[0], place[1], place[2])
                decision = connection.lastInsertedRow
            }
            try connection.run(
                "UPDATE witness_row SET decision = ?, of_start = ?, of_hash = ? WHERE series = ? AND start = ? AND hash = ?",
                .optional(decision), here[1], here[2], place[0], place[1], place[2])
        }
        try connection.run(
            "DELETE FROM witness_row WHERE series = ? AND start = ? AND hash = ?", here[0], here[1], here[2])
    }

    /// Removes the decisions about repaired forms of the readings. They do not apply when the readings are imported
    /// again.
    private func forgetDecisionsOnForms() throws(StoreError) {
        guard try !connection.repairs.isEmpty(),
            try connection.integer("SELECT 1 FROM decided LIMIT 1") != nil
        else { return }
        try connection.run(
            """
            WITH RECURSIVE form(series, start, hash) AS (
                SELECT series, start, hash FROM deleted WHERE NOT forgotten AND \(SampleTable.bringer) = ?
                UNION \(RepairTable.nextForms))
            DELETE FROM decided WHERE (series, start, hash) IN (SELECT series, start, hash FROM form)
            """, .integer(ingest))
    }
}
