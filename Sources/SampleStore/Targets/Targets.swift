import HealthModel

extension SampleStore.Targets {
    /// Returns all targets that ever received data, ordered by name.
    public func all() throws(StoreError) -> [Target] {
        try connection.list(
            """
            SELECT name, anchor, backlog, backlog_end, delivered, left_out, state, words, changed, filter, identity, count, shape,
                rewriting FROM target ORDER BY name
            """
        ) { row throws(StoreError) in try Self.target(row) }
    }

    /// Returns a target by name, or `nil` if it never received data.
    public func target(_ name: String) throws(StoreError) -> Target? {
        for target in try all() where target.name == name { return target }
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

    /// Stores the progress of a target. In the same transaction it stores the samples that the target rejected and removes the ones that it
    /// accepted after all.
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

    /// Removes a target. If it is added again, it receives everything.
    public func forget(target name: String) throws {
        try connection.transaction {
            try connection.run("DELETE FROM set_aside WHERE target = ?", .text(name))
            try connection.run("DELETE FROM target WHERE name = ?", .text(name))
        }
    }

    /// Returns the samples that a target rejected, ordered by change number.
    ///
    /// - Parameter retried: Whether to return only those that are to be sent again.
    public func setAside(by target: String, retried: Bool = false, limit: Int = .max) throws(StoreError) -> [SetAside] {
        try connection.list(
            "SELECT seq, uuid, words, time, retry FROM set_aside WHERE target = ? AND retry >= ? ORDER BY seq, uuid LIMIT ?",
            [.text(target), .integer(retried ? 1 : 0), .integer(Int64(limit))]
        ) { row throws(StoreError) in
            guard let uuid = SampleIdentity(row.text(1)) else {
                throw StoreError(.corrupt, "the readings that the target '\(target)' rejected cannot be read")
            }
            return SetAside(
                seq: row.integer(0), uuid: uuid, words: row.text(2), time: Instant(microseconds: row.integer(3)),
                isRetried: row.integer(4) != 0)
        }
    }

    /// Returns how many samples a target rejected, and its message for the last one.
    public func setAsideSummary(of target: String) throws(StoreError) -> (count: Int, words: String?) {
        try connection.first(
            """
            SELECT count(*), (SELECT words FROM set_aside WHERE target = ?1 ORDER BY time DESC, seq DESC LIMIT 1)
            FROM set_aside WHERE target = ?1
            """, [.text(target)]
        ) { (Int($0.integer(0)), $0.optionalText(1)) } ?? (0, nil)
    }

    /// Marks rejected samples to be sent again. An empty list means all of them.
    ///
    /// - Returns: The number of samples.
    public func retry(_ uuids: [SampleIdentity], of target: String) throws -> Int {
        try changeSetAside("UPDATE set_aside SET retry = 1 WHERE target = ?", uuids, target)
    }

    /// Drops rejected samples, so that the target never gets them. An empty list means all of them.
    ///
    /// - Returns: The number of samples.
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

    /// Returns the state of a new target. If the target does not need changes in order, it receives new changes while the existing ones are
    /// sent as a backlog.
    public func make(_ name: String, isOrdered: Bool, filter: String, at time: Instant) throws(StoreError) -> Target {
        let last = try store.changes.lastAnchor()
        guard !isOrdered, last != .beginning else { return Target(name: name, filter: filter, at: time) }
        return Target(
            name: name, after: last, backlog: .init(anchor: .beginning, end: try store.lastChange()), filter: filter, at: time)
    }

    /// Resets a target so that everything is sent again and its contents are rewritten.
    public func restart(target name: String, isOrdered: Bool, filter: String, at time: Instant) throws {
        try connection.transaction {
            try forget(target: name)
            var target = try make(name, isOrdered: isOrdered, filter: filter, at: time)
            target.isRewriting = true
            try save(target)
        }
    }

    /// Returns the machine and file that were confirmed as the one that feeds this store's targets, or `nil` if none was confirmed.
    public func confirmedHolder() throws(StoreError) -> String? {
        try connection.settings.text("holder")
    }

    /// Confirms the machine and file that feed this store's targets from now on, and resumes stopped targets.
    public func confirm(holder: String) throws {
        try connection.transaction {
            try connection.settings.set("holder", to: .text(holder))
            try connection.run("UPDATE target SET state = 'delivering', words = NULL WHERE state = 'stopped'")
        }
    }

    /// Gives a copy of a store its own identifier. The targets then receive everything again, as from another hub.
    ///
    /// - Returns: The new value of ``identifier`` for stores that are opened from now on.
    public func adoptIdentity() throws -> String {
        try connection.transaction {
            let name = UUIDText.random().filter { $0 != "-" }
            try connection.settings.set("store", to: .text(name))
            try connection.settings.remove("holder")
            try connection.run("DELETE FROM set_aside")
            try connection.run("DELETE FROM target")
            return name
        }
    }

    /// Returns the number of changes that were not sent to a target yet, including those that its filter excludes.
    public func changesWaiting(for target: Target) throws(StoreError) -> Int {
        let backlog = target.backlog.map { max(0, $0.end - $0.anchor.seq) } ?? 0
        return Int(max(0, try store.lastChange() - target.anchor.seq) + backlog)
    }
}

extension SampleStore.Changes {
    /// Whether an anchor belongs to this store's own history, even if changes were permanently removed since. Other anchors come from a
    /// copy, or from changes that were lost when the store was restored from a backup.
    public func hasMade(_ anchor: Anchor) throws(StoreError) -> Bool { try Epochs(connection).hasMade(anchor) }

