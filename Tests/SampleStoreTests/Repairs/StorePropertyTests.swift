import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The store against the model: random sequences of imports, deletions, restorations, undos, repairs, crashes, reopenings and restored
/// backups, by two writers. Few times, few values, and repairs that map them onto each other, so that collisions occur in every sequence.
///
/// Independent checks complement the model: the number of readings before and after a repair and the new value of each, by the test's own
/// arithmetic, and the content of a reader that follows the change log.
///
/// A crash leaves the state of a kill: the database and its log in the middle of a change, at a random step of SQLite, and a new process on
/// them. `VITALGATE_SEQUENCES` sets the number of sequences (240), `VITALGATE_SEED` the first one's seed (1). A failure names the seed of
/// its sequence, and `VITALGATE_SEQUENCES=1 VITALGATE_SEED=…` runs it again. `scripts/property-test` runs 10,000.
@Suite struct StorePropertyTests {
    private static func setting(_ name: String, _ value: UInt64) -> UInt64 {
        getenv(name).flatMap { UInt64(String(cString: $0)) } ?? value
    }

    @Test(arguments: [0, 1] as [UInt64]) func storeAndModelAgree(half: UInt64) throws {
        let first = Self.setting("VITALGATE_SEED", 1)
        let count = Self.setting("VITALGATE_SEQUENCES", 240)
        var tally = PropertyTally()
        for seed in first..<first + count where seed % 2 == half {
            let sequence = try PropertySequence(seed: seed)
            try sequence.run()
            tally.add(sequence.tally)
        }
        // The sequences cover the dangerous cases.
        guard count >= 200 else { return }
        #expect(
            tally.crashes > 0 && tally.repaired > 0 && tally.merged > 0 && tally.undone > 0 && tally.refused > 0
                && tally.matched > 0
                && tally.backups > 0,
            "\(tally)")
        print("property test: \(count / 2) sequences, \(tally)")
    }
}

/// The situations that occurred in the sequences.
private struct PropertyTally {
    var crashes = 0
    var repaired = 0
    var merged = 0
    var undone = 0
    var refused = 0
    /// Repaired readings that came to where another one of the same repair had been, as its equal.
    var matched = 0
    var backups = 0

    mutating func add(_ other: PropertyTally) {
        crashes += other.crashes
        repaired += other.repaired
        merged += other.merged
        undone += other.undone
        refused += other.refused
        matched += other.matched
        backups += other.backups
    }
}

