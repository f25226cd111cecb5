import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A computed sample is live while all samples that it was computed from are live.
@Suite struct DerivedSampleTests {
    private static let other = "0d0c5f39-6f55-4b55-a0a5-0f31a3a3c6a2"

    /// A weight of entry 1, an impedance and a height of entry 2, and the fat-free mass that was computed from the three.
    fileprivate struct Estimated {
        let weight, impedance, height, estimate: GatedSample
        var inputs: [GatedSample] { [weight, impedance, height] }
    }

    private static func maker(_ id: String, _ source: String, of person: String) throws -> SampleMaker {
        try SampleMaker(#require(SampleType(id)), source: source, person: person)
    }

    private static func fill(_ test: TestStore, of person: String = TestStore.person) throws -> Estimated {
        let estimated = Estimated(
            weight: try maker("bodyMass", "scale", of: person)("80.25", at: 10),
            impedance: try maker("bodyImpedance", "scale", of: person)("517.25", at: 10),
            height: try maker("height", "app", of: person)("1.8125", at: 0),
            estimate: try maker("fatFreeMass", "estimate.sun-2003", of: person)(
                "61.4375", at: 10, metadata: Metadata([("note", .string("of 80.25 kg and 517.25 Ohm"))])))
        try test.keep([estimated.weight])
        try test.keep([estimated.impedance, estimated.height])
        try save(estimated.estimate, from: estimated.inputs.map(\.sample.identity), in: test)
        return estimated
    }

    private static func save(_ estimate: GatedSample, from inputs: [SampleIdentity], in test: TestStore) throws {
        _ = try test.store.samples.save(
            [estimate], as: IngestDescription(kind: .save, name: "estimates", received: 0, comparesPaths: false),
            within: 0..<1, from: [inputs])
    }

    /// A change of one input.
    enum Change: CaseIterable {
        case repairWeight, reassignWeight, repairHeight, deleteImpedance, deleteWeights, undoImport

        fileprivate func make(_ test: TestStore, _ estimated: Estimated) throws -> Reversal {
            switch self {
            case .repairWeight: try repair(.scale(Numeral("0.5")), .bodyMass, test)
            case .reassignWeight: try repair(.person(DerivedSampleTests.other), .bodyMass, test)
            case .repairHeight: try repair(.shift(3_600_000_000), SampleType("height"), test)
            case .deleteImpedance: .entry(try test.delete(estimated.impedance))
            case .deleteWeights:
                .entry(
                    try test.store.samples.delete(
                        matching: SampleQuery(types: [.bodyMass, .heartRate]), description: TestStore.description(.delete)
                    ).ingest)
            case .undoImport:
                .entry(try test.store.ledger.undo(1, forget: false, description: TestStore.description(.undo)).ingest)
            }
        }

        private func repair(_ repair: Repair, _ type: SampleType?, _ test: TestStore) throws -> Reversal {
            .repair(try #require(try test.migrate(TestStore.request(repair, type, ambiguous: true)).repairID))
        }
    }

    /// What takes a change back.
    fileprivate enum Reversal {
        case entry(Int64)
        case repair(Int64)

        func make(_ test: TestStore) throws {
            switch self {
            case .entry(let entry):
                _ = try test.store.ledger.undo(entry, forget: false, description: TestStore.description(.undo))
            case .repair(let repairID): try test.undo(repairID)
            }
        }
    }

    private static func isLive(_ sample: GatedSample, _ test: TestStore) throws -> Bool {
        try test.identities().contains(sample.sample.identity)
    }

    /// The final content of a reader of the change log.
    private static func replayed(_ test: TestStore) throws -> Set<SampleIdentity> {
        var known: Set<SampleIdentity> = []
        try test.store.changes.read(after: .beginning, types: nil) { change, _ in
            switch change {
            case .added(let stored): known.insert(stored.uuid)
            case .deleted(let deletion): known.remove(deletion.sample.identity)
            }
        }
        return known
    }

    @Test(arguments: Change.allCases, [1, 1024]) func estimatesFollowTheirInputs(change: Change, stepRows: Int) throws {
        try TestStore.with { test in
            // With other samples, so that the change needs several transactions if a step has one row.
            try test.store.stepRows = stepRows
            let estimated = try Self.fill(test)
            try test.keep(try (0..<3).map { try SampleMaker()("6\($0)", at: Double($0)) })
            #expect(try Self.isLive(estimated.estimate, test))
            for _ in 0..<2 {
                let reversal = try change.make(test, estimated)
                #expect(try !Self.isLive(estimated.estimate, test))
                #expect(try Self.replayed(test) == Set(test.identities()))
                #expect(try test.store.check(deep: true) == [])
                try reversal.make(test)
                #expect(try Self.isLive(estimated.estimate, test))
                #expect(try Self.replayed(test) == Set(test.identities()))
                #expect(try test.store.check(deep: true) == [])
            }
        }
    }

    /// The estimate of the repaired weight is deleted with the repair, and the earlier one is restored.
    @Test func undoingRepairRestoresEstimate() throws {
        try TestStore.with { test in
            let estimated = try Self.fill(test)
            let repair = try #require(
                try test.migrate(TestStore.request(.scale(Numeral("0.5")), .bodyMass, ambiguous: true)).repairID)
            let weight = try #require(try test.pairs(of: repair)[estimated.weight.sample.identity])
            let second = try Self.maker("fatFreeMass", "estimate.sun-2003", of: TestStore.person)("33.5", at: 10)
            try Self.save(
                second, from: [weight, estimated.impedance.sample.identity, estimated.height.sample.identity], in: test)
            #expect(try Self.isLive(second, test))
            #expect(try !Self.isLive(estimated.estimate, test))
            try test.undo(repair)
            #expect(try !Self.isLive(second, test))
            #expect(try Self.isLive(estimated.estimate, test))
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// A person's deletion of the estimate itself outlives every change of its inputs.
    @Test func aDeletedEstimateStaysDeleted() throws {
        try TestStore.with { test in
            let estimated = try Self.fill(test)
            try test.delete(estimated.estimate)
            try test.delete(estimated.weight)
            try test.restore(estimated.weight)
            #expect(try !Self.isLive(estimated.estimate, test))
        }
    }

    /// The metadata of an estimate contains the weight and the impedance.
    @Test(arguments: [false, true]) func erasureRemovesEstimates(isReassigned: Bool) throws {
        try TestStore.with { test in
            let estimated = try Self.fill(test, of: Self.other)
            // An estimate that was reassigned is still about the weight of this person.
            if isReassigned {
                _ = try test.migrate(
                    TestStore.request(.person(TestStore.person), SampleType("fatFreeMass"), ambiguous: true))
            }
            let all = try test.identities()
            #expect(all.count == 4)
            _ = try test.store.erasure.erase(Self.other, at: TestStore.later)
            #expect(try test.identities() == [])
            let left = try ErasureTests.bytes(test)
            for identity in all + [estimated.estimate.sample.identity] { #expect(!left.contains(identity.storedHash)) }
            #expect(!left.contains(Array("80.25 kg".utf8)))
            #expect(try test.store.check(deep: true) == [])
        }
    }
}
