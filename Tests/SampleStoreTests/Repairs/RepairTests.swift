import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

extension TestStore {
    static let later = Instant(microseconds: received.microseconds + 3_600_000_000)

    /// A repair of all samples of a type.
    static func request(
        _ repair: Repair, _ type: SampleType? = nil, ambiguous: Bool = false,
        _ change: (inout SampleConditions) -> Void = { _ in }
    ) -> RepairRequest {
        var conditions = SampleConditions(types: type.map { [$0] })
        change(&conditions)
        return RepairRequest(repair, of: conditions, takesAmbiguous: ambiguous, now: later)
    }

    @discardableResult
    func migrate(_ request: RepairRequest) throws -> (plan: RepairPlan, repairID: Int64?) {
        try store.repairs.apply(request)
    }

    @discardableResult
    func undo(_ repairID: Int64) throws -> Int { try store.repairs.undo(repairID, at: Self.later).count }

    /// From each old UUID to the new one.
    func pairs(of repairID: Int64) throws -> [SampleIdentity: SampleIdentity] {
        var pairs: [SampleIdentity: SampleIdentity] = [:]
        try store.repairs.forEachPair(of: repairID) { pairs[$0.old] = $0.new }
        return pairs
    }
}

@Suite struct RepairTests {
    static let fahrenheit = Repair.unit(known("[degF]"))

    static func known(_ code: String) -> HealthModel.Unit {
        (try? HealthModel.Unit(ucum: code)) ?? .one
    }

    /// The samples of a thermometer app: 98 °F as 98 °C on some phones, right on the others.
    private static func thermometer() throws -> (wrong: [GatedSample], right: [GatedSample]) {
        let app = try SampleMaker(.bodyTemperature, source: "app", sourceName: "Thermo")
        let english = try SampleMaker(.bodyTemperature, source: "app", sourceName: "Thermo", unit: "[degF]")
        return (
            [try app("98", at: 0), try app("98.60", at: 60), try app("104.5", at: 120)],
            [try app("36.6", at: 30), try app("40.2", at: 90), try english("98", at: 150), try app("36.60", at: 180)]
        )
    }

    @Test("what the conditions leave out may be more than is looked at together") func manyLeftOut() throws {
        try TestStore.with { test in
            let app = try SampleMaker(.bodyTemperature, source: "app")
            try test.keep(try (0..<RepairReader.chunk + 8).map { try app("36.6", at: Double($0) * 60) })
            let wrong = try app("98.6", at: Double(RepairReader.chunk + 8) * 60)
            try test.keep([wrong])
            let request = TestStore.request(Self.fahrenheit, .bodyTemperature) {
                $0.condition = try? SamplePredicate("value > 50")
            }
            #expect(try test.store.repairs.plan(request).repaired == 1)
            #expect(try test.migrate(request).plan.matched == 1)
        }
    }

