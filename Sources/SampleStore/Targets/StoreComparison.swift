import Dispatch
import HealthModel
import Pipeline

/// The differences between a store and a target.
public struct TargetDifferences: Hashable, Sendable {
    /// Samples that both have with the same content.
    public var equal = 0
    /// Samples that the target lacks.
    public var missing = 0
    /// Samples that both have with different content.
    public var differing = 0
    /// Samples that the target has although they are deleted in the store or do not pass the filter.
    public var surplus = 0
    /// Samples that the target has and this store never had, such as those of another hub. They are left alone.
    public var foreign = 0

    /// Creates counts, which are zero by default.
    public init(equal: Int = 0, missing: Int = 0, differing: Int = 0, surplus: Int = 0, foreign: Int = 0) {
        (self.equal, self.missing, self.differing) = (equal, missing, differing)
        (self.surplus, self.foreign) = (surplus, foreign)
    }

    /// The number of samples to correct in the target.
    public var count: Int { missing + differing + surplus }
}

/// Compares the samples of a store with the contents of a target, by UUID and content. Intermediate results are in a temporary SQLite file
/// that is removed with this object, so that memory use stays small.
///
///     let comparison = try StoreComparison(store)
///     let differences = try comparison.compare(contents: target.contents, print: target.print) { _ in true }
///     while case let (changes, rewrites) = try comparison.next(limit: 1000), !changes.isEmpty { … }
public final class StoreComparison {
    private let store: SampleStore
    private let notes: Connection
    /// Whether the target has no samples at all.
    private var isEmpty = false
    /// The id of the last difference that ``next(limit:)`` returned.
    private var given: Int64 = 0
    /// The maximum number of samples, and bytes of their bodies, in one request to the target.
    private static let portion = (samples: 4096, weight: 2 << 20)

    /// The correction that a sample needs in the target.
    private enum Correction: Int64 {
        /// The target lacks the sample, so it is sent.
        case send = 1
        /// The target has other content, so the sample is sent and overwrites it.
        case rewritten = 2
        /// The target has the sample although it should not, so it is sent as deleted.
        case delete = 0
    }

    /// Creates a comparison.
    ///
    /// - Throws: ``StoreError`` if the temporary file cannot be created.
    public init(_ store: SampleStore) throws(StoreError) {
        self.store = store
        notes = try Connection(path: "", writable: true)
        // The key finds each sample without a search in every series.
        try notes.execute(
            """
            CREATE TABLE held(uuid TEXT PRIMARY KEY, print INTEGER) WITHOUT ROWID;
            CREATE TABLE differing(
                id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, series INTEGER NOT NULL, start INTEGER NOT NULL, fate INTEGER NOT NULL);
            BEGIN
            """)
    }

    /// Compares the samples that pass the filter with the contents of the target.
    ///
    /// - Parameters:
    ///   - contents: Reads the target's contents in portions.
    ///   - print: Returns a sample's hash, which is comparable with those of the contents.
    ///   - differing: Asks the target which of some samples have other content there. `nil` skips this step.
    ///   - passes: Whether the target should have a sample.
    public func compare(
        contents: (([TargetSample]) throws -> Void) throws -> Void, print: (Sample) -> UInt64? = { _ in nil },
        differing: (([Sample]) throws -> [SampleIdentity])? = nil, passes: (Sample) -> Bool
    ) throws -> TargetDifferences {
        try contents(hold)
        return try compareQuarantined(print: print, differing: differing, passes: passes)
    }

    /// Notes some of the target's contents.
    private func hold(_ samples: [TargetSample]) throws {
        for sample in samples {
            try notes.run(
                "INSERT OR IGNORE INTO held VALUES(?, ?)", .text(sample.identity.description),
                .optional(sample.print.map { Int64(bitPattern: $0) }))
        }
    }

