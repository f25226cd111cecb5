import HealthModel

/// Reads all reports and decisions about a measurement. Used inside a transaction.
final class MeasurementReader {
    /// A measurement with its rows.
    struct Found {
        var history = MeasurementHistory<SampleKey>()
        /// The row of each key of the measurement, with its change number and whether it is live, or nil if there is no row.
        var rows: [SampleKey: (number: Int64, isLive: Bool)?] = [:]
        /// The keys in the order in which they were found.
        var places: [SampleKey] = []
    }

    /// Which tables have rows of a series. Most series have none, so their samples need no further queries.
    private struct Traces {
        var isDecided = false
        var isRepaired = false
        var wasRepaired = false
        var hasWitnesses = false
        var isWitness = false
        var hasRecords = false
        var isDerived = false

        var isEmpty: Bool {
            !(isDecided || isRepaired || wasRepaired || hasWitnesses || isWitness || hasRecords || isDerived)
        }
    }

    let connection: Connection
    let states: LedgerStates
    private let decoder: SampleDecoder
    private var traces: [Int64: Traces] = [:]
    /// Reports whose rows are about to be written, with the ingest that brings them.
    var arriving: [SampleKey: (ingest: Int64, uuid: SampleIdentity)] = [:]

    init(connection: Connection) {
        self.connection = connection
        states = LedgerStates(connection: connection)
        decoder = SampleDecoder(connection: connection)
    }

    /// Whether the only fact about each sample of a series is the ingest that brought it.
    func isPlain(_ series: Int64) throws(StoreError) -> Bool { try traces(of: series).isEmpty }

    /// Returns the ingest that brought a live or deleted sample.
    func bringer(of number: Int64, in series: Int64) throws(StoreError) -> Int64 {
        try decoder.change(of: number, series: series).ingest
    }

    /// Returns the measurement that a key belongs to.
    func measurement(of place: SampleKey) throws(StoreError) -> Found {
        var (found, groups, firsts) = (Found(), Groups(), [SampleKey: SampleKey]())
        var records: [RecordKey: Int] = [:]
        var queue = [try root(of: place)]
        var bringers: [SampleKey: Int64] = [:]
        while let root = queue.popLast() {
            guard groups.insert(root) else { continue }
            bringers[root] = try bringer(at: root, &found)
            if let own = try witness(at: root), own.isSame {
                let first = try self.root(of: own.first)
                firsts[root] = first
                groups.join(root, first)
                queue.append(first)
                if bringers[root] == nil { bringers[root] = own.ingest }
            }
            if bringers[root] == nil { bringers[root] = arriving[root]?.ingest }
            for form in try forms(of: root, &found) {
                try readDecisions(at: form, &found)
                for other in try witnesses(of: form) {
                    groups.join(root, other)
                    queue.append(other)
                }
            }
            queue += try versions(of: root, &records, &found)
        }
        for root in groups.places {
            guard let entry = bringers[root] else { continue }
            let isActive = try states.isActive(entry)
            found.history.reports.append(
                .init(
                    place: root, group: groups.number(of: root), first: firsts[root], entry: entry, isActive: isActive,
                    changed: isActive ? entry : try states.changed(entry), isFounded: try isFounded(root)))
        }
        if found.history.reports.count > 1 {
            found.history.reports.sort {
                ($0.entry, $0.place.series, $0.place.start, $0.place.high, $0.place.low)
                    < ($1.entry, $1.place.series, $1.place.start, $1.place.high, $1.place.low)
            }
        }
        return found
    }

    /// Returns the sample as it was originally reported, before repairs.
    func root(of place: SampleKey) throws(StoreError) -> SampleKey {
        guard try traces(of: place.series).isRepaired else { return place }
        var place = place
        for _ in 0..<Replacements.longestChain {
            guard let origin = try Replacements(connection: connection).origin(of: place)?.place else { break }
            // The original may have been pruned or erased, which ends the search. A forgotten original is still the reading, although
            // nothing reports it.
            var isThere = try row(at: origin) != nil
            if !isThere { isThere = try witness(at: origin) != nil }
            if !isThere { isThere = try isForgotten(origin) }
            guard isThere else { break }
            place = origin
        }
        return place
    }

