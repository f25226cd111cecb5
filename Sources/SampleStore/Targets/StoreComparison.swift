import HealthModel
import Pipeline

/// What differs between a store and a target that was compared with it.
public struct TargetDifferences: Hashable, Sendable {
    /// Samples that both have, with the same content.
    public var equal = 0
    /// Samples that the target lacks.
    public var missing = 0
    /// Samples that both have, and whose content is another there.
    public var differing = 0
    /// Samples that the target has, and that are deleted here or do not pass the filter.
    public var surplus = 0
    /// Samples that the target has and this store never had, such as another hub's: they are left alone.
    public var foreign = 0

    /// Counts; nothing differs where none is said.
    public init(equal: Int = 0, missing: Int = 0, differing: Int = 0, surplus: Int = 0, foreign: Int = 0) {
        (self.equal, self.missing, self.differing) = (equal, missing, differing)
        (self.surplus, self.foreign) = (surplus, foreign)
    }

    /// How many are to be mended.
    public var count: Int { missing + differing + surplus }
}

/// Compares the samples of a store with what a target has, by UUID and content. What is noted on the way is in a file of SQLite's own that is gone with
/// this object, so that memory stays small.
///
///     let comparison = try StoreComparison(store)
///     let differences = try comparison.compare(contents: target.contents, print: target.print) { _ in true }
///     while case let (changes, rewrites) = try comparison.next(limit: 1000), !changes.isEmpty { … }
public final class StoreComparison {
    private let store: SampleStore
    private let notes: Connection
    /// Whether the target has nothing at all.
    private var isEmpty = false
    /// The note that was given last.
    private var given: Int64 = 0
    /// Samples that are asked about at once, and octets of their bodies.
    private static let portion = (samples: 4096, weight: 2 << 20)

    /// What is to be done about a sample.
    private enum Fate: Int64 {
        /// To be told as it is in the store: it is not there.
        case told = 1
        /// To be told as it is in the store, and written over what is there.
        case rewritten = 2
        /// To be told as deleted: it is there, and is not to be.
        case gone = 0
    }

    /// - Throws: ``StoreError`` where there is no room for notes.
    public init(_ store: SampleStore) throws(StoreError) {
        self.store = store
        notes = try Connection(path: "", writable: true)
        // A place in the store leads to each sample without a search in every series.
        try notes.execute(
            """
            CREATE TABLE held(uuid TEXT PRIMARY KEY, print INTEGER) WITHOUT ROWID;
            CREATE TABLE differing(
                id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, series INTEGER NOT NULL, start INTEGER NOT NULL, fate INTEGER NOT NULL);
            BEGIN
            """)
    }

    /// Compares the samples that pass with what the target has.
    ///
    /// - Parameters:
    ///   - contents: hands over what the target has, in portions.
    ///   - print: a sample's hash, comparable with those of the contents.
    ///   - differing: asks the target which of some samples have other content there; `nil` where that is not asked.
    ///   - passes: whether a sample is to be there.
    public func compare(
        contents: (([HeldSample]) throws -> Void) throws -> Void, print: (Sample) -> UInt64? = { _ in nil },
        differing: (([Sample]) throws -> [SampleIdentity])? = nil, passes: (Sample) -> Bool
    ) throws -> TargetDifferences {
        try contents { samples in
            for sample in samples {
                try notes.run(
                    "INSERT OR IGNORE INTO held VALUES(?, ?)", .text(sample.identity.description),
                    .optional(sample.print.map { Int64(bitPattern: $0) }))
            }
        }
        isEmpty = try notes.integer("SELECT 1 FROM held LIMIT 1") == nil
        var differences = TargetDifferences()
        var asked: [(series: Int64, sample: Sample)] = []
        var weight = 0
        func ask() throws {
            guard let differing, !asked.isEmpty else { return }
            let found = Set(try differing(asked.map(\.sample)))
            for each in asked where found.contains(each.sample.identity) {
                try note(each.sample, in: each.series, .rewritten)
            }
            differences.equal -= found.count
            differences.differing += found.count
            asked.removeAll(keepingCapacity: true)
            weight = 0
        }
        let cursor = try store.samples(matching: SampleQuery())
        defer { cursor.close() }
        while let (series, stored) = try cursor.nextWithSeries() {
            let passes = passes(stored.sample)
            let held = try take(stored.uuid)
            switch (passes, held) {
            case (true, let held?):
                if let there = held.print, let here = print(stored.sample), there != here {
                    differences.differing += 1
                    try note(stored.sample, in: series, .rewritten)
                    continue
                }
                differences.equal += 1
                guard differing != nil else { continue }
                var sample = stored.sample
                sample.record = try store.record(of: sample)
                asked.append((series, sample))
                weight += sample.body?.size ?? 0
                if asked.count == Self.portion.samples || weight > Self.portion.weight { try ask() }
            case (true, nil):
                differences.missing += 1
                try note(stored.sample, in: series, .told)
            case (false, _?):
                differences.surplus += 1
                try note(stored.sample, in: series, .gone)
            case (false, nil): break
            }
        }
        try ask()
        if !isEmpty { differences.surplus += try noteDeleted() }
        // The rest was never here.
        differences.foreign = Int(try notes.integer("SELECT count(*) FROM held") ?? 0)
        return differences
    }

