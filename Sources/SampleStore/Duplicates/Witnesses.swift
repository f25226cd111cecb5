import HealthModel

/// What becomes of witnesses when ingests are taken back. Used inside a transaction.
///
/// Nothing is lost: where the ingest that brought the first is undone, its earliest witness stands in for it, as a sample with its own
/// UUID, and the account of the ingest that brought it moves from duplicate to stored. Where the first comes back, the witness steps
/// back. What a person deletes stays deleted, whichever way it came: its witnesses stay witnesses.
struct Witnesses {
    let connection: Connection
    let deletion: Deletion
    private var table: SampleTable { SampleTable(connection: connection) }

    /// How far from its first a witness starts, in microseconds, that is found beside it: the slack of two clocks on an arrival, as
    /// most have that come over a second path with seconds.
    static let near: Int64 = 5_000_000
    /// SQL's condition for the others. The index of them has it in a step of the schema: another distance needs another step, or no
    /// statement that names the index can be prepared.
    static let isFar = "start - of_start NOT BETWEEN -\(near) AND \(near)"

    /// Has SQLite use the index of them: without statistics it takes the primary key's first column for the better choice.
    static let byFar = "INDEXED BY witness_far"

    /// The statement that selects witnesses of a sample, past a client's views, which have no index: whoever tells of one reads it before.
    /// The sample's series is `?1`, its start `?2`, its hash `?3`.
    static func ofFirst(_ columns: String, _ condition: String, order: String) -> String {
        """
        \([("", "start BETWEEN ?2 - \(near) AND ?2 + \(near)"), (byFar, isFar)].map {
            """
            SELECT \(columns) FROM series AS own CROSS JOIN series AS path ON path.type = own.type AND path.subject = own.subject
                CROSS JOIN main.witness_row \($0) ON series = path.id AND \($1) CROSS JOIN main.decision ON decision.id = witness_row.decision
            WHERE own.id = ?1 AND of_series = ?1 AND of_start = ?2 AND of_hash = ?3 AND \(condition)
            """
        }.joined(separator: " UNION ALL ")) ORDER BY \(order)
        """
    }

    /// Whether other readings are a sample's witnesses, or linked with it.
    static func isLeanedOn(_ place: SampleKey, _ connection: Connection) throws(StoreError) -> Bool {
        let here: [Value] = [.integer(place.series), .integer(place.start), .blob(place.hash)]
        let statement = try connection.statement(ofFirst("ingest", "withdrawn IS NULL", order: "ingest"))
        defer { statement.reset() }
        try statement.bind(here)
        if try statement.step() { return true }
        return try connection.integer(
            """
            SELECT 1 FROM link WHERE series = ?1 AND start = ?2 AND hash = ?3
            UNION ALL SELECT 1 FROM link WHERE of_series = ?1 AND of_start = ?2 AND of_hash = ?3
            """, here[0], here[1], here[2]) != nil
    }

    private struct Witness {
        var place: SampleKey
        var first: SampleKey
        var ingest: Int64
        var standsIn: Bool
        var decision: Int64
        /// The ingest that took it back.
        var withdrawn: Int64?
        var isWithdrawn: Bool { withdrawn != nil }
    }

    /// Takes back the witnesses that the first of a chain of undoings brought, or gives them back.
    func judge(by chain: UndoChain) throws(StoreError) {
        if chain.takesBack {
            try connection.run(
                "UPDATE decision SET withdrawn = ?2, stands_in = 0 WHERE ingest = ?1 AND withdrawn IS NULL",
                .integer(chain.root), .integer(deletion.ingest))
        } else {
            try connection.run(
                "UPDATE decision SET withdrawn = NULL WHERE ingest = ?1 AND withdrawn = ?2", .integer(chain.root),
                .integer(chain.undone))
        }
        if connection.changes > 0 { deletion.changesMore() }
    }

    /// Takes back that what stands here is a witness, or gives it back: by the merge that made it one, and its undoings in turn.
    func part(_ place: SampleKey, by chain: UndoChain) throws(StoreError) {
        guard let own = try witness(at: place), own.isWithdrawn != chain.takesBack else { return }
        try mark(own, standsIn: false, withdrawn: chain.takesBack ? chain.firstUndoing ?? deletion.ingest : nil)
    }

    /// Whether ``review(after:)`` alone decides, once the undoing of an undoing has said what holds: the place is a witness's, or that of what a
    /// repair made of one. One that was taken back is not given back by another undoing than its own.
    func isLeftToSettling(_ place: SampleKey, undoing chain: UndoChain) throws(StoreError) -> Bool {
        guard chain.isOfUndoing, try hasAny, let own = try witness(at: root(of: place)) else { return false }
        if own.isWithdrawn { return try !isLive(place) }
        return true
    }