    // MARK: Tables

    private func traces(of series: Int64) throws(StoreError) -> Traces {
        if let known = traces[series] { return known }
        func has(_ rows: String) throws(StoreError) -> Bool {
            try connection.integer("SELECT 1 FROM \(rows) = ? LIMIT 1", .integer(series)) != nil
        }
        let found = Traces(
            isDecided: try has("decided WHERE series"), isRepaired: try has("repaired WHERE series"),
            wasRepaired: try has("repaired INDEXED BY repaired_by_old WHERE old_series"),
            hasWitnesses: try has("decision WHERE of_series"), isWitness: try has("witness_row WHERE series"),
            hasRecords: try has("record WHERE series"), isDerived: try has("derived WHERE series"))
        traces[series] = found
        return found
    }

    /// Returns the change number of the row and whether it is live.
    func row(at place: SampleKey) throws(StoreError) -> (number: Int64, isLive: Bool)? {
        let statement = try connection.statement(
            """
            SELECT seq, 1 FROM main.sample WHERE series = ?1 AND start = ?2 AND hash = ?3
            UNION ALL SELECT seq, 0 FROM main.deleted WHERE series = ?1 AND start = ?2 AND hash = ?3 AND NOT forgotten
            """)
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        guard try statement.step() else { return nil }
        return (statement.integer(0), statement.integer(1) != 0)
    }

