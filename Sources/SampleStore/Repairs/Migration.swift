import HealthModel

/// A repair that was applied to the store.
public struct Migration: Sendable {
    /// The number of the repair.
    public var id: Int64
    /// The repair's entry in the ledger.
    public var ingest: Int64
    /// The canonical text of the repair.
    public var repair: String
    /// The conditions, as a JSON object of texts.
    public var conditions: String
    /// The component that requested the repair, such as `profile NAME`, or `nil` if a person did.
    public var source: String?
    /// When the repair was applied, in microseconds since 1970.
    public var applied: Int64
    /// `applied` or `undone`.
    public var state: String
    public var undone: Int64?
    /// The ledger entry of the undo.
    public var undoneBy: Int64?
    /// The number of samples that matched the conditions.
    public var matched: Int
    public var repaired: Int
    public var merged: Int
    public var alreadyRight: Int
    public var ambiguous: Int
    public var impossible: Int
}

/// A repaired sample and the sample that replaced it.
public struct RepairedPair: Sendable {
    public var old: SampleIdentity
    public var new: SampleIdentity
    /// Whether the new sample already existed because the same reading had been read correctly.
    public var isMerged: Bool
}

extension SampleStore {
    /// Returns all repairs, oldest first.
    public func migrations() throws(StoreError) -> [Migration] { try migrations("ORDER BY id", []) }

    /// Returns a repair, or `nil` if the number does not exist.
    public func migration(_ id: Int64) throws(StoreError) -> Migration? {
        try migrations("WHERE id = ?", [.integer(id)]).first
    }

    /// Returns the repair of a ledger entry.
    func migration(ingest: Int64) throws(StoreError) -> Migration? {
        try migrations("WHERE ingest = ?", [.integer(ingest)]).first
    }

    private func migrations(_ clause: String, _ bindings: [Value]) throws(StoreError) -> [Migration] {
        let statement = try connection.statement(
            """
            SELECT id, ingest, repair, conditions, source, applied, state, undone, undone_by, matched, repaired, merged, already_right,
                ambiguous, impossible FROM migration \(clause)
            """)
        defer { statement.reset() }
        try statement.bind(bindings)
        var migrations: [Migration] = []
        while try statement.step() {
            migrations.append(
                Migration(
                    id: statement.integer(0), ingest: statement.integer(1), repair: statement.text(2),
                    conditions: statement.text(3), source: statement.optionalText(4), applied: statement.integer(5),
                    state: statement.text(6), undone: statement.optionalInteger(7), undoneBy: statement.optionalInteger(8),
                    matched: Int(statement.integer(9)), repaired: Int(statement.integer(10)), merged: Int(statement.integer(11)),
                    alreadyRight: Int(statement.integer(12)), ambiguous: Int(statement.integer(13)),
                    impossible: Int(statement.integer(14))))
        }
        return migrations
    }

    /// Calls `body` with each pair of samples of a repair.
    public func forEachPair(of migration: Int64, _ body: (RepairedPair) throws -> Void) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let skews = try connection.statement("SELECT skew FROM context WHERE id = ?")
        defer { skews.reset() }
        let statement = try Statement(
            connection,
            """
            SELECT r.start, r.hash, r.old_start, r.old_hash, r.merged,
                coalesce((SELECT context FROM sample AS s WHERE (s.series, s.start, s.hash) = (r.series, r.start, r.hash)),
                    (SELECT context FROM deleted AS d WHERE (d.series, d.start, d.hash) = (r.series, r.start, r.hash))),
                coalesce((SELECT context FROM deleted AS d WHERE (d.series, d.start, d.hash) = (r.old_series, r.old_start, r.old_hash)),
                    (SELECT context FROM sample AS s WHERE (s.series, s.start, s.hash) = (r.old_series, r.old_start, r.old_hash)))
            FROM repaired AS r WHERE migration = ? ORDER BY series, start, hash
            """)
        try statement.bind([.integer(migration)])
        func uuid(_ start: Int32, _ context: Int32) throws(StoreError) -> SampleIdentity {
            skews.reset()
            try skews.bind([.integer(statement.integer(context))])
            let skew = try skews.step() ? skews.integer(0) : 0
            let hash = try HashBytes.read(statement.blob(start + 1))
            return SampleIdentity(nominalStart: statement.integer(start) &+ skew, high: hash.high, low: hash.low)
        }
        while try statement.step() {
            try body(RepairedPair(old: try uuid(2, 6), new: try uuid(0, 5), isMerged: statement.integer(4) != 0))
        }
    }

    /// Returns the repair that made a sample, or `nil` if none did.
    public func repair(thatMade uuid: SampleIdentity) throws(StoreError) -> Migration? {
        for place in try Replacements.places(of: uuid, connection) {
            if let origin = try Replacements(connection: connection).origin(of: place) { return try migration(origin.migration) }
        }
        return nil
    }
}
