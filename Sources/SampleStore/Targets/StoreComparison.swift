import HealthModel

/// What differs between a store and a target that was compared with it.
public struct TargetDifferences: Hashable, Sendable {
    /// Samples that both have.
    public var equal = 0
    /// Samples that the target lacks.
    public var missing = 0
    /// Samples that the target has, and that are deleted here or do not pass the filter.
    public var surplus = 0
    /// Samples that the target has and this store never had, such as another hub's: they are left alone.
    public var foreign = 0

    /// Counts; nothing differs where none is said.
    public init(equal: Int = 0, missing: Int = 0, surplus: Int = 0, foreign: Int = 0) {
        (self.equal, self.missing, self.surplus, self.foreign) = (equal, missing, surplus, foreign)
    }
}

/// Compares the samples of a store with what a target has, by UUID. What is noted on the way is in a file of SQLite's own that is gone with this
/// object, so that memory stays small.
///
///     let comparison = try StoreComparison(store)
///     let differences = try comparison.compare(contents: target.contents) { _ in true }
///     while case let changes = try comparison.next(limit: 1000), !changes.isEmpty { … }
public final class StoreComparison {
    private let store: SampleStore
    private let notes: Connection

    /// - Throws: ``StoreError`` where there is no room for notes.
    public init(_ store: SampleStore) throws(StoreError) {
        self.store = store
        notes = try Connection(path: "", writable: true)
        try notes.execute(
            """
            CREATE TABLE held(uuid TEXT PRIMARY KEY) WITHOUT ROWID;
            CREATE TABLE differing(uuid TEXT PRIMARY KEY, missing INTEGER NOT NULL) WITHOUT ROWID;
            BEGIN
            """)
    }

    /// Compares the samples that pass with what the target has.
    ///
    /// - Parameters:
    ///   - contents: hands over the target's UUIDs, in portions.
    ///   - passes: whether a sample is to be there.
    public func compare(
        contents: (([SampleIdentity]) throws -> Void) throws -> Void, passes: (Sample) -> Bool
    ) throws -> TargetDifferences {
        try contents { uuids in
            for uuid in uuids { try notes.run("INSERT OR IGNORE INTO held VALUES(?)", .text(uuid.description)) }
        }
        var differences = TargetDifferences()
        let cursor = try store.samples(matching: SampleQuery())
        defer { cursor.close() }
        while let stored = try cursor.next() {
            let passes = passes(stored.sample)
            try notes.run("DELETE FROM held WHERE uuid = ?", .text(stored.uuid.description))
            switch (passes, notes.changes > 0) {
            case (true, true): differences.equal += 1
            case (true, false):
                differences.missing += 1
                try note(stored.uuid, isMissing: true)
            case (false, true):
                differences.surplus += 1
                try note(stored.uuid, isMissing: false)
            case (false, false): break
            }
        }
        // What the target has and is not there now was deleted, or never there.
        let rest = try Statement(notes, "SELECT uuid FROM held")
        while try rest.step() {
            guard let uuid = SampleIdentity(rest.text(0)), try store.change(of: uuid) != nil else {
                differences.foreign += 1
                continue
            }
            differences.surplus += 1
            try note(uuid, isMissing: false)
        }
        return differences
    }

    private func note(_ uuid: SampleIdentity, isMissing: Bool) throws(StoreError) {
        try notes.run("INSERT OR IGNORE INTO differing VALUES(?, ?)", .text(uuid.description), .integer(isMissing ? 1 : 0))
    }

    /// The next changes that make the target equal, as the store is now: what it lacks, and what it has to give up. Empty at the end.
    public func next(limit: Int) throws -> [SampleChange] {
        var changes: [SampleChange] = []
        while changes.isEmpty {
            let found = try noted(limit: limit)
            guard !found.isEmpty else { break }
            for (text, isMissing) in found {
                try notes.run("DELETE FROM differing WHERE uuid = ?", .text(text))
                guard let uuid = SampleIdentity(text), let change = try store.change(of: uuid) else { continue }
                switch change {
                case .added(let stored) where !isMissing:
                    changes.append(
                        .deleted(StoredDeletion(sample: stored.sample, replacedBy: nil, ingest: stored.ingest, seq: stored.seq)))
                case .added, .deleted: changes.append(change)
                }
            }
        }
        return changes
    }

    private func noted(limit: Int) throws(StoreError) -> [(uuid: String, isMissing: Bool)] {
        let statement = try notes.statement("SELECT uuid, missing FROM differing LIMIT ?")
        defer { statement.reset() }
        try statement.bind([.integer(Int64(limit))])
        var found: [(uuid: String, isMissing: Bool)] = []
        while try statement.step() { found.append((statement.text(0), statement.integer(1) != 0)) }
        return found
    }
}
