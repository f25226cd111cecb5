import HealthModel

extension SampleStore {
    /// All targets that were ever delivered to, by name.
    public func targets() throws(StoreError) -> [Target] {
        let statement = try connection.statement(
            """
            SELECT name, anchor, backlog, backlog_end, delivered, left_out, state, words, changed, filter, identity, count, shape,
                rewriting FROM target ORDER BY name
            """)
        defer { statement.reset() }
        var targets: [Target] = []
        while try statement.step() { targets.append(try Self.target(statement)) }
        return targets
    }

    /// A target by its name; `nil` where nothing was ever delivered to it.
    public func target(_ name: String) throws(StoreError) -> Target? {
        for target in try targets() where target.name == name { return target }
        return nil
    }

    private static func target(_ row: Statement) throws(StoreError) -> Target {
        let name = row.text(0)
        guard let anchor = Anchor(row.text(1)), let state = Target.State(rawValue: row.text(6)) else {
            throw StoreError(.corrupt, "the cursor of the target '\(name)' cannot be read")
        }
        var target = Target(name: name, after: anchor, filter: row.text(9), at: Instant(microseconds: row.integer(8)))
        if let text = row.optionalText(2) {
            guard let anchor = Anchor(text) else {
                throw StoreError(.corrupt, "the cursor of the target '\(name)' cannot be read")
            }
            target.backlog = Target.Backlog(anchor: anchor, end: row.integer(3))
        }
        (target.delivered, target.leftOut) = (Int(row.integer(4)), Int(row.integer(5)))
        (target.state, target.words) = (state, row.optionalText(7))
        (target.identity, target.count) = (row.optionalText(10), row.integer(11))
        (target.shape, target.isRewriting) = (row.optionalText(12), row.integer(13) != 0)
        return target
    }

    /// Keeps how far a target has come, in one transaction with what it did not take on the way, and with what it took after all.
    public func save(_ target: Target, setAside: [SetAside] = [], taken: [SampleIdentity] = []) throws {
        try connection.transaction {
            try connection.run(
                "INSERT OR REPLACE INTO target VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", .text(target.name),
                .text("\(target.anchor)"),
                .optional(target.backlog.map { "\($0.anchor)" }), .optional(target.backlog?.end),
                .integer(Int64(target.delivered)),
                .integer(Int64(target.leftOut)), .text(target.state.rawValue), .optional(target.words),
                .integer(target.changed.microseconds), .text(target.filter), .optional(target.identity),
                .integer(target.count), .optional(target.shape), .integer(target.isRewriting ? 1 : 0))
            for each in setAside {
                try connection.run(
                    "INSERT OR REPLACE INTO set_aside VALUES(?, ?, ?, ?, ?, 0)", .text(target.name), .text(each.uuid.description),
                    .integer(each.seq), .text(each.words), .integer(each.time.microseconds))
            }
            for uuid in taken {
                try connection.run(
                    "DELETE FROM set_aside WHERE target = ? AND uuid = ?", .text(target.name), .text(uuid.description))
            }
        }
    }

    /// Forgets a target: told again, it is told everything.
    public func forget(target name: String) throws {
        try connection.transaction {
            try connection.run("DELETE FROM set_aside WHERE target = ?", .text(name))
            try connection.run("DELETE FROM target WHERE name = ?", .text(name))
        }
    }

    /// What a target did not take, in the order of numbers.
    ///
    /// - Parameter retried: only what is to be told again.
    public func setAside(by target: String, retried: Bool = false, limit: Int = .max) throws(StoreError) -> [SetAside] {
        let statement = try connection.statement(
            "SELECT seq, uuid, words, time, retry FROM set_aside WHERE target = ? AND retry >= ? ORDER BY seq, uuid LIMIT ?")
        defer { statement.reset() }
        try statement.bind([.text(target), .integer(retried ? 1 : 0), .integer(Int64(limit))])
        var found: [SetAside] = []
        while try statement.step() {
            guard let uuid = SampleIdentity(statement.text(1)) else {
                throw StoreError(.corrupt, "what the target '\(target)' did not take cannot be read")
            }
            found.append(
                SetAside(
                    seq: statement.integer(0), uuid: uuid, words: statement.text(2),
                    time: Instant(microseconds: statement.integer(3)), isRetried: statement.integer(4) != 0))
        }
        return found
    }

    /// How many changes a target did not take, and its words for the last of them.
    public func setAsideSummary(of target: String) throws(StoreError) -> (count: Int, words: String?) {
        let statement = try connection.statement(
            """
            SELECT count(*), (SELECT words FROM set_aside WHERE target = ?1 ORDER BY time DESC, seq DESC LIMIT 1)
            FROM set_aside WHERE target = ?1
            """)
        defer { statement.reset() }
        try statement.bind([.text(target)])
        guard try statement.step() else { return (0, nil) }
        return (Int(statement.integer(0)), statement.optionalText(1))
    }

    /// Has what was set aside told again; all of it where no UUID is given.
    ///
    /// - Returns: how many there are.
    public func retry(_ uuids: [SampleIdentity], of target: String) throws -> Int {
        try changeSetAside("UPDATE set_aside SET retry = 1 WHERE target = ?", uuids, target)
    }

    /// Gives up what was set aside: the target does without; all of it where no UUID is given.
    ///
    /// - Returns: how many there were.
    public func skip(_ uuids: [SampleIdentity], of target: String) throws -> Int {
        try changeSetAside("DELETE FROM set_aside WHERE target = ?", uuids, target)
    }