    /// Notes the deleted samples that the target still has, in one pass over the tombstones.
    ///
    /// - Returns: how many.
    private func noteDeleted() throws(StoreError) -> Int {
        let tombstones = try Statement(
            store.connection,
            """
            SELECT series, start, hash, skew FROM \(SampleTable.Rows.tombstones.rawValue) AS gone
            CROSS JOIN context ON context.id = gone.context
            """)
        var count = 0
        while try tombstones.step() {
            let place = try SampleKey(series: tombstones.integer(0), start: tombstones.integer(1), hash: tombstones.blob(2))
            let identity = place.identity(skew: tombstones.integer(3))
            guard try take(identity) != nil else { continue }
            count += 1
            try note(identity, at: place, .gone)
        }
        return count
    }

    /// What the target has of a sample; `nil` where it has none. It is had once.
    private func take(_ uuid: SampleIdentity) throws(StoreError) -> (print: UInt64?, Void)? {
        guard !isEmpty else { return nil }
        let statement = try notes.statement("DELETE FROM held WHERE uuid = ? RETURNING print")
        defer { statement.reset() }
        try statement.bind([.text(uuid.description)])
        guard try statement.step() else { return nil }
        let print = statement.optionalInteger(0).map { UInt64(bitPattern: $0) }
        // To its end, or nothing is deleted.
        while try statement.step() {}
        return (print, ())
    }

    private func note(_ sample: Sample, in series: Int64, _ fate: Fate) throws(StoreError) {
        let uuid = sample.identity
        try note(uuid, at: SampleKey(series: series, start: sample.start.microseconds, of: uuid), fate)
    }

    private func note(_ uuid: SampleIdentity, at place: SampleKey, _ fate: Fate) throws(StoreError) {
        try notes.run(
            "INSERT INTO differing VALUES(NULL, ?, ?, ?, ?)", .text(uuid.description), .integer(place.series),
            .integer(place.start), .integer(fate.rawValue))
    }

    /// The next changes that make the target equal, as the store is now: what it lacks, and what it has to give up. Empty at the end.
    ///
    /// - Returns: changes, and whether they are written over what is there.
    public func next(limit: Int) throws -> (changes: [SampleChange], rewrites: Bool) {
        var changes: [SampleChange] = []
        var rewrites = false
        var weight = 0
        let statement = try notes.statement("SELECT id, uuid, series, start, fate FROM differing WHERE id > ? ORDER BY id")
        defer { statement.reset() }
        try statement.bind([.integer(given)])
        while changes.count < limit, weight <= Self.portion.weight, try statement.step() {
            guard let uuid = SampleIdentity(statement.text(1)), let fate = Fate(rawValue: statement.integer(4)) else { continue }
            if changes.isEmpty { rewrites = fate == .rewritten }
            guard rewrites == (fate == .rewritten) else { break }
            given = statement.integer(0)
            let place = SampleKey(series: statement.integer(2), start: statement.integer(3), of: uuid)
            guard let change = try store.change(of: uuid, at: place) else { continue }
            switch change {
            case .added(var stored):
                if fate == .gone {
                    changes.append(
                        .deleted(StoredDeletion(sample: stored.sample, replacedBy: nil, ingest: stored.ingest, seq: stored.seq)))
                } else {
                    stored.sample.record = try store.record(of: stored.sample)
                    weight += stored.sample.body?.size ?? 0
                    changes.append(.added(stored))
                }
            case .deleted: changes.append(change)
            }
        }
        return (changes, rewrites)
    }
}
