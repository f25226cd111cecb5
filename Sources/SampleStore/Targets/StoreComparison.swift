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
        // A place in the store leads to each that is there; the UUID alone to what is not.
        try notes.execute(
            """
            CREATE TABLE held(uuid TEXT PRIMARY KEY, print INTEGER) WITHOUT ROWID;
            CREATE TABLE differing(
                id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, series INTEGER, start INTEGER, fate INTEGER NOT NULL);
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
        // What the target has and is not there now was deleted, or never there.
        let rest = try Statement(notes, "SELECT uuid FROM held")
        while try rest.step() {
            guard let uuid = SampleIdentity(rest.text(0)), try store.change(of: uuid) != nil else {
                differences.foreign += 1
                continue
            }
            differences.surplus += 1
            try notes.run(
                "INSERT INTO differing VALUES(NULL, ?, NULL, NULL, ?)", .text(rest.text(0)), .integer(Fate.gone.rawValue))
        }
        return differences
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
        try notes.run(
            "INSERT INTO differing VALUES(NULL, ?, ?, ?, ?)", .text(sample.identity.description), .integer(series),
            .integer(sample.start.microseconds), .integer(fate.rawValue))
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
            let place = statement.optionalInteger(2).map { (series: $0, start: statement.integer(3)) }
            guard let change = try change(of: uuid, at: place) else { continue }
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

    /// How a sample is now. Where it was a moment ago it mostly still is, which costs one look.
    private func change(of uuid: SampleIdentity, at place: (series: Int64, start: Int64)?) throws -> SampleChange? {
        if let place, let stored = try store.sample(uuid, ofSeries: place.series, at: place.start) { return .added(stored) }
        return try store.change(of: uuid)
    }
}

extension SampleStore {
    /// A sample that is where it is said to be; `nil` where it is not.
    func sample(_ uuid: SampleIdentity, ofSeries series: Int64, at start: Int64) throws(StoreError) -> StoredSample? {
        let statement = try connection.statement(
            "SELECT \(SampleDecoder.columns) FROM sample WHERE series = ? AND start = ? AND hash = ?")
        defer { statement.reset() }
        try statement.bind([.integer(series), .integer(start), .blob(uuid.storedHash)])
        guard try statement.step() else { return nil }
        let stored = try SampleDecoder(connection: connection).decode(statement, series: series)
        return stored.uuid == uuid ? stored : nil
    }
}
