import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The store against a model of it that fits on a page: random sequences of everything that changes it.
@Suite struct StoreModelTests {
    /// What a store promises, without any of how it keeps it.
    private struct Model {
        struct Stored {
            var line: String
            /// The ingest that brought it.
            var bringer: Int64
            /// What made it what it is now.
            var cause: Int64
        }

        var live: [SampleIdentity: Stored] = [:]
        var deleted: [SampleIdentity: Stored] = [:]
        var held: Set<SampleIdentity> = []

        mutating func keep(_ gated: GatedSample, ingest: Int64) -> SampleOutcome {
            let identity = gated.sample.identity
            guard live[identity] == nil, deleted[identity] == nil, !held.contains(identity) else { return .duplicate }
            if gated.rule != nil {
                held.insert(identity)
                return .quarantined
            }
            live[identity] = Stored(line: TestStore.line(gated.sample), bringer: ingest, cause: ingest)
            return .stored
        }

        mutating func delete(_ identities: [SampleIdentity], ingest: Int64) {
            for identity in identities {
                deleted[identity] = live.removeValue(forKey: identity).map {
                    Stored(line: $0.line, bringer: $0.bringer, cause: ingest)
                }
            }
        }

        mutating func restore(_ identities: [SampleIdentity], ingest: Int64) {
            for identity in identities {
                live[identity] = deleted.removeValue(forKey: identity).map {
                    Stored(line: $0.line, bringer: $0.bringer, cause: ingest)
                }
            }
        }

        /// What each undoing undid.
        var undoes: [Int64: Int64] = [:]

        /// What the undoing of an entry takes back as a whole: itself, or what the undoing of an undoing takes back.
        func takenBack(by undone: Int64) -> Int64 {
            guard let own = undoes[undone], let first = undoes[own] else { return undone }
            return takenBack(by: first)
        }

        mutating func undo(_ undone: Int64, forget: Bool, ingest: Int64) -> Int {
            let taken = takenBack(by: undone)
            let stored = live.filter { $0.value.bringer == taken || $0.value.cause == undone }.map(\.key)
            if ingest > 0 { undoes[ingest] = undone }
            let removed = deleted.filter { $0.value.cause == undone }.map(\.key)
            delete(stored, ingest: ingest)
            restore(removed, ingest: ingest)
            if forget { deleted = deleted.filter { $0.value.bringer != undone } }
            return stored.count + removed.count
        }
    }

    /// 300 sequences of 14 steps, 75 in each of four groups that may run side by side.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func sequences(group: UInt64) throws {
        for number in 0..<75 { try run(seed: group * 1000 + UInt64(number)) }
    }

    private func run(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let makers = [
            try SampleMaker(), try SampleMaker(.bodyMass, source: "b", unit: "[lb_av]"), try SampleMaker(.stepCount, source: "c"),
        ]
        // Few readings, so that they meet again; each under several assumptions about the zone.
        func sample() throws -> GatedSample {
            let index = Int.random(in: 0..<24, using: &random)
            var maker = makers[index % 3]
            if index % 4 != 0 { maker = maker.local(Int.random(in: -1...2, using: &random)) }
            return try maker(
                ["72", "72.50", "+7e1"][index % 2], at: Double(index / 3), lasting: Double(index % 2),
                ordinal: UInt32(index % 5 == 0 ? 1 : 0),
                rule: index > 21 ? .impossible : nil)
        }
        let test = try TestStore()
        var model = Model()
        var ingests: [Int64] = []
        var time = TestStore.received.microseconds
        let comment: Comment = "seed \(seed)"
        for _ in 0..<14 {
            // Every change at a time of its own: what was received when must not follow the last one.
            time += 1_000_000
            func description(_ kind: IngestKind) -> IngestDescription { IngestDescription(kind: kind, received: time) }
            func some(_ identities: some Collection<SampleIdentity>) -> [SampleIdentity] {
                Array(identities.sorted().shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)))
            }
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1:
                let chosen = some(model.live.keys)
                guard !chosen.isEmpty else { continue }
                let ingest = try test.store.delete(chosen, description: description(.delete)).ingest
                model.delete(chosen, ingest: ingest)
                ingests.append(ingest)
            case 2, 3:
                let chosen = some(model.deleted.keys)
                guard !chosen.isEmpty else { continue }
                let ingest = try test.store.restore(chosen, description: description(.restore)).ingest
                model.restore(chosen, ingest: ingest)
                ingests.append(ingest)
            case 4, 5:
                guard let undone = ingests.randomElement(using: &random) else { continue }
                let forget = Bool.random(using: &random)
                if !forget, try test.store.account(of: undone)?.state == "undone" { continue }
                // What is held is not the model's; a forgotten import's would be judged anew.
                let (ingest, count) = try test.store.undo(undone, forget: forget, description: description(.undo))
                if forget {
                    let held = try (test.store.quarantined() + test.store.quarantined(state: "rejected")).map(\.stored.uuid)
                    model.held = Set(held)
                }
                #expect(count == model.undo(undone, forget: forget, ingest: ingest), comment)
                if ingest > 0 { ingests.append(ingest) }
            case 6:
                try test.reopen()
            default:
                let ingest = try test.store.beginIngest(description(.import))
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    var batch: [GatedSample] = []
                    for _ in 0..<Int.random(in: 0...12, using: &random) { batch.append(try sample()) }
                    let outcomes = try ingest.store(batch)
                    for (gated, outcome) in zip(batch, outcomes) {
                        #expect(outcome == model.keep(gated, ingest: ingest.id), comment)
                    }
                }
                _ = try ingest.finish(at: time)
                ingests.append(ingest.id)
            }
            #expect(try test.lines() == Set(model.live.values.map(\.line)), comment)
        }
        #expect(try test.store.changedUUIDs() == Set(model.live.keys), comment)
        #expect(try test.store.check() == [], comment)
        for identity in model.deleted.keys {
            guard case .deleted = try test.store.lookup(identity) else {
                Issue.record("\(identity) has no tombstone, seed \(seed)")
                continue
            }
        }
        try test.close()
    }
}
