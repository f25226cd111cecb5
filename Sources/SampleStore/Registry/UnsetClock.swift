import HealthModel

/// A hub's own clock that nothing has confirmed since the machine was switched on, and what was stored by it: what has to be corrected
/// when it is set.
public struct UnsetClock: Hashable, Sendable {
    /// How far the store has come.
    public struct Mark: Hashable, Sendable {
        /// The number of the last change.
        public var change: Int64
        /// The number of the last reading in quarantine.
        public var held: Int64
    }

    /// The kernel's name of this run of the machine.
    public var boot: String
    /// When the machine was switched on, by that clock, microseconds since 1970: it tells by how much the clock was set.
    public var began: Int64
    /// What lies behind it was stored in this run of the machine.
    public var mark: Mark

    /// Puts it together.
    public init(boot: String, began: Int64, mark: Mark) {
        self.boot = boot
        self.began = began
        self.mark = mark
    }
}

extension SampleStore {
    private static let unsetClock = "unset clock"
    /// How far the time since the machine was switched on may be off: clocks are slewed, and kept to the second.
    private static let drift: Int64 = 60_000_000

    /// What was kept of a clock that nothing had confirmed.
    public func unsetClock() throws(StoreError) -> UnsetClock? {
        guard let text = try connection.text("SELECT value FROM setting WHERE name = ?", .text(Self.unsetClock)) else {
            return nil
        }
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 4, let began = Int64(words[1]), let change = Int64(words[2]), let held = Int64(words[3]) else {
            return nil
        }
        return UnsetClock(boot: words[0], began: began, mark: UnsetClock.Mark(change: change, held: held))
    }

    /// Keeps it, or with `nil` that the clock is right.
    public func save(_ clock: UnsetClock?) throws(StoreError) {
        guard let clock else {
            return try connection.run("DELETE FROM setting WHERE name = ?", .text(Self.unsetClock))
        }
        try connection.run(
            "INSERT OR REPLACE INTO setting VALUES(?, ?)", .text(Self.unsetClock),
            .text("\(clock.boot) \(clock.began) \(clock.mark.change) \(clock.mark.held)"))
    }

    /// How far the store has come now.
    public func mark() throws(StoreError) -> UnsetClock.Mark {
        UnsetClock.Mark(
            change: try lastChange(), held: try connection.integer("SELECT coalesce(max(id), 0) FROM quarantine") ?? 0)
    }

    /// Corrects what was stored by a clock that turned out to be wrong, in one transaction: samples that have their time from it are replaced by
    /// moved ones, and readings that were held because it was plainly unset are released at their time.
    ///
    /// - Parameters:
    ///   - step: by how many microseconds the clock was set forward.
    ///   - clock: what the clock was; what was stored behind its mark is corrected, and was received since the machine was switched on:
    ///     what somebody repaired or restored meanwhile has its right time.
    ///   - uptime: for how long the machine is on, in microseconds.
    ///   - next: what to keep of the clock from now on.
    /// - Returns: how many samples have another time, or are samples now.
    public func correct(
        _ step: Int64, of clock: UnsetClock, uptime: Int64, next: UnsetClock?, now: Instant, owner: String? = nil
    ) throws -> Int {
        defer { interner.forget() }
        return try connection.transaction {
            let end = try mark()
            var conditions = SampleConditions()
            conditions.conditionText = "time.origin = receipt or time.origin = device-corrected"
            conditions.condition = try SamplePredicate(conditions.conditionText ?? "")
            var request = MigrationRequest(.shift(step), of: conditions, takesAmbiguous: true, now: now)
            request.changes = clock.mark.change + 1...max(clock.mark.change + 1, end.change)
            request.received = clock.began &- Self.drift...clock.began &+ max(uptime, 0) &+ Self.drift
            request.movesReceipt = true
            // Each was received once: what stands at its right time is another reading.
            request.merging = .never
            // Before the others are released: each is moved once.
            let moved =
                clock.mark.change < end.change ? try migrate(request, source: "clock", owner: owner).plan : MigrationPlan()
            let held = try heldByOwnClock(clock.mark.held, end.held)
            try connection.run(
                """
                UPDATE quarantine SET received = coalesce(received, (SELECT ingest.received FROM ingest
                    WHERE ingest.id = quarantine.ingest) - start) + ?
                WHERE id > ? AND id <= ? AND rule = ? AND (SELECT time_origin FROM context WHERE context.id = context) <> ?
                """, .integer(step), .integer(clock.mark.held), .integer(end.held), .text(Self.clockUnknown),
                .integer(Int64(TimeOrigin.receipt.rawValue)))
            if !held.isEmpty {
                let description = IngestDescription(
                    kind: .release, name: "clock of the hub", received: now.microseconds, owner: owner)
                _ = try change(description) { _, deletion in
                    for id in held { try release(id, ahead: -step, isReceipt: true, deletion) }
                    return held.count
                }
            }
            try save(next)
            return moved.repaired + moved.merged + held.count
        }
    }

    /// What came while our own clock was plainly unset, and has no other time than that of its arrival.
    private func heldByOwnClock(_ first: Int64, _ last: Int64) throws(StoreError) -> [Int64] {
        let statement = try connection.statement(
            """
            SELECT quarantine.id FROM quarantine JOIN context ON context.id = context
            WHERE rule = ? AND state = 'held' AND quarantine.id > ? AND quarantine.id <= ? AND time_origin = ? ORDER BY quarantine.id
            """)
        defer { statement.reset() }
        try statement.bind([
            .text(Self.clockUnknown), .integer(first), .integer(last), .integer(Int64(TimeOrigin.receipt.rawValue)),
        ])
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.integer(0)) }
        return ids
    }
}
