import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The store against a model of it that fits on a page: random sequences of everything that changes it.
@Suite struct StoreModelTests {
    /// The guarantees of a store, without its implementation.
    private struct Model {
        private var core = MeasurementModel<SampleIdentity>()
        private var lines: [SampleIdentity: String] = [:]
        var quarantined: Set<SampleIdentity> = []

        var live: [SampleIdentity: String] {
            let live = core.live
            return lines.filter { live.contains($0.key) }
        }
        var deleted: [SampleIdentity: String] {
            let live = core.live
            return lines.filter { !live.contains($0.key) }
        }

        mutating func keep(_ gated: GatedSample, ingest: Int64) -> SampleOutcome {
            let identity = gated.sample.identity
            guard lines[identity] == nil, !quarantined.contains(identity) else { return .duplicate }
            if gated.rule != nil {
                quarantined.insert(identity)
                return .quarantined
            }
            lines[identity] = TestStore.line(gated.sample)
            core.report(identity, entry: ingest)
            return .stored
        }

        mutating func decide(
            _ kind: MeasurementHistory<SampleIdentity>.Decision.Kind, _ identities: [SampleIdentity], ingest: Int64
        ) {
            for identity in identities { core.decisions.append((kind, identity, ingest)) }
        }

        mutating func undo(_ undone: Int64, forget: Bool, ingest: Int64) -> Int {
            let before = core.live
            if core.ledger.isActive(undone) { core.ledger.note(ingest, undoes: undone) }
            let after = core.live
            if forget {
                let deleted = Set(core.reports.filter { $0.entry == undone && !after.contains($0.key) }.map(\.key))
                core.forgetReports(of: deleted)
                core.decisions.removeAll { deleted.contains($0.key) }
                for identity in deleted { lines[identity] = nil }
            }
            return before.symmetricDifference(after).count
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
        // Few readings, so that they collide, each in one of several assumed zones.
        func sample() throws -> GatedSample {
            let index = Int.random(in: 0..<24, using: &random)
            var maker = makers[index % 3]
            if index % 4 != 0 { maker = maker.local(index % 4 - 2) }
            return try maker(
                ["72", "72.50", "+7e1"][index % 2], at: Double(index / 3), lasting: Double(index % 2),
                ordinal: UInt32(index % 5 == 0 ? 1 : 0),
                rule: index > 21 ? .impossible : nil)
        }
        let test = try TestStore()
        var model = Model()
        var ingests: [Int64] = []
        var time = TestStore.received.microseconds
        var story: [String] = []
        var comment: Comment { "seed \(seed): \(story.joined(separator: "; "))" }
        for _ in 0..<14 {
            // Every change has its own time, because the times of receipt must not depend on the last one.
            time += 1_000_000
            func description(_ kind: IngestKind) -> IngestDescription { IngestDescription(kind: kind, received: time) }
            func some(_ identities: some Collection<SampleIdentity>) -> [SampleIdentity] {
                Array(identities.sorted().shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)))
            }
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1:
                let chosen = some(model.live.keys)
                guard !chosen.isEmpty else { continue }
                let ingest = try test.store.samples.delete(chosen, description: description(.delete)).ingest
                story.append("\(ingest): delete \(chosen.map { "\($0)".suffix(4) })")
                model.decide(.deleted, chosen, ingest: ingest)
                ingests.append(ingest)
            case 2, 3:
                let chosen = some(model.deleted.keys)
                guard !chosen.isEmpty else { continue }
                story.append("restore \(chosen.map { "\($0)".suffix(4) })")
                let ingest = try test.store.samples.restore(chosen, description: description(.restore)).ingest
                story.append("\(ingest): restore \(chosen.map { "\($0)".suffix(4) })")
                model.decide(.restored, chosen, ingest: ingest)
                ingests.append(ingest)
            case 4, 5:
                guard let undone = ingests.randomElement(using: &random) else { continue }
                let forget = Bool.random(using: &random)
                if !forget, try test.store.ledger.account(of: undone)?.state == "undone" { continue }
                // Quarantined readings are not in the model. Those of a forgotten import would be judged again.
                let (ingest, count) = try test.store.ledger.undo(undone, forget: forget, description: description(.undo))
                if forget {
                    let quarantined = try (test.store.quarantine.all() + test.store.quarantine.all(state: "rejected")).map(
                        \.stored.uuid)
                    model.quarantined = Set(quarantined)
                }
                story.append("\(ingest): undo \(undone) \(forget)")
                let expected = model.undo(undone, forget: forget, ingest: ingest)
                #expect(count == expected, comment)
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
                story.append("\(ingest.id): import")
                ingests.append(ingest.id)
            }
            #expect(try test.lines() == Set(model.live.values), comment)
        }
        #expect(try test.store.changedUUIDs() == Set(model.live.keys), comment)
        #expect(try test.store.check() == [], comment)
        for identity in model.deleted.keys {
            guard case .deleted = try test.store.samples.lookup(identity) else {
                Issue.record("\(identity) has no tombstone, seed \(seed)")
                continue
            }
        }
        try test.close()
    }
}