/// One sequence.
private final class PropertySequence {
    private let seed: UInt64
    private var random: SeededGenerator
    private var test: TestStore
    private var model = StoreModel()
    private var ingests: [Int64] = []
    private var isCrashing = false
    private(set) var tally = PropertyTally()
    private var time = TestStore.received.microseconds
    /// The steps so far.
    private var story: [String] = []
    private var comment: Comment { "seed \(seed): \(story.joined(separator: "; "))" }
    private let makers: [SampleMaker]
    private var other: SampleStore?
    private var follower = ChangeFollower()
    private var backup: (name: String, model: StoreModel, ingests: [Int64])?
    private let guest = "7f9c0000-0000-4000-8000-000000000001"

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        test = try TestStore()
        makers = [
            try SampleMaker(), try SampleMaker(.bodyMass, source: "b"), try SampleMaker(.stepCount, source: "c"),
            try SampleMaker(.bodyMass, source: "b", unit: "[lb_av]"),
        ]
    }

    func run() throws {
        try calm()
        for _ in 0..<Int.random(in: 6...16, using: &random) {
            time += 1_000_000
            try step()
            let lines = try test.lines()
            #expect(lines == model.lines, comment)
            #expect(try test.samples().count == model.live.count, comment)
            try follower.read(test.store)
            #expect(Set(follower.known.values) == lines && follower.known.count == model.live.count, comment)
        }
        other = nil
        #expect(try test.store.check(deep: true) == [], comment)
        for identity in model.dead.keys {
            guard case .deleted? = try test.store.samples.lookup(identity) else {
                Issue.record("\(identity) has no tombstone, seed \(seed)")
                continue
            }
        }
        #expect(try test.store.changedUUIDs() == Set(model.live.keys), comment)
        try test.close()
    }

    /// One of two that write to the store, as two processes do.
    private func writer() throws -> SampleStore {
        guard Bool.random(using: &random) else { return try test.store }
        if let other { return other }
        let opened = try test.another()
        try opened.connection.execute("PRAGMA synchronous = OFF")
        other = opened
        return opened
    }

    /// The test need not wait for the disk, because a crash copies the files as they are.
    private func calm() throws { try test.execute("PRAGMA synchronous = OFF") }

    private func description(_ kind: IngestKind) -> IngestDescription { IngestDescription(kind: kind, received: time) }

    private func some(_ identities: some Collection<SampleIdentity>) -> [SampleIdentity] {
        Array(identities.sorted().shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)))
    }

    private func step() throws {
        switch Int.random(in: 0..<17, using: &random) {
        case 0: try delete()
        case 1: try restore()
        case 2, 3: try undoIngest()
        case 4, 5, 6: try migrate()
        case 7, 8: try undoRepair()
        case 9: try crash()
        case 10:
            other = nil
            try test.reopen()
            try calm()
        case 11: try backUp()
        case 12: try putBack()
        default: try keep()
        }
    }

    private static func names(_ identities: [SampleIdentity]) -> String {
        identities.map { String("\($0)".suffix(4)) }.joined(separator: ", ")
    }

    private func backUp() throws {
        let name = "backup-\(time)"
        try writer().backup(to: test.folder.file(name))
        backup = (name, model, ingests)
        tally.backups += 1
    }

    /// Replaces the store by the backup, as docs/how-to/back-up-and-upgrade.md describes. A reader starts again.
    private func putBack() throws {
        guard let backup, let bytes = try? test.folder.read(backup.name) else { return }
        other = nil
        try test.close()
        for name in ["store.db", "store.db-wal", "store.db-shm"] { unlink(test.folder.file(name)) }
        try test.folder.write(bytes, to: "store.db")
        try test.open()
        try calm()
        (model, ingests) = (backup.model, backup.ingests)
        follower = ChangeFollower()
    }

    private func sample() throws -> (GatedSample, UInt32) {
        // Few readings on a coarse grid, so that they collide. The fourth maker's readings equal the results of repairing the second's.
        func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        let index = pick(4)
        let maker = index == 0 ? makers[index].local(1) : makers[index]
        let ordinal: UInt32 = pick(8) == 0 ? 1 : 0
        return (
            try maker(
                ["60", "120", "30", "6e1"][pick(4)], at: Double(pick(4)), lasting: pick(5) == 0 ? 1 : 0, ordinal: ordinal),
            ordinal
        )
    }

    private func keep() throws {
        let ingest = try writer().beginIngest(description(.import))
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            var batch: [(GatedSample, UInt32)] = []
            for _ in 0..<Int.random(in: 0...10, using: &random) { batch.append(try sample()) }
            let outcomes = try ingest.store(batch.map(\.0))
            for (entry, outcome) in zip(batch, outcomes) {
                #expect(outcome == model.keep(entry.0, ordinal: entry.1, ingest: ingest.id), comment)
            }
        }
        _ = try ingest.finish(at: time)
        ingests.append(ingest.id)
        story.append("\(ingest.id): import")
    }

    private func delete() throws {
        let chosen = some(model.live.keys)
        guard !chosen.isEmpty else { return }
        let description = description(.delete)
        guard let ingest = try change({ try $0.samples.delete(chosen, description: description).ingest }) else { return }
        model.delete(chosen, ingest: ingest)
        story.append("\(ingest): delete \(Self.names(chosen))")
        ingests.append(ingest)
    }

    private func restore() throws {
        let chosen = some(model.dead.keys)
        guard !chosen.isEmpty else { return }
        let allowed = model.restorable(chosen)
        story.append("restore \(Self.names(chosen))")
        guard allowed.count == chosen.count else {
            #expect(throws: StoreError.self, comment) { try writer().samples.restore(chosen, description: description(.restore)) }
            return
        }
        let ingest = try writer().samples.restore(chosen, description: description(.restore)).ingest
        model.restore(chosen, ingest: ingest)
        ingests.append(ingest)
    }

    private func undoIngest() throws {
        guard let undone = ingests.randomElement(using: &random) else { return }
        let forget = Bool.random(using: &random)
        if !forget, try test.store.ledger.account(of: undone)?.state == "undone" { return }
        let isUndone = try test.store.ledger.account(of: undone)?.state == "undone"
        let refused = !isUndone && model.isRefused(undoing: undone)
        do {
            let (ingest, count) = try writer().ledger.undo(undone, forget: forget, description: description(.undo))
            #expect(!refused, comment)
            #expect(count == model.undo(undone, forget: forget, ingest: ingest), comment)
            story.append("\(ingest): undo \(undone)\(forget ? " and forget" : "")")
            if ingest > 0 { ingests.append(ingest) }
        } catch let error as StoreError where error.kind == .invalid {
            tally.refused += 1
            #expect(refused, "\(error.message), seed \(seed)")
        }
    }

    private func repair() throws -> (Repair, SampleType) {
        let type: SampleType = [.heartRate, .bodyMass, .stepCount][Int.random(in: 0..<3, using: &random)]
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1: return (.shift([1, -1, 2, -3600][Int.random(in: 0..<4, using: &random)] * 1_000_000), type)
        case 2, 3: return (.scale(try Numeral(["2", "0.5", "10"][Int.random(in: 0..<3, using: &random)])), type)
        case 4: return (.unit(try HealthModel.Unit(ucum: Bool.random(using: &random) ? "[lb_av]" : "kg")), .bodyMass)
        case 5: return (.zone(TimeZoneRules(fixed: ZoneOffset(seconds: 7200))), type)
        default: return (.person(Bool.random(using: &random) ? guest : TestStore.person), type)
        }
    }

    private func migrate() throws {
        let (repair, type) = try repair()
        var request = TestStore.request(repair, type, ambiguous: true)
        request.now = Instant(microseconds: time)
        let before = try samplesByIdentity()
        let merged = model.plan(repair, of: type).count(where: \.isMerged)
        if merged > 0 {
            let refused = thrown(FewerReadings.self) { _ = try writer().repairs.apply(request) }
            #expect(refused?.plan.merged == merged, comment)
            #expect(try samplesByIdentity() == before, comment)
            guard Bool.random(using: &random) else { return }
            request.merging = .atMost(merged)
        }
        guard let (plan, repairID) = try change({ try $0.repairs.apply(request) }) else { return }
        let ingest = try repairID.flatMap { try test.store.repairs.repair($0)?.ingest } ?? 0
        let count = model.migrate(repair, of: type, repairID ?? 0, ingest: ingest)
        tally.repaired += plan.repaired
        tally.merged += plan.merged
        #expect(plan.repaired + plan.merged == count, "\(repair.text), seed \(seed)")
        guard let repairID else { return }
        story.append("\(ingest): \(repair.text) as \(repairID), \(plan.merged) merged")
        let after = try samplesByIdentity()
        try checkSum(repair, repairID, plan, before, after)
        // After an immediate undo, the store is as before.
        guard Int.random(in: 0..<3, using: &random) == 0 else { return }
        let (_, undone) = try writer().repairs.undo(repairID, at: request.now)
        #expect(undone == plan.repaired + plan.merged && undone == model.undoRepair(repairID), comment)
        #expect(try samplesByIdentity() == before, comment)
        tally.undone += undone
    }

    private func samplesByIdentity() throws -> [SampleIdentity: String] {
        Dictionary(uniqueKeysWithValues: try test.samples().map { ($0.uuid, TestStore.line($0.sample)) })
    }

    /// The readings before are the readings after plus the merged ones, and the value of each is as computed.
    private func checkSum(
        _ repair: Repair, _ repairID: Int64, _ plan: RepairPlan, _ before: [SampleIdentity: String],
        _ after: [SampleIdentity: String]
    ) throws {
        #expect(before.count == after.count + plan.merged, "\(repair.text), seed \(seed)")
        var pairs: [RepairedPair] = []
        try test.store.repairs.forEachPair(of: repairID) { pairs.append($0) }
        #expect(pairs.count == plan.repaired + plan.merged && pairs.count(where: \.isMerged) == plan.merged, comment)
        #expect(Set(pairs.map(\.old)).count == pairs.count && Set(pairs.map(\.new)).count == pairs.count, comment)
        let old = Set(pairs.map(\.old))
        for pair in pairs {
            #expect(before[pair.old] != nil && after[pair.old] == nil && after[pair.new] != nil, comment)
            // A sample that replaces a reading without being made by the repair is outside of it, before and after.
            #expect(pair.isMerged == (before[pair.new] != nil) && !old.contains(pair.new), comment)
            guard let one = model.dead[pair.old]?.sample, let other = model.live[pair.new]?.sample else {
                Issue.record("the model does not know \(pair), seed \(seed)")
                continue
            }
            var (start, value, pound) = (one.start.microseconds, one.value, one.unit.code == "[lb_av]")
            switch repair {
            case .shift(let offset): start += offset
            case .scale(let factor): value *= factor.doubleValue
            case .unit(let unit):
                if pound { value /= 0.45359237 }
                pound = unit.code == "[lb_av]"
                if pound { value *= 0.45359237 }
            case .zone where !pair.isMerged: start = other.start.microseconds
            case .zone: continue
            case .person, .type: break
            }
            if pair.isMerged {
                // A stored reading is identified by its time as received, which may be a local time.
                #expect(other.nominalStart == one.nominalStart + start - one.start.microseconds, comment)
                start = other.start.microseconds
            }
            #expect(other.start.microseconds == start && abs(other.value - value) < 1e-9 * value, "\(repair.text), seed \(seed)")
            let equal = before.keys.contains { key in
                guard key != pair.new, old.contains(key), let sample = model.dead[key]?.sample else { return false }
                return sample.start == other.start && sample.value == other.value
            }
            if equal { tally.matched += 1 }
        }
        // Nothing else was touched.
        for (identity, line) in before where !old.contains(identity) { #expect(after[identity] == line, comment) }
    }

    private func undoRepair() throws {
        guard let id = model.applied.sorted().randomElement(using: &random) else { return }
        guard !model.isRepairedAgain(id) else {
            #expect(throws: StoreError.self, comment) { try writer().repairs.undo(id, at: TestStore.later) }
            return
        }
        let now = Instant(microseconds: time)
        guard let (_, count) = try change({ try $0.repairs.undo(id, at: now) }) else { return }
        tally.undone += count
        story.append("undo repair \(id)")
        #expect(count == model.undoRepair(id), comment)
    }

    /// In the middle of a change the process ends.
    private func crash() throws {
        isCrashing = true
        defer { isCrashing = false }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try delete()
        case 1: try undoRepair()
        default: try migrate()
        }
    }

    /// Makes a change. If the process is to end in the middle of it, continues with the remaining state and returns `nil`.
    private func change<Result>(_ body: (SampleStore) throws -> Result) throws -> Result? {
        guard isCrashing else { return try body(writer()) }
        let left = try TemporaryFolder()
        let folder = test.folder
        var hasEnded = false
        let interruption = Interruption {
            hasEnded = true
            for name in ["store.db", "store.db-wal"] {
                guard let bytes = try? folder.read(name), !bytes.isEmpty else { continue }
                try? left.write(bytes, to: name)
            }
        }
        let connection = try test.store.connection
        interruption.begin(on: connection, after: Int32.random(in: 20...6000, using: &random))
        defer { interruption.end(on: connection) }
        do {
            let result = try body(test.store)
            if !hasEnded { return result }
        } catch let error as StoreError where hasEnded && error.kind == .tooLong {
            // Broken off.
        }
        tally.crashes += 1
        test.isSound = false
        other = nil
        // It stays with the files that the process had.
        backup = nil
        test = try TestStore(folder: left)
        try calm()
        return nil
    }
}

/// A reader who follows the change log from the beginning.
private struct ChangeFollower {
    private var anchor: Int64 = 0
    private(set) var known: [SampleIdentity: String] = [:]

    mutating func read(_ store: SampleStore) throws {
        var (anchor, known) = (anchor, known)
        try store.changes.read(after: anchor, types: nil) { change in
            anchor = change.seq
            switch change {
            case .added(let stored): known[stored.uuid] = TestStore.line(stored.sample)
            case .deleted(let deletion): known[deletion.uuid] = nil
            }
        }
        (self.anchor, self.known) = (anchor, known)
    }
}