    private func isForgotten(_ place: SampleKey) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM deleted WHERE series = ? AND start = ? AND hash = ?", .integer(place.series), .integer(place.start),
            .blob(place.hash)) != nil
    }

    private func note(_ place: SampleKey, _ found: inout Found) throws(StoreError) -> (number: Int64, isLive: Bool)? {
        if let known = found.rows[place] { return known }
        let row = try row(at: place)
        found.rows[place] = .some(row)
        found.places.append(place)
        return row
    }

    private func bringer(at root: SampleKey, _ found: inout Found) throws(StoreError) -> Int64? {
        guard let row = try note(root, &found) else { return nil }
        return try bringer(of: row.number, in: root.series)
    }

    /// Returns the samples that repairs made from a reading, beginning with the reading itself.
    private func forms(of root: SampleKey, _ found: inout Found) throws(StoreError) -> [SampleKey] {
        var forms = [root]
        var index = 0
        while index < forms.count {
            let old = forms[index]
            index += 1
            guard try traces(of: old.series).wasRepaired else { continue }
            for (new, isMerged, isActive) in try connection.repairs.successors(of: old) {
                found.history.repaired.append(.init(old: old, new: isMerged ? nil : new, isActive: isActive))
                guard !isMerged, !forms.contains(new) else { continue }
                forms.append(new)
            }
        }
        for form in forms.dropFirst() { _ = try note(form, &found) }
        return forms
    }

    private func readDecisions(at place: SampleKey, _ found: inout Found) throws(StoreError) {
        guard try traces(of: place.series).isDecided else { return }
        let statement = try connection.statement("SELECT ingest, what FROM decided WHERE series = ? AND start = ? AND hash = ?")
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        while try statement.step() {
            guard let kind = MeasurementHistory<SampleKey>.Decision.Kind(rawValue: statement.integer(1)) else { continue }
            let entry = statement.integer(0)
            found.history.decisions.append(.init(kind, place: place, entry: entry, isActive: try states.isActive(entry)))
        }
    }

    /// Returns the original that a reading was found to duplicate. `isSame` is false if the merge that found it is undone.
    private func witness(at place: SampleKey) throws(StoreError) -> (first: SampleKey, ingest: Int64, isSame: Bool)? {
        guard try traces(of: place.series).isWitness else { return nil }
        let statement = try connection.statement(
            """
            SELECT of_series, of_start, of_hash, ingest, merge FROM main.witness_row CROSS JOIN main.decision ON decision.id = decision
            WHERE series = ? AND start = ? AND hash = ?
            """)
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        guard try statement.step() else { return nil }
        let first = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
        let (ingest, merge) = (statement.integer(3), statement.optionalInteger(4))
        if let merge, try !states.isActive(merge) { return (first, ingest, false) }
        return (first, ingest, true)
    }

    /// Returns the sample that the reading was compared with, or the reading itself if it is not a duplicate.
    func first(of place: SampleKey) throws(StoreError) -> SampleKey {
        guard let own = try witness(at: place), own.isSame else { return place }
        return own.first
    }

    /// Returns the readings that were found to duplicate the sample.
    func witnesses(of place: SampleKey) throws(StoreError) -> [SampleKey] {
        guard try traces(of: place.series).hasWitnesses else { return [] }
        let statement = try connection.statement(
            WitnessRows.ofFirst("series, start, hash, merge", "TRUE", order: "series, start"))
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        var found: [SampleKey] = []
        while try statement.step() {
            if let merge = statement.optionalInteger(3), try !states.isActive(merge) { continue }
            try found.append(SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)))
        }
        return found
    }

    /// Whether the inputs of a computed sample are live. Pruned inputs count as valid.
    private func isFounded(_ place: SampleKey) throws(StoreError) -> Bool {
        guard try traces(of: place.series).isDerived else { return true }
        let isGone = try connection.integer(
            """
            SELECT min(isGone) FROM (SELECT max(
                    EXISTS(SELECT 1 FROM deleted AS x WHERE (x.series, x.start, x.hash) = (of_series, of_start, of_hash))
                    AND NOT EXISTS(SELECT 1 FROM sample AS x WHERE (x.series, x.start, x.hash) = (of_series, of_start, of_hash))) AS isGone
                FROM derived WHERE series = ? AND start = ? AND hash = ? GROUP BY basis)
            """, .integer(place.series), .integer(place.start), .blob(place.hash))
        return isGone != 1
    }

    private struct RecordKey: Hashable {
        var series: Int64
        var id: String
    }

    /// Records the versions of the reading's record, once for each record.
    ///
    /// - Returns: The keys of all versions.
    private func versions(
        of root: SampleKey, _ records: inout [RecordKey: Int], _ found: inout Found
    ) throws(StoreError) -> [SampleKey] {
        guard try traces(of: root.series).hasRecords else { return [] }
        let own = try connection.statement(
            "SELECT id FROM \(Records.byPlace(connection)) WHERE series = ? AND start = ? AND hash = ?")
        try own.bind([.integer(root.series), .integer(root.start), .blob(root.hash)])
        var ids: [String] = []
        while try own.step() { ids.append(own.text(0)) }
        own.reset()
        var places: [SampleKey] = []
        for id in ids where records[RecordKey(series: root.series, id: id)] == nil {
            let number = records.count
            let statement = try connection.statement(
                """
                SELECT record.series, start, hash, version, across FROM series AS own CROSS JOIN series AS other
                    ON other.type = own.type AND other.subject = own.subject AND other.source = own.source
                    CROSS JOIN record ON record.series = other.id AND record.id = ?2
                WHERE own.id = ?1 ORDER BY version
                """)
            defer { statement.reset() }
            try statement.bind([.integer(root.series), .text(id)])
            while try statement.step() {
                let place = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
                records[RecordKey(series: place.series, id: id)] = number
                found.history.versions.append(
                    .init(
                        place: place, record: number, number: statement.integer(3), scope: place.series,
                        replacesAll: statement.integer(4) != 0))
                places.append(place)
            }
        }
        return places
    }
}

/// Groups readings of the same measurement.
private struct Groups {
    private(set) var places: [SampleKey] = []
    private var known: Set<SampleKey> = []
    private var parents: [SampleKey: SampleKey] = [:]

    /// Adds a reading. Returns false if it is already known.
    mutating func insert(_ place: SampleKey) -> Bool {
        guard known.insert(place).inserted else { return false }
        places.append(place)
        return true
    }

    mutating func join(_ one: SampleKey, _ other: SampleKey) {
        let (one, other) = (top(of: one), top(of: other))
        if one != other { parents[one] = other }
    }

    func number(of place: SampleKey) -> Int { places.firstIndex(of: top(of: place)) ?? 0 }

    private func top(of place: SampleKey) -> SampleKey {
        var place = place
        while let next = parents[place] { place = next }
        return place
    }
}
