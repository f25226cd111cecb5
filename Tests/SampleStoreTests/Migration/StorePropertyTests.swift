import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The store against the model: random sequences of imports, deletions, restorations, undoings, repairs, crashes and reopenings.
///
/// A crash is what a kill leaves: the database and its log as they are in the middle of a change, at a random step of SQLite's, and a new process on
/// them. `VITALGATE_SEQUENCES` sets how many sequences (240), `VITALGATE_SEED` the first one's seed (1): a failure names the seed of its
/// sequence, and `VITALGATE_SEQUENCES=1 VITALGATE_SEED=…` runs it again. `scripts/property-test` runs 10,000.
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
        // The sequences go where the dangers are.
        guard count >= 200 else { return }
        #expect(tally.crashes > 0 && tally.repaired > 0 && tally.merged > 0 && tally.undone > 0 && tally.refused > 0, "\(tally)")
        print("property test: \(count / 2) sequences, \(tally)")
    }
}

/// What the sequences met.
private struct PropertyTally {
    var crashes = 0
    var repaired = 0
    var merged = 0
    var undone = 0
    var refused = 0

    mutating func add(_ other: PropertyTally) {
        crashes += other.crashes
        repaired += other.repaired
        merged += other.merged
        undone += other.undone
        refused += other.refused
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
    private var comment: Comment { "seed \(seed)" }
    private let makers: [SampleMaker]
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
            #expect(try test.lines() == model.lines, comment)
        }
        #expect(try test.store.check(deep: true) == [], comment)
        for identity in model.dead.keys {
            guard case .deleted? = try test.store.lookup(identity) else {
                Issue.record("\(identity) has no tombstone, seed \(seed)")
                continue
            }
        }
        #expect(try test.store.changedUUIDs() == Set(model.live.keys), comment)
        try test.close()
    }

    /// The tests' disk need not be waited for: what a crash leaves is copied from the files as they are.
    private func calm() throws { try test.execute("PRAGMA synchronous = OFF") }

    private func description(_ kind: IngestKind) -> IngestDescription { IngestDescription(kind: kind, received: time) }

    private func some(_ identities: some Collection<SampleIdentity>) -> [SampleIdentity] {
        Array(identities.sorted().shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)))
    }

    private func step() throws {
        switch Int.random(in: 0..<14, using: &random) {
        case 0: try delete()
        case 1: try restore()
        case 2, 3: try undoIngest()
        case 4, 5, 6: try migrate()
        case 7, 8: try undoMigration()
        case 9: try crash()
        case 10:
            try test.reopen()
            try calm()
        default: try keep()
        }
    }

    private func sample() throws -> (GatedSample, UInt32) {
        // Few readings on a coarse grid, so that they meet again and repairs move them onto one another; the fourth maker's are what a
        // repair of the second's gives.
        var maker = makers[Int.random(in: 0..<4, using: &random)]
        if Int.random(in: 0..<4, using: &random) == 0 { maker = maker.local(Int.random(in: -1...2, using: &random)) }
        let ordinal: UInt32 = Int.random(in: 0..<8, using: &random) == 0 ? 1 : 0
        let numeral = ["60", "120", "30", "+6e1"][Int.random(in: 0..<4, using: &random)]
        let (start, duration) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<8, using: &random) / 7)
        return (try maker(numeral, at: Double(start), lasting: Double(duration), ordinal: ordinal), ordinal)
    }

    private func keep() throws {
        let ingest = try test.store.beginIngest(description(.import))
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            var batch: [(GatedSample, UInt32)] = []
            for _ in 0..<Int.random(in: 0...10, using: &random) { batch.append(try sample()) }
            let outcomes = try ingest.keep(batch.map(\.0))
            for (entry, outcome) in zip(batch, outcomes) {
                #expect(outcome == model.keep(entry.0, ordinal: entry.1, ingest: ingest.id), comment)
            }
        }
        _ = try ingest.finish(at: time)
        ingests.append(ingest.id)
    }

    private func delete() throws {
        let chosen = some(model.live.keys)
        guard !chosen.isEmpty else { return }
        let description = description(.delete)
        guard let ingest = try change({ try $0.delete(chosen, description: description).ingest }) else { return }
        model.delete(chosen, ingest: ingest)
        ingests.append(ingest)
    }

    private func restore() throws {
        let chosen = some(model.dead.keys)
        guard !chosen.isEmpty else { return }
        let allowed = model.restorable(chosen)
        guard allowed.count == chosen.count else {
            #expect(throws: StoreError.self, comment) { try test.store.restore(chosen, description: description(.restore)) }
            return
        }
        let ingest = try test.store.restore(chosen, description: description(.restore)).ingest
        model.restore(chosen, ingest: ingest)
        ingests.append(ingest)
    }

    private func undoIngest() throws {
        guard let undone = ingests.randomElement(using: &random) else { return }
        let forget = Bool.random(using: &random)
        if !forget, try test.store.account(of: undone)?.state == "undone" { return }
        let refused = model.isRepaired(broughtBy: undone)
        do {
            let (ingest, count) = try test.store.undo(undone, forget: forget, description: description(.undo))
            #expect(!refused, comment)
            #expect(count == model.undo(undone, forget: forget, ingest: ingest), comment)
            if ingest > 0 { ingests.append(ingest) }
        } catch let error as StoreError where error.kind == .invalid {
            tally.refused += 1
            #expect(refused, "\(error.message), seed \(seed)")
        }
    }

    private func repair() throws -> (Repair, QuantityType) {
        let type: QuantityType = [.heartRate, .bodyMass, .stepCount][Int.random(in: 0..<3, using: &random)]
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return (.shift([1_000_000, -1_000_000, 2_000_000, -60_000_000][Int.random(in: 0..<4, using: &random)]), type)
        case 1: return (.scale(try Numeral(["2", "0.5", "10", "0.1"][Int.random(in: 0..<4, using: &random)])), type)
        case 2: return (.unit(try HealthModel.Unit(ucum: Bool.random(using: &random) ? "[lb_av]" : "kg")), .bodyMass)
        case 3: return (.zone(TimeZoneRules(fixed: ZoneOffset(seconds: 7200))), type)
        default: return (.subject(Bool.random(using: &random) ? guest : TestStore.subject), type)
        }
    }

    private func migrate() throws {
        let (repair, type) = try repair()
        var request = TestStore.request(repair, type, ambiguous: true)
        request.now = Instant(microseconds: time)
        request.merging = Bool.random(using: &random) ? .allowed : .refused
        let before = try test.store.summary().samples
        guard let (plan, migration) = try change({ try $0.migrate(request) }) else { return }
        // Counted from outside: no reading comes or goes, but for those that make way for one that stood elsewhere.
        #expect(try test.store.summary().samples == before - (migration == nil ? 0 : plan.merged), "\(repair.text), seed \(seed)")
        if migration == nil, plan.merged > 0 { return }
        let ingest = try migration.flatMap { try test.store.migration($0)?.ingest } ?? 0
        let count = model.migrate(repair, of: type, migration ?? 0, ingest: ingest)
        tally.repaired += plan.repaired
        tally.merged += plan.merged
        #expect(plan.repaired + plan.merged == count, "\(repair.text), seed \(seed)")
    }

    private func undoMigration() throws {
        guard let id = model.migrations.filter({ $0.value.isApplied }).keys.sorted().randomElement(using: &random) else { return }
        guard !model.isRepairedAgain(id) else {
            #expect(throws: StoreError.self, comment) { try test.store.undoMigration(id, at: TestStore.later) }
            return
        }
        let now = Instant(microseconds: time)
        let before = try test.store.summary().samples
        guard let (ingest, count) = try change({ try $0.undoMigration(id, at: now) }) else { return }
        let merged = try #require(try test.store.migration(id)?.merged)
        #expect(try test.store.summary().samples - before <= merged, comment)
        #expect(try test.store.summary().samples >= before, comment)
        tally.undone += count
        #expect(count == model.undoMigration(id, ingest: ingest), comment)
    }

    /// In the middle of a change the process ends.
    private func crash() throws {
        isCrashing = true
        defer { isCrashing = false }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try delete()
        case 1: try undoMigration()
        default: try migrate()
        }
    }

    /// Makes a change; where the process is to end in the middle of it, goes on with what it left behind, and returns nothing.
    private func change<Result>(_ body: (SampleStore) throws -> Result) throws -> Result? {
        guard isCrashing else { return try body(test.store) }
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
        } catch let error as StoreError where hasEnded && error.kind == .defect {
            // Broken off.
        }
        tally.crashes += 1
        test.isSound = false
        test = try TestStore(folder: left)
        try calm()
        return nil
    }
}