    @Test("the thermometer that stored 98 for °F as 98 °C in some locales only") func theSeedCase() throws {
        try TestStore.with { test in
            let (wrong, right) = try Self.thermometer()
            try test.keep(wrong + right)
            let plan = try test.store.repairs.plan(TestStore.request(Self.fahrenheit, .bodyTemperature))
            #expect(plan.matched == 7 && plan.repaired == 3)
            #expect(plan.left == [.alreadyPlausible: 3, .hasTheUnit: 1])
            #expect(try test.identities() == (wrong + right).map(\.sample.identity).sorted())

            let repairID = try #require(try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature)).repairID)
            let pairs = try test.pairs(of: repairID)
            #expect(Set(pairs.keys) == Set(wrong.map(\.sample.identity)))
            let samples = try test.samples().map(\.sample)
            #expect(samples.count == 7)
            let celsius = ["98": 36.666666666666664, "98.60": 37, "104.5": 40.27777777777778]
            for old in wrong {
                let new = try #require(samples.first { $0.identity == pairs[old.sample.identity] })
                #expect(new.value == celsius[old.sample.numeral.text])
                #expect(new.numeral.text == old.sample.numeral.text && new.unit.code == "[degF]")
                #expect(new.start == old.sample.start && new.received == old.sample.received)
                guard case .deleted(_, let replacement?)? = try test.store.samples.lookup(old.sample.identity) else {
                    Issue.record("the old UUID does not lead to the new one")
                    continue
                }
                #expect(replacement == new.identity.description)
            }
            for untouched in right { #expect(samples.contains { $0.identity == untouched.sample.identity }) }

            // The old file again: nothing changes, and the report explains it.
            let (outcomes, account) = try test.keep(wrong + right)
            #expect(outcomes[0].allSatisfy { $0 == .duplicate })
            #expect(account.stored == 0 && account.duplicate == 7)
            #expect(account.notes.joined().contains("3 of the duplicates were repaired"))
            // The file as the app writes it today, in the right unit: the same readings.
            let english = try SampleMaker(.bodyTemperature, source: "app", sourceName: "Thermo", unit: "[degF]")
            let again = [try english("98", at: 0), try english("98.60", at: 60), try english("104.5", at: 120)]
            #expect(try test.keep(again).outcomes[0] == [.duplicate, .duplicate, .duplicate])
        }
    }

    @Test func theSameRepairAgainFindsNothing() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.stepCount)
            try test.keep([try maker("100", at: 0), try maker("200", at: 5)])
            for repair in [Repair.shift(3_600_000_000), .scale(try Numeral("10"))] {
                let request = TestStore.request(repair, .stepCount, ambiguous: true)
                #expect(try test.migrate(request).plan.repaired == 2)
                let lines = try test.lines()
                let seq = try test.store.lastChange()
                let again = try test.migrate(request)
                #expect(again.repairID == nil && again.plan.left == [.repairedBefore: 2])
                #expect(try test.lines() == lines)
                #expect(try test.store.lastChange() == seq)
            }
        }
    }

    @Test func undoGivesTheVerySameSamples() throws {
        try TestStore.with { test in
            let (wrong, right) = try Self.thermometer()
            try test.keep(wrong, right)
            let before = try test.lines()
            let request = TestStore.request(Self.fahrenheit, .bodyTemperature)
            let first = try #require(try test.migrate(request).repairID)
            let repaired = try test.lines()
            #expect(try test.undo(first) == 3)
            #expect(try test.lines() == before)
            #expect(try test.samples().allSatisfy { $0.ingest == 1 })
            #expect(throws: StoreError.self) { try test.undo(first) }
            // And again: the same new UUIDs as the first time.
            let second = try #require(try test.migrate(request).repairID)
            #expect(try test.lines() == repaired)
            #expect(try test.undo(second) == 3)
            #expect(try test.lines() == before)
            #expect(try test.store.repairs.all().map(\.state) == ["undone", "undone"])
        }
    }

    /// A reader sees each deletion immediately followed by the addition, with any anchor.
    @Test func changesComeInPairs() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bodyTemperature)
            try test.keep(try (0..<3000).map { try maker("9\($0 % 10)", at: Double($0)) })
            let anchor = try test.store.lastChange()
            #expect(try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature)).plan.repaired == 3000)
            for start in [anchor, anchor + 777, anchor + 2048] {
                var last = start
                var expected: String?
                try test.store.changes.read(after: start, types: nil) { change in
                    #expect(change.seq == last + 1)
                    last = change.seq
                    switch change {
                    case .deleted(let deletion): expected = deletion.replacedBy
                    case .added(let stored):
                        if let expected { #expect(stored.uuid.description == expected) }
                        expected = nil
                    }
                }
                #expect(last == anchor + 6000)
            }
        }
    }

    @Test func aRepairedSampleIsRepairedAgain() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bodyTemperature)
            let old = try maker("98", at: 0)
            try test.keep([old])
            let before = try test.lines()
            let first = try #require(try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature)).repairID)
            let second = try #require(try test.migrate(TestStore.request(.shift(-60_000_000), .bodyTemperature)).repairID)
            let sample = try #require(try test.samples().first?.sample)
            #expect(sample.value == 36.666666666666664 && sample.timeOrigin == .deviceCorrected)
            #expect(sample.start.microseconds == old.sample.start.microseconds - 60_000_000)
            #expect(sample.received == old.sample.received)
            // In reverse order only.
            let error = thrown(StoreError.self) { try test.undo(first) }
            #expect(error?.message.contains("repair undo \(second)") == true)
            #expect(try test.keep([old]).outcomes[0] == [.duplicate])
            try test.undo(second)
            try test.undo(first)
            #expect(try test.lines() == before)
        }
    }

    @Test func twoHubsMakeTheSameSample() throws {
        let maker = try SampleMaker(.bodyTemperature)
        let identities = try (0..<2).map { hub in
            try TestStore.with { test in
                try test.keep([try maker("98", at: 0)], received: Instant(seconds: 1_795_156_260 + Int64(hub)))
                try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature))
                return try test.identities()
            }
        }
        #expect(identities[0] == identities[1])
        // Never changes: computed once by another implementation of SipHash and SHA-256.
        #expect(identities[0].map(\.description) == ["019b76da-a800-8a7f-9126-fc21dbbcaeab"])
    }

    @Test func theRightReadingWasThereAlready() throws {
        try TestStore.with { test in
            let wrong = try SampleMaker(.bodyTemperature)("98", at: 0)
            let right = try SampleMaker(.bodyTemperature, unit: "[degF]")("98", at: 0)
            try test.keep([wrong, right])
            var request = TestStore.request(Self.fahrenheit, .bodyTemperature)
            // There would be one reading less, so nothing is done without confirmation.
            let seq = try test.store.lastChange()
            #expect(thrown(FewerReadings.self) { try test.migrate(request) }?.plan.merged == 1)
            #expect(try test.store.lastChange() == seq && test.store.repairs.all().isEmpty)
            request.merging = .atMost(1)
            let (plan, repairID) = try test.migrate(request)
            #expect(plan.merged == 1 && plan.repaired == 0)
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.identities() == [right.sample.identity])
            guard case .deleted(_, let replacement?)? = try test.store.samples.lookup(wrong.sample.identity) else {
                Issue.record("the wrong one is not replaced")
                return
            }
            #expect(replacement == right.sample.identity.description)
            #expect(try test.undo(try #require(repairID)) == 1)
            #expect(Set(try test.identities()) == [wrong.sample.identity, right.sample.identity])
        }
    }

    @Test("a merged reading comes back also where the one that it made way for was deleted") func mergedThenDeleted() throws {
        try TestStore.with { test in
            let wrong = try SampleMaker(.bodyTemperature)("98", at: 0)
            let right = try SampleMaker(.bodyTemperature, unit: "[degF]")("98", at: 0)
            try test.keep([wrong, right])
            var request = TestStore.request(Self.fahrenheit, .bodyTemperature)
            request.merging = .atMost(1)
            let repairID = try #require(try test.migrate(request).repairID)
            try test.delete(right)
            #expect(try test.undo(repairID) == 1)
            #expect(try test.identities() == [wrong.sample.identity])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test func deletedStaysDeleted() throws {
        try TestStore.with { test in
            let (wrong, _) = try Self.thermometer()
            try test.keep(wrong)
            let repairID = try #require(try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature)).repairID)
            let pairs = try test.pairs(of: repairID)
            let deleted = try #require(pairs[wrong[0].sample.identity])
            try test.store.samples.delete([deleted], description: TestStore.description(.delete))
            // The old one is restored neither by itself nor by undoing the repair.
            #expect(throws: StoreError.self) { try test.restore(wrong[0]) }
            #expect(try test.keep(wrong).account.stored == 0)
            #expect(try test.undo(repairID) == 2)
            #expect(Set(try test.identities()) == Set(wrong.dropFirst().map(\.sample.identity)))
            // The deletion is about the reading, which is again in its state before the repair.
            #expect(throws: StoreError.self) {
                try test.store.samples.restore([deleted], description: TestStore.description(.restore))
            }
            try test.restore(wrong[0])
            #expect(Set(try test.identities()) == Set(wrong.map(\.sample.identity)))
        }
    }

    /// The right reading was deleted by a person: repairing the wrong one would bring it back.
    @Test func doesNotRestoreDeletedReading() throws {
        try TestStore.with { test in
            let wrong = try SampleMaker(.bodyTemperature)("98", at: 0)
            let right = try SampleMaker(.bodyTemperature, unit: "[degF]")("98", at: 0)
            try test.keep([wrong, right])
            try test.delete(right)
            let (plan, repairID) = try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature))
            #expect(plan.left == [.deletedAlready: 1] && repairID == nil)
        }
    }

    @Test func refusesUndoWithDependentRepair() throws {
        try TestStore.with { test in
            let (wrong, _) = try Self.thermometer()
            let ingest = try test.keep(wrong).account.id
            let repairID = try #require(try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature)).repairID)
            let entry = try #require(try test.store.repairs.repair(repairID)?.ingest)
            let description = TestStore.description(.undo)
            for forget in [false, true] {
                let error = thrown(StoreError.self) {
                    try test.store.ledger.undo(ingest, forget: forget, description: description)
                }
                #expect(error?.message.contains("repair undo \(repairID)") == true)
            }
            #expect(throws: StoreError.self) { try test.store.ledger.undo(entry, forget: true, description: description) }
            #expect(throws: StoreError.self) { try test.restore(wrong[1]) }
            // The ledger's way to the same undoing.
            #expect(try test.store.ledger.undo(entry, forget: false, description: description).count == 3)
            #expect(try test.store.repairs.repair(repairID)?.state == "undone")
            let undoing = try #require(try test.store.repairs.repair(repairID)?.undoneBy)
            #expect(throws: StoreError.self) { try test.store.ledger.undo(undoing, forget: false, description: description) }
            #expect(try test.store.ledger.undo(ingest, forget: true, description: description).count == 3)
            #expect(try test.keep(wrong).account.stored == 3)
        }
    }

    /// A record's higher version replaces the lower one also when that was repaired.
    @Test func aRecordsNextVersion() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bodyTemperature)
            let first = try maker("98", at: 0, record: RecordIdentifier(id: "r", version: 1))
            let second = try maker("36.7", at: 0, record: RecordIdentifier(id: "r", version: 2))
            try test.keep([first])
            try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature))
            let repaired = try test.identities()
            let ingest = try test.keep([second]).account.id
            #expect(try test.identities() == [second.sample.identity])
            #expect(throws: StoreError.self) {
                try test.store.samples.restore(repaired, description: TestStore.description(.restore))
            }
            try test.store.ledger.undo(ingest, forget: false, description: TestStore.description(.undo))
            #expect(try test.identities() == repaired)
        }
    }

    @Test func aFailureLeavesNothing() throws {
        try TestStore.with { test in
            let (wrong, right) = try Self.thermometer()
            try test.keep(wrong + right)
            let before = try test.lines()
            // The last statement of a repair fails.
            try test.execute("CREATE TRIGGER fail BEFORE INSERT ON migration BEGIN SELECT raise(ABORT, 'no'); END")
            #expect(throws: StoreError.self) { try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature)) }
            try test.execute("DROP TRIGGER fail")
            #expect(try test.lines() == before)
            #expect(try test.store.ledger.accounts().count == 1)
            #expect(try test.migrate(TestStore.request(Self.fahrenheit, .bodyTemperature)).plan.repaired == 3)
        }
    }
}
