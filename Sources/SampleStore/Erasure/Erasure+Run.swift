import HealthModel

/// The amount of data that an erasure removes.
public struct ErasureCounts: Hashable, Sendable {
    /// The number of live samples.
    public var samples = 0
    /// The number of tombstones of deleted samples.
    public var tombstones = 0
    /// The number of readings in quarantine, including judged ones.
    public var quarantined = 0
    /// The number of duplicates from other paths.
    public var duplicates = 0
    /// The number of recorded characteristics, such as a date of birth.
    public var characteristics = 0
    /// The number of medications, with their notes.
    public var medications = 0
    /// The number of devices assigned to the person.
    public var devices = 0
    /// The number of grants to clients.
    public var grants = 0
    /// The number of page sessions.
    public var sessions = 0

    /// The number of notes on days.
    public var annotations = 0
    /// The number of goals.
    public var goals = 0
    /// The number of alerts.
    public var alerts = 0

    /// Whether there is no data at all.
    public var isEmpty: Bool { self == ErasureCounts() }
}

extension SampleStore.Erasure {
    private static let erasing = "erasing"
    private static let erasures = "erasures"
    /// The number of samples that are deleted in one transaction.
    private static let slice = 20_000

    /// Returns the counts that an erasure would remove.
    public func counts(of person: String) throws(StoreError) -> ErasureCounts {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        try Erasure(connection: connection, person: person, name: nil).checkTables()
        func count(_ table: String, _ column: String = "subject") throws(StoreError) -> Int {
            let condition = column == "subject" ? "subject = ?" : "\(column) IN \(SeriesTable.ids(ofPerson: "?"))"
            return Int(try connection.integer("SELECT count(*) FROM \(table) WHERE \(condition)", .text(person)) ?? 0)
        }
        return ErasureCounts(
            samples: try count("sample", "series"), tombstones: try count("deleted", "series"),
            quarantined: try count("quarantine", "series"), duplicates: try count("witness_row", "series"),
            characteristics: try count("characteristic"), medications: try count("medication"), devices: try count("device"),
            grants: try count("granted"), sessions: try count("page_session"),
            annotations: try count("annotation"), goals: try count("goal"), alerts: try count("alert"))
    }

    /// Deletes all samples of a person in the ordinary way, so that targets and readers of the change log receive the
    /// deletions before the erasure.
    ///
    /// - Parameter progress: Called with the number of samples deleted so far.
    /// - Returns: The number of deleted samples.
    @discardableResult
    public func deleteAll(of person: String, at now: Instant, progress: (Int) -> Void = { _ in }) throws -> Int {
        var sum = 0
        while true {
            let description = IngestDescription(kind: .delete, received: now.microseconds)
            let count = try store.samples.change(description) { _, deletion in
                try deletion.delete(try table.keys(ofPerson: person, limit: Self.slice))
            }.count
            guard count > 0 else { return sum }
            sum += count
            progress(sum)
        }
    }

    /// Permanently removes everything about a person: first all rows in one transaction, then their bytes in the file
    /// (``finishErasure()``).
    ///
    /// Readers that could read any of the data must start again. If the person is the store's default person, the store
    /// gets a new, unknown one.
    ///
    /// - Parameters:
    ///   - targets: The names of targets that have received all deletions. They continue and need not start again.
    ///   - now: The time of the ledger entry, which does not identify the erased person.
    /// - Returns: The ledger entry, and the number of samples and tombstones that were removed.
    /// - Throws: ``StoreError``. Then either nothing is removed, or all rows are removed but not their bytes, and
    ///   ``isErasureUnfinished`` is true.
    public func erase(_ person: String, notified targets: Set<String> = [], at now: Instant) throws -> (ingest: Int64, count: Int)
    {
        guard person != Origin.unassigned else {
            throw StoreError(.invalid, "\(Origin.unassigned) readings belong to no one: use 'vitalgate delete' to delete them")
        }
        let result = try eraseRows(of: person, notified: targets, at: now)
        try finish()
        return result
    }

    /// Removes the rows in one transaction, as the first half of an erasure.
    func eraseRows(of person: String, notified targets: Set<String>, at now: Instant) throws -> (ingest: Int64, count: Int) {
        defer { store.interner.forget() }
        try store.resumePending()
        let name = try store.people.all().first { $0.id == person }?.name
        return try connection.transaction {
            try store.refuseIfPending()
            for target in try self.store.targets.all() where targets.contains(target.name) {
                guard try isNotified(target) else {
                    throw StoreError(.invalid, "the target \(target.name) has not received all deletions yet")
                }
            }
            try store.devices.forgetDeviceStates()
            // Begin the entry before anything is removed, so that no number of an entry is reused.
            let ingest = try store.beginIngest(IngestDescription(kind: .erase, received: now.microseconds))
            let count = try Erasure(connection: connection, person: person, name: name).run(by: ingest.id)
            if person == self.store.owner {
                try connection.settings.set("subject", to: .text(UUIDText.random()))
            }
            for target in try self.store.targets.all() where targets.contains(target.name) {
                var target = target
                target.anchor = try store.changes.latestAnchor()
                target.backlog = nil
                try store.targets.save(target)
            }
            try connection.settings.set(Self.erasing, to: .integer(1))
            try connection.settings.add(1, to: Self.erasures)
            try connection.ledger.finish(ingest.id, at: now.microseconds)
            return (ingest.id, count)
        }
    }

    private struct Found: Error {}

    /// Whether a target has received all changes.
    private func isNotified(_ target: Target) throws -> Bool {
        if let backlog = target.backlog, backlog.anchor.seq < backlog.end { return false }
        guard try store.changes.knows(target.anchor) else { return false }
        do {
            try store.changes.read(after: target.anchor.seq, types: nil) { _ in throw Found() }
            return true
        } catch is Found {
            return false
        }
    }

    /// Whether an erasure removed its rows but was interrupted before it removed their bytes from the file.
    public var isUnfinished: Bool {
        get throws(StoreError) {
            try connection.settings.integer(Self.erasing) != nil
        }
    }

    /// Rewrites the whole file without the removed data and empties the write-ahead log. It needs as much free disk
    /// space as the store takes.
    ///
    /// - Throws: ``StoreError`` of the kind `busy` if another process still reads an older snapshot. Call it again to
    ///   continue.
    public func finish() throws(StoreError) {
        try connection.execute("PRAGMA secure_delete = ON")
        defer { _ = try? connection.execute("PRAGMA secure_delete = OFF") }
        try connection.execute("DROP TABLE IF EXISTS temp.gone; DROP TABLE IF EXISTS temp.pruned; VACUUM")
        try emptyLog()
        try connection.settings.remove(Self.erasing)
        try emptyLog()
    }

    private func emptyLog() throws(StoreError) {
        let statement = try Statement(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
        guard try statement.step(), statement.integer(0) == 0 else {
            throw StoreError(
                .busy,
                "another process is reading the store, so its log still contains erased data: stop that process and run this command again"
            )
        }
    }

    /// Drops cached ids of shared rows if another process has erased a person. Called with each change.
    func forgetErased() throws(StoreError) {
        let count = try connection.settings.integer(Self.erasures) ?? 0
        guard count != store.erasuresKnown else { return }
        store.erasuresKnown = count
        store.interner.forget()
    }
}