    /// - Parameter keys: The days and types to compare, or `nil` for all.
    private func compareQuarantined(
        print: (Sample) -> UInt64?, differing: (([Sample]) throws -> [SampleIdentity])? = nil, passes: (Sample) -> Bool,
        within keys: Set<SampleDigest.Place>? = nil
    ) throws -> TargetDifferences {
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
        let cursor = try store.samples.cursor(matching: SampleQuery())
        defer { cursor.close() }
        while let (series, stored) = try cursor.nextWithSeries() {
            if let keys, !keys.contains(Self.key(of: stored.sample)) { continue }
            let passes = passes(stored.sample)
            let inTarget = try take(stored.uuid)
            switch (passes, inTarget) {
            case (true, let inTarget?):
                if let there = inTarget.print, let here = print(stored.sample), there != here {
                    differences.differing += 1
                    try note(stored.sample, in: series, .rewritten)
                    continue
                }
                differences.equal += 1
                guard differing != nil else { continue }
                var sample = stored.sample
                sample.record = try store.samples.record(of: sample)
                asked.append((series, sample))
                weight += sample.body?.size ?? 0
                if asked.count == Self.portion.samples || weight > Self.portion.weight { try ask() }
            case (true, nil):
                differences.missing += 1
                try note(stored.sample, in: series, .send)
            case (false, _?):
                differences.surplus += 1
                try note(stored.sample, in: series, .delete)
            case (false, nil): break
            }
        }
        try ask()
        if !isEmpty { differences.surplus += try noteDeleted() }
        // The store never had the remaining samples.
        differences.foreign = Int(try notes.integer("SELECT count(*) FROM held") ?? 0)
        return differences
    }

    /// Compares the digests of both sides by day and type, and then the samples of those that differ.
    ///
    /// - Parameters:
    ///   - digests: Reads the target's digests. Called on another thread, while the samples are read here.
    ///   - contents: Reads the target's contents of some days and types.
    ///   - print: Returns a sample's hash.
    ///   - passes: Whether the target should have a sample.
    ///   - count: Called once for each sample that passes.
    public func compare(
        digests: (([SampleDigest]) throws -> Void) throws -> Void,
        contents: ([SampleDigest.Place], ([TargetSample]) throws -> Void) throws -> Void, print: (Sample) -> UInt64?,
        passes: (Sample) -> Bool, count: (Sample) -> Void = { _ in }
    ) throws -> TargetDifferences {
        var there: [SampleDigest.Place: SampleDigest] = [:]
        var here: [SampleDigest.Place: SampleDigest] = [:]
        var failures: (any Error)?
        // The two parts share nothing.
        withoutActuallyEscaping(digests) { digests in
            nonisolated(unsafe) var found: Result<[SampleDigest.Place: SampleDigest], any Error> = .success([:])
            nonisolated(unsafe) let digests = digests
            let reading = DispatchGroup()
            DispatchQueue(label: "vitalgate.comparison").async(group: reading) {
                found = Result {
                    var all: [SampleDigest.Place: SampleDigest] = [:]
                    try digests { for each in $0 { all[each.place] = each } }
                    return all
                }
            }
            do { here = try ownDigests(print, passes, count) } catch { failures = error }
            reading.wait()
            do { there = try found.get() } catch { failures = failures ?? error }
        }
        if let failures { throw failures }
        var differences = TargetDifferences()
        var keys: Set<SampleDigest.Place> = []
        for key in Set(here.keys).union(there.keys) {
            if let own = here[key], own == there[key] { differences.equal += own.count } else { keys.insert(key) }
        }
        guard !keys.isEmpty else { return differences }
        try contents(keys.sorted(), hold)
        let rest = try compareQuarantined(print: print, passes: passes, within: keys)
        differences.equal += rest.equal
        (differences.missing, differences.differing) = (rest.missing, rest.differing)
        (differences.surplus, differences.foreign) = (rest.surplus, rest.foreign)
        return differences
    }

    /// The digests of the samples that the target should have.
    private func ownDigests(
        _ print: (Sample) -> UInt64?, _ passes: (Sample) -> Bool, _ count: (Sample) -> Void
    ) throws(StoreError) -> [SampleDigest.Place: SampleDigest] {
        var digests: [SampleDigest.Place: SampleDigest] = [:]
        let snapshot = try Snapshot(store.connection)
        defer { snapshot.end() }
        let decoder = SampleDecoder(connection: store.connection)
        var buffer = SampleDecoder.Buffer()
        for series in try store.allSeries() {
            var latest = SampleDigest(SampleDigest.Place(day: .min, type: series.type.id))
            var end = Int64.min
            func add(_ sample: Sample) {
                guard passes(sample) else { return }
                count(sample)
                if sample.start.microseconds >= end {
                    if latest.count > 0 { digests[latest.place] = latest }
                    let key = Self.key(of: sample)
                    latest = digests[key] ?? SampleDigest(key)
                    end = (Int64(key.day) + 1) * Calendar.day
                }
                latest.add(print(sample) ?? 0)
            }
            // In the order of time, so that neighbors are of one day.
            let rows = try store.connection.samples.scan(.whole, of: series.id, isRetained: false)
            while try rows.next() {
                try rows.read(decoder, into: &buffer)
                if buffer.stored != nil { add(buffer.stored!.sample) }
            }
            if latest.count > 0 { digests[latest.place] = latest }
        }
        return digests
    }