    private var hasAny: Bool {
        get throws(StoreError) { try connection.integer("SELECT 1 FROM witness_row LIMIT 1") != nil }
    }

    private func root(of place: SampleKey) throws(StoreError) -> SampleKey {
        try Replacements(connection: connection).root(of: place)
    }

    /// Whether the measurement of a sample is told by another that is there: the first that it is a witness of, another witness of that, or what a
    /// repair made of one.
    func isToldByAnother(_ place: SampleKey) throws(StoreError) -> Bool {
        guard let own = try witness(at: place), try !isParted(own) else { return false }
        let replacements = Replacements(connection: connection)
        if try isLive(replacements.last(from: own.first)) { return true }
        for other in try witnesses(of: own.first) where other.place != place {
            if try isLive(replacements.last(from: other.place)) { return true }
        }
        return false
    }

    /// The sample that a witness tells the same as; nil where it is none.
    func first(of place: SampleKey) throws(StoreError) -> SampleKey? { try witness(at: place)?.first }

    /// Whether a measurement is there, whichever telling of it, or a person has deleted it: what tells it again does not stand in.
    func isHeld(_ first: SampleKey) throws(StoreError) -> Bool {
        if try isKept(first) { return true }
        let replacements = Replacements(connection: connection)
        for witness in try witnesses(of: first) {
            let form = try replacements.last(from: witness.place)
            if try isLive(form) { return true }
            if witness.standsIn, try isKept(form) { return true }
        }
        return false
    }

    /// All that tell the same as a sample, those that were taken back among them, the earliest first.
    private func witnesses(of first: SampleKey) throws(StoreError) -> [Witness] {
        var found: [Witness] = []
        for witness in try list(Self.ofFirst(Self.columns, "TRUE", order: "ingest, series, start"), at: first) {
            if try !isParted(witness) { found.append(witness) }
        }
        return found
    }

    /// Whether it is no witness any more since this moment, or somebody has said that it and its first are two: the merge that made one of them was
    /// taken back.
    private func isParted(_ witness: Witness) throws(StoreError) -> Bool {
        guard let withdrawn = witness.withdrawn else { return false }
        if withdrawn == deletion.ingest { return true }
        return try connection.integer(
            """
            SELECT 1 FROM ingest AS undoing JOIN ingest AS undone ON undone.id = undoing.undoes
            WHERE undoing.id = ? AND undone.kind = \(IngestKind.merge.literal)
            """, .integer(withdrawn)) != nil
    }

    /// Lets witnesses stand in for firsts that are gone, and step back where the first is there again.
    ///
    /// - Parameter places: samples that were deleted or restored, firsts or witnesses; what was withdrawn or given back is found as well.
    func review(after places: [SampleKey]) throws(StoreError) {
        var firsts: Set<SampleKey> = []
        guard try hasAny else { return }
        for place in places {
            let first = try witness(at: root(of: place))?.first ?? place
            firsts.insert(first)
        }
        if deletion.hasChangedMore {
            // Those given back a moment ago may be all that is left of their measurement.
            for witness in try orphans() { firsts.insert(witness.first) }
        }
        for first in firsts { try review(first) }
    }

    /// Lets the first of a measurement, or what stands in for it, be a sample.
    func review(_ first: SampleKey) throws(StoreError) {
        let all = try witnesses(of: first)
        guard !all.isEmpty else { return }
        if try isKept(first) {
            for witness in all { try stepBack(witness, from: first) }
            return
        }
        // One that a person deleted since stands for all: deleted stays deleted.
        for witness in all where witness.standsIn {
            let form = try Replacements(connection: connection).last(from: witness.place)
            if try isLive(form) { continue }
            if try isKept(form) { return }
        }
        var standing: SampleKey?
        for witness in all {
            if let standing {
                try stepBack(witness, from: standing)
            } else if try witness.isWithdrawn
                ? isLive(Replacements(connection: connection).last(from: witness.place)) : standIn(witness)
            {
                // One that was taken back is there only where a person restored it.
                standing = witness.place
            }
        }
    }

    /// One that was repaired meanwhile steps back as what it has become; what stands at `other` takes its place.
    private func stepBack(_ witness: Witness, from other: SampleKey) throws(StoreError) {
        let form = try Replacements(connection: connection).last(from: witness.place)
        guard form != other, try isLive(form) else { return }
        try deletion.delete(form, replacedBy: try uuid(of: other)?.description)
        try mark(witness, standsIn: false, withdrawn: witness.withdrawn)
    }