    /// Returns the anchor of a reader that has read all changes.
    public func lastAnchor() throws(StoreError) -> Anchor {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let last = try store.lastChange()
        guard last > 0 else { return .beginning }
        var epochs = Epochs(connection)
        return try epochs.anchor(after: last)
    }

    /// Returns the current state of a sample, live or deleted, or `nil` if the store never had it.
    public func change(of uuid: SampleIdentity) throws -> SampleChange? {
        let cursor = try store.samples.cursor(matching: SampleQuery(.uuids([uuid])))
        defer { cursor.close() }
        if let stored = try cursor.next() { return .added(stored) }
        for key in try store.samples.keys(of: uuid, among: .tombstones) {
            guard let sample = try connection.samples.sample(at: key, among: .tombstones) else { continue }
            return .deleted(try deletion(of: sample, at: key))
        }
        return nil
    }

    /// Returns the current state of a sample. It usually has its old key, live or deleted. If not, every series is searched.
    func change(of uuid: SampleIdentity, at key: SampleKey) throws -> SampleChange? {
        if let stored = try live(uuid, at: key) { return .added(stored) }
        if let sample = try connection.samples.sample(at: key, among: .tombstones), sample.identity == uuid {
            return .deleted(try deletion(of: sample, at: key))
        }
        return try change(of: uuid)
    }

    private func live(_ uuid: SampleIdentity, at key: SampleKey) throws(StoreError) -> StoredSample? {
        let stored = try table.stored(at: key)
        return stored?.uuid == uuid ? stored : nil
    }

    private func deletion(of sample: Sample, at key: SampleKey) throws(StoreError) -> StoredDeletion {
        let tombstone = try table.tombstone(at: key, evenForgotten: true)
        return StoredDeletion(
            sample: sample, replacedBy: tombstone?.replacedBy, ingest: tombstone?.ingest ?? 0, seq: tombstone?.deletion ?? 0)
    }
}

extension Connection {
    /// Returns the samples that any target rejected.
    func setAsideSamples() throws(StoreError) -> [SampleIdentity] {
        try list("SELECT DISTINCT uuid FROM set_aside") { SampleIdentity($0.text(0)) }.compactMap { $0 }
    }

    /// Removes a rejected sample, with the targets' messages about it.
    func removeSetAside(_ uuid: SampleIdentity) throws(StoreError) {
        try run("DELETE FROM set_aside WHERE uuid = ?", .text(uuid.description))
    }

    /// Removes messages and filters of targets that contain one of the words. A target with a filter that named an erased person needs a
    /// review of its contents.
    func blankTargets(words: [String]) throws(StoreError) {
        for word in words {
            try run("UPDATE target SET words = NULL WHERE instr(words, ?) > 0", .text(word))
            try run("UPDATE target SET filter = '' WHERE instr(filter, ?) > 0", .text(word))
        }
    }
}