    /// The UTC day on which a sample began.
    private static func day(of sample: Sample) -> Int {
        let start = sample.start.microseconds
        return Int((start >= 0 ? start : start - Calendar.day + 1) / Calendar.day)
    }

    private static func key(of sample: Sample) -> SampleDigest.Place {
        SampleDigest.Place(day: day(of: sample), type: sample.origin.type.id)
    }

    /// Records the deleted samples that the target still has, in one pass over the tombstones.
    ///
    /// - Returns: The number of samples.
    private func noteDeleted() throws(StoreError) -> Int {
        var count = 0
        try store.table.forEachTombstone { key, identity throws(StoreError) in
            guard try take(identity) != nil else { return }
            count += 1
            try note(identity, at: key, .delete)
        }
        return count
    }

    /// Removes a sample from the recorded contents of the target and returns its hash. Returns `nil` if the target does not have it.
    private func take(_ uuid: SampleIdentity) throws(StoreError) -> (print: UInt64?, Void)? {
        guard !isEmpty else { return nil }
        let statement = try notes.statement("DELETE FROM held WHERE uuid = ? RETURNING print")
        defer { statement.reset() }
        try statement.bind([.text(uuid.description)])
        guard try statement.step() else { return nil }
        let print = statement.optionalInteger(0).map { UInt64(bitPattern: $0) }
        // The statement deletes the row only if it is run to its end.
        while try statement.step() {}
        return (print, ())
    }

    private func note(_ sample: Sample, in series: Int64, _ correction: Correction) throws(StoreError) {
        let uuid = sample.identity
        try note(uuid, at: SampleKey(series: series, start: sample.start.microseconds, of: uuid), correction)
    }

    private func note(_ uuid: SampleIdentity, at key: SampleKey, _ correction: Correction) throws(StoreError) {
        try notes.run(
            "INSERT INTO differing VALUES(NULL, ?, ?, ?, ?)", .text(uuid.description), .integer(key.series),
            .integer(key.start), .integer(correction.rawValue))
    }

    /// Returns the next changes that make the target equal to the current store. They are empty at the end.
    ///
    /// - Returns: The changes, and whether they overwrite existing content.
    public func next(limit: Int) throws -> (changes: [SampleChange], rewrites: Bool) {
        var changes: [SampleChange] = []
        var rewrites = false
        var weight = 0
        let statement = try notes.statement("SELECT id, uuid, series, start, fate FROM differing WHERE id > ? ORDER BY id")
        defer { statement.reset() }
        try statement.bind([.integer(given)])
        while changes.count < limit, weight <= Self.portion.weight, try statement.step() {
            guard let uuid = SampleIdentity(statement.text(1)), let correction = Correction(rawValue: statement.integer(4)) else {
                continue
            }
            if changes.isEmpty { rewrites = correction == .rewritten }
            guard rewrites == (correction == .rewritten) else { break }
            given = statement.integer(0)
            let key = SampleKey(series: statement.integer(2), start: statement.integer(3), of: uuid)
            guard let change = try store.changes.change(of: uuid, at: key) else { continue }
            switch change {
            case .added(var stored):
                if correction == .delete {
                    changes.append(
                        .deleted(StoredDeletion(sample: stored.sample, replacedBy: nil, ingest: stored.ingest, seq: stored.seq)))
                } else {
                    stored.sample.record = try store.samples.record(of: stored.sample)
                    weight += stored.sample.body?.size ?? 0
                    changes.append(.added(stored))
                }
            case .deleted: changes.append(change)
            }
        }
        return (changes, rewrites)
    }
}