    /// Makes a witness a sample, as what repairs made of it; false where another version of its record is one.
    private func standIn(_ witness: Witness) throws(StoreError) -> Bool {
        let place = try Replacements(connection: connection).last(from: witness.place)
        if try isLive(place) {
            if !witness.standsIn { try mark(witness, standsIn: true, withdrawn: witness.withdrawn) }
            return true
        }
        if try table.contains(place, among: .tombstones) {
            guard try deletion.restore(place) else { return false }
        } else {
            guard try !Records.hasLiveVersion(connection, of: place),
                try table.add(
                    "SELECT \(SampleTable.columns) FROM witness WHERE series = ? AND start = ? AND hash = ?",
                    [.integer(place.series), .integer(place.start), .blob(place.hash)], broughtBy: witness.ingest,
                    cause: deletion.ingest)
            else { return false }
            try connection.run(
                "UPDATE ingest SET stored = stored + 1, duplicate = duplicate - 1, witnesses = witnesses - 1 WHERE id = ?",
                .integer(witness.ingest))
            deletion.changesMore()
        }
        try mark(witness, standsIn: true, withdrawn: witness.withdrawn)
        return true
    }

    /// Lets a witness go over to the decision that differs from its own in this alone.
    private func mark(_ witness: Witness, standsIn: Bool, withdrawn: Int64?) throws(StoreError) {
        let (own, standsIn) = (Value.integer(witness.decision), Value.integer(standsIn ? 1 : 0))
        let withdrawn = Value.optional(withdrawn)
        var decision = try connection.integer(
            """
            SELECT other.id FROM decision AS own JOIN decision AS other USING(ingest, of_series, rule)
            WHERE own.id = ? AND other.stands_in = ? AND other.withdrawn IS ?
            """, own, standsIn, withdrawn)
        if decision == nil {
            try connection.run(
                """
                INSERT INTO decision(ingest, of_series, rule, withdrawn, stands_in)
                SELECT ingest, of_series, rule, ?3, ?2 FROM decision WHERE id = ?1
                """, own, standsIn, withdrawn)
            decision = connection.lastInsertedRow
        }
        try connection.run(
            "UPDATE witness_row SET decision = ? WHERE series = ? AND start = ? AND hash = ?", .optional(decision),
            .integer(witness.place.series), .integer(witness.place.start), .blob(witness.place.hash))
    }

    /// Whether the measurement is told by this sample: it is live, a person deleted it, or another sample replaced it.
    func isKept(_ place: SampleKey) throws(StoreError) -> Bool {
        if try isLive(place) { return true }
        return try connection.integer(
            """
            SELECT 1 FROM deleted JOIN ingest ON ingest.id = deleted.ingest
            WHERE series = ? AND start = ? AND hash = ? AND NOT forgotten
                AND (kind <> \(IngestKind.undo.literal) OR replaced_by IS NOT NULL)
            """, .integer(place.series), .integer(place.start), .blob(place.hash)) != nil
    }

    func isLive(_ place: SampleKey) throws(StoreError) -> Bool { try table.contains(place) }

    /// Witnesses whose first is no sample.
    private func orphans() throws(StoreError) -> [Witness] {
        try list(
            """
            SELECT \(Self.columns) FROM witness WHERE withdrawn IS NULL AND NOT EXISTS(SELECT 1 FROM sample
                WHERE sample.series = of_series AND sample.start = of_start AND sample.hash = of_hash)
            ORDER BY ingest, series, start
            """, at: nil)
    }

    private func witness(at place: SampleKey) throws(StoreError) -> Witness? {
        try list("SELECT \(Self.columns) FROM witness WHERE series = ? AND start = ? AND hash = ?", at: place).first
    }

    private static let columns = "series, start, hash, of_series, of_start, of_hash, ingest, stands_in, decision, withdrawn"

    private func list(_ sql: String, at place: SampleKey?) throws(StoreError) -> [Witness] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        if let place { try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)]) }
        var found: [Witness] = []
        while try statement.step() {
            try found.append(
                Witness(
                    place: SampleKey(
                        series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)),
                    first: SampleKey(
                        series: statement.integer(3), start: statement.integer(4), hash: statement.blob(5)),
                    ingest: statement.integer(6), standsIn: statement.integer(7) != 0, decision: statement.integer(8),
                    withdrawn: statement.optionalInteger(9)))
        }
        return found
    }

    /// The UUID of what stands, or stood, at a place.
    func uuid(of place: SampleKey) throws(StoreError) -> SampleIdentity? {
        for table in ["sample", "deleted", "witness"] {
            let skew = try connection.integer(
                "SELECT skew FROM \(table) JOIN context ON context.id = context WHERE series = ? AND start = ? AND hash = ?",
                .integer(place.series), .integer(place.start), .blob(place.hash))
            guard let skew else { continue }
            return place.identity(skew: skew)
        }
        return nil
    }
}
