import CSQLite
import HealthModel

/// What an erasure removes of a person.
public struct ErasureCounts: Hashable, Sendable {
    /// Samples that are there.
    public var samples = 0
    /// Tombstones of samples that were deleted.
    public var tombstones = 0
    /// Readings in quarantine, judged ones among them.
    public var held = 0
    /// Readings that other paths told as well.
    public var witnesses = 0
    /// Words on what is so of the person, such as a date of birth.
    public var characteristics = 0
    /// Medications with what is noted of them.
    public var medications = 0
    /// Devices that are theirs alone.
    public var devices = 0
    /// Grants of clients.
    public var grants = 0
    /// Sessions of the page.
    public var sessions = 0

    /// Whether there is nothing at all.
    public var isEmpty: Bool { self == ErasureCounts() }
}

extension SampleStore {
    private static let erasing = "erasing"
    private static let erasures = "erasures"
    /// Samples that are deleted in one transaction.
    private static let slice = 20_000

    /// What an erasure would remove.
    public func erasable(of subject: String) throws(StoreError) -> ErasureCounts {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        try Erasure(connection: connection, subject: subject, name: nil).checkTables()
        func count(_ table: String, _ column: String = "subject") throws(StoreError) -> Int {
            let condition = column == "subject" ? "subject = ?" : "\(column) IN (SELECT id FROM series WHERE subject = ?)"
            return Int(try connection.integer("SELECT count(*) FROM \(table) WHERE \(condition)", .text(subject)) ?? 0)
        }
        return ErasureCounts(
            samples: try count("sample", "series"), tombstones: try count("deleted", "series"),
            held: try count("quarantine", "series"), witnesses: try count("witness_row", "series"),
            characteristics: try count("characteristic"), medications: try count("medication"), devices: try count("device"),
            grants: try count("granted"), sessions: try count("page_session"))
    }

    /// Deletes all samples of a person in the ordinary way, so that targets and readers of the change log hear of it before everything is erased.
    ///
    /// - Parameter progress: called with how many are deleted so far.
    /// - Returns: how many.
    @discardableResult
    public func deleteAll(of subject: String, at now: Instant, progress: (Int) -> Void = { _ in }) throws -> Int {
        var sum = 0
        while true {
            let description = IngestDescription(kind: .delete, received: now.microseconds)
            let count = try change(description) { _, deletion in
                let statement = try Statement(
                    connection,
                    """
                    SELECT series, start, hash FROM sample WHERE series IN (SELECT id FROM series WHERE subject = ?) LIMIT \(Self.slice)
                    """)
                try statement.bind([.text(subject)])
                var places: [SampleKey] = []
                while try statement.step() {
                    try places.append(
                        SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)))
                }
                return try deletion.delete(places)
            }.count
            guard count > 0 else { return sum }
            sum += count
            progress(sum)
        }
    }

    /// Removes everything about a person for good: all rows, in one transaction, and then their octets (``finishErasure()``).
    ///
    /// Whoever could read something of it is told to begin again. The store's own person is somebody new afterwards, of whom nothing is known.
    ///
    /// - Parameters:
    ///   - targets: those that know of all that is deleted so far: they go on, and need not begin again.
    ///   - now: for the ledger, which says that somebody was erased, and not who.
    /// - Returns: the entry in the ledger, and how many samples and tombstones were removed.
    /// - Throws: ``StoreError``; nothing is removed then, or all rows are, and ``isErasureUnfinished`` says that their octets are not.
    public func erase(_ subject: String, told targets: Set<String> = [], at now: Instant) throws -> (ingest: Int64, count: Int) {
        guard subject != Origin.unassigned else {
            throw StoreError(.invalid, "what is \(Origin.unassigned) is no person's: 'vitalgate delete' deletes it")
        }
        let result = try eraseRows(of: subject, told: targets, at: now)
        try finishErasure()
        return result
    }

    /// The first half, in one transaction.
    func eraseRows(of subject: String, told targets: Set<String>, at now: Instant) throws -> (ingest: Int64, count: Int) {
        defer { interner.forget() }
        try resumePending()
        let name = try persons().first { $0.subject == subject }?.name
        return try connection.transaction {
            try refuseIfPending()
            for target in try self.targets() where targets.contains(target.name) {
                guard try isTold(target) else {
                    throw StoreError(.invalid, "the target \(target.name) has not been told yet of all that is deleted")
                }
            }
            try forgetDeviceStates()
            // Before anything goes, so that no number of an entry comes again.
            let ingest = try beginIngest(IngestDescription(kind: .erase, received: now.microseconds))
            let count = try Erasure(connection: connection, subject: subject, name: name).run()
            if subject == self.subject {
                try connection.run("UPDATE setting SET value = ? WHERE name = 'subject'", .text(UUIDText.random()))
            }
            for target in try self.targets() where targets.contains(target.name) {
                var target = target
                target.anchor = try latestAnchor()
                target.backlog = nil
                try save(target)
            }
            for (setting, value) in [(Self.erasing, "1"), (Self.erasures, "value + 1")] {
                try connection.run(
                    "INSERT INTO setting VALUES(?, 1) ON CONFLICT(name) DO UPDATE SET value = \(value)", .text(setting))
            }
            try connection.run(
                "UPDATE ingest SET finished = received, state = 'done' WHERE id = ?", .integer(ingest.id))
            return (ingest.id, count)
        }
    }

    private struct Found: Error {}

    /// Whether a target has everything there is to tell.
    private func isTold(_ target: Target) throws -> Bool {
        if let backlog = target.backlog, backlog.anchor.seq < backlog.end { return false }
        guard try knows(target.anchor) else { return false }
        do {
            try changes(after: target.anchor.seq, types: nil) { _ in throw Found() }
            return true
        } catch is Found {
            return false
        }
    }

    /// Whether an erasure removed its rows, and was ended before the octets that they stood in were.
    public var isErasureUnfinished: Bool {
        get throws(StoreError) {
            try connection.integer("SELECT 1 FROM setting WHERE name = ?", .text(Self.erasing)) != nil
        }
    }

    /// Writes the whole file anew, without what was removed, and empties the write-ahead log. It needs as much room as the store has.
    ///
    /// - Throws: ``StoreError`` of the kind `busy` where another process reads the store as it was; to call it again goes on.
    public func finishErasure() throws(StoreError) {
        try connection.execute("PRAGMA secure_delete = ON")
        defer { _ = try? connection.execute("PRAGMA secure_delete = OFF") }
        try connection.execute("DROP TABLE IF EXISTS temp.gone; DROP TABLE IF EXISTS temp.pruned; VACUUM")
        try emptyLog()
        try connection.run("DELETE FROM setting WHERE name = ?", .text(Self.erasing))
        try emptyLog()
    }

    private func emptyLog() throws(StoreError) {
        let statement = try Statement(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
        guard try statement.step(), statement.integer(0) == 0 else {
            throw StoreError(
                .busy,
                "another process reads the store as it was, so what was erased is still in its log: stop that one, and do this again"
            )
        }
    }

    /// What other processes remember of rows that are shared holds no more once somebody was erased. Asked with each change.
    func forgetErased() throws(StoreError) {
        let count = try connection.integer("SELECT value FROM setting WHERE name = ?", .text(Self.erasures)) ?? 0
        guard count != erasuresKnown else { return }
        erasuresKnown = count
        interner.forget()
    }
}