    private func changeSetAside(_ statement: String, _ uuids: [SampleIdentity], _ target: String) throws -> Int {
        try connection.transaction {
            guard !uuids.isEmpty else {
                try connection.run(statement, .text(target))
                return connection.changes
            }
            var count = 0
            for uuid in uuids {
                try connection.run(statement + " AND uuid = ?", .text(target), .text(uuid.description))
                guard connection.changes > 0 else { throw StoreError(.invalid, "\(target) has not set \(uuid) aside") }
                count += connection.changes
            }
            return count
        }
    }

    /// A target that nothing was ever delivered to: what is new comes beside what there is, where its order does not count.
    public func newTarget(_ name: String, isOrdered: Bool, filter: String, at time: Instant) throws(StoreError) -> Target {
        let last = try lastAnchor()
        guard !isOrdered, last != .beginning else { return Target(name: name, filter: filter, at: time) }
        return Target(
            name: name, after: last, backlog: .init(anchor: .beginning, end: try lastChange()), filter: filter, at: time)
    }

    /// Has a target told everything again, and what is there written anew.
    public func restart(target name: String, isOrdered: Bool, filter: String, at time: Instant) throws {
        try connection.transaction {
            try forget(target: name)
            var target = try newTarget(name, isOrdered: isOrdered, filter: filter, at: time)
            target.isRewriting = true
            try save(target)
        }
    }

    /// Whether an anchor is of this store's own history, however much of it was removed for good since: another one is of a copy, or of changes that
    /// are gone since the store was put back from a copy.
    public func hasMade(_ anchor: Anchor) throws(StoreError) -> Bool {
        guard anchor != .beginning else { return true }
        guard let first = try connection.integer("SELECT first_seq FROM epoch WHERE token = ?", .text(anchor.token)) else {
            return false
        }
        let last = try connection.integer(
            """
            SELECT coalesce((SELECT min(first_seq) - 1 FROM epoch WHERE first_seq > ?1),
                (SELECT value FROM setting WHERE name = 'seq'))
            """, .integer(first))
        return last.map { first...max(first, $0) ~= anchor.seq } ?? false
    }

    /// The holder who was said to be the one that feeds this store's targets from now on; `nil` where nobody said so.
    public func confirmedHolder() throws(StoreError) -> String? {
        try connection.text("SELECT value FROM setting WHERE name = 'holder'")
    }

    /// Says which machine and file feed this store's targets from now on, whoever did before.
    public func confirm(holder: String) throws {
        try connection.transaction {
            try connection.run(
                "INSERT INTO setting VALUES('holder', ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value", .text(holder))
            try connection.run("UPDATE target SET state = 'delivering', words = NULL WHERE state = 'stopped'")
        }
    }

    /// Gives a copy of a store a name of its own: targets are told everything anew, as by another hub.
    ///
    /// - Returns: the new name; ``identifier`` of a store that is opened from now on.
    public func adoptIdentity() throws -> String {
        try connection.transaction {
            let name = UUIDText.random().filter { $0 != "-" }
            try connection.run("UPDATE setting SET value = ? WHERE name = 'store'", .text(name))
            try connection.run("DELETE FROM setting WHERE name = 'holder'")
            try connection.run("DELETE FROM set_aside")
            try connection.run("DELETE FROM target")
            return name
        }
    }

    /// The anchor of a reader who has seen everything.
    public func lastAnchor() throws(StoreError) -> Anchor {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let last = try lastChange()
        guard last > 0 else { return .beginning }
        var epochs = Epochs(connection)
        return try epochs.anchor(behind: last)
    }

    /// How many changes a target has not been told yet, those that its filter leaves out among them.
    public func changesWaiting(for target: Target) throws(StoreError) -> Int {
        let backlog = target.backlog.map { max(0, $0.end - $0.anchor.seq) } ?? 0
        return Int(max(0, try lastChange() - target.anchor.seq) + backlog)
    }

    /// How a sample is now, for whoever has to be told again: there, or deleted; `nil` where the store has never had it.
    public func change(of uuid: SampleIdentity) throws -> SampleChange? {
        let cursor = try samples(matching: SampleQuery(.uuids([uuid])))
        defer { cursor.close() }
        if let stored = try cursor.next() { return .added(stored) }
        for place in try places(of: uuid, in: SampleTable.Rows.tombstones.rawValue) {
            guard let sample = try SampleTable(connection: connection).sample(at: place, among: .tombstones) else { continue }
            return .deleted(try deletion(of: sample, at: place))
        }
        return nil
    }

    /// How a sample is now. It is mostly still at its place, live or deleted. Otherwise every series is searched.
    func change(of uuid: SampleIdentity, at place: SampleKey) throws -> SampleChange? {
        if let stored = try live(uuid, at: place) { return .added(stored) }
        if let sample = try SampleTable(connection: connection).sample(at: place, among: .tombstones), sample.identity == uuid {
            return .deleted(try deletion(of: sample, at: place))
        }
        return try change(of: uuid)
    }

    private func live(_ uuid: SampleIdentity, at place: SampleKey) throws(StoreError) -> StoredSample? {
        let statement = try connection.statement(
            "SELECT \(SampleDecoder.columns) FROM sample WHERE series = ? AND start = ? AND hash = ?")
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        guard try statement.step() else { return nil }
        let stored = try SampleDecoder(connection: connection).decode(statement, series: place.series)
        return stored.uuid == uuid ? stored : nil
    }

    private func deletion(of sample: Sample, at place: SampleKey) throws(StoreError) -> StoredDeletion {
        let statement = try connection.statement(
            "SELECT replaced_by, ingest, deleted_seq FROM deleted WHERE series = ? AND start = ? AND hash = ?")
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        _ = try statement.step()
        return StoredDeletion(
            sample: sample, replacedBy: statement.optionalText(0), ingest: statement.integer(1), seq: statement.integer(2))
    }
}
