import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Weighings of two people, and unassigned ones, on a coarse grid, from two sources: stored, quarantined, reassigned, moved, merged,
/// deleted and undone in any order. Then a person is erased. Nothing of them remains, the others do not change, and the store keeps
/// working.
@Suite struct RandomErasureTests {
    private static let people = [ErasedPerson.person, TestStore.person, Origin.unassigned]

    private struct Family {
        let test: TestStore
        var random: SeededGenerator
        var repairs: [Int64] = []
        var ingests: [Int64] = []
        private var number = 0
        /// A sample that is imported after an erasure belongs to a new person. A correction that reassigned it before does so a second
        /// time.
        var erasures = 0

        init(_ test: TestStore, seed: UInt64) { (self.test, random) = (test, SeededGenerator(seed: seed)) }

        mutating func choose<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

        private mutating func sample() throws -> GatedSample {
            let (person, isFile) = (choose(RandomErasureTests.people), choose([true, false]))
            var maker = try SampleMaker(
                .bodyMass, source: isFile ? "file.Acme" : "ble", sourceName: isFile ? "Acme app" : "Scale",
                device: isFile ? Device(key: "Acme", manufacturer: "Acme") : NearDuplicateTests.scale, person: person)
            maker.timeResolution = isFile ? 60 : 1
            number += 1
            let note = choose([nil, nil, Metadata([("note", .string("the weighing \(1000 + number)"))])])
            return try maker(
                "\(80 + erasures).\(isFile ? "2" : "15")", at: Double(choose([0, 1, 2]) * 3600 + (isFile ? 0 : 24)),
                metadata: note,
                rule: choose([nil, nil, nil, .implausible]))
        }

        private mutating func anySample() throws -> SampleIdentity? {
            let all = try test.identities()
            return all.isEmpty ? nil : choose(all)
        }

        mutating func step() throws {
            let store = try test.store
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1, 2, 3: ingests.append(try test.keep([try sample()]).account.id)
            case 4:
                var conditions = SampleConditions()
                conditions.source = choose(["ble", "file.Acme"])
                var request = RepairRequest(
                    .shift(choose([1, -1]) * 3_600_000_000), of: conditions, takesAmbiguous: true, now: TestStore.received)
                request.merging = .atMost(.max)
                if let repairID = try store.repairs.apply(request).repairID { repairs.append(repairID) }
            case 5, 6:
                guard let uuid = try anySample() else { return }
                let assigned = try store.people.assign([uuid], to: choose(RandomErasureTests.people), now: TestStore.received)
                if let repairID = assigned.repairID { repairs.append(repairID) }
            case 7:
                guard !repairs.isEmpty else { return }
                _ = try? store.repairs.undo(choose(repairs), at: TestStore.received)
            case 8:
                guard !ingests.isEmpty else { return }
                let undone = try? store.ledger.undo(
                    choose(ingests), forget: choose([true, false]), description: TestStore.description(.undo))
                if let undone, undone.ingest > 0 { ingests.append(undone.ingest) }
            case 9:
                guard let uuid = try anySample() else { return }
                ingests.append(try store.samples.delete([uuid], description: TestStore.description(.delete)).ingest)
            case 10:
                let quarantined = try store.connection.integer("SELECT id FROM quarantine WHERE state = 'held' LIMIT 1")
                guard let quarantined else { return }
                let decided =
                    choose([true, false])
                    ? try? store.quarantine.accept([quarantined], description: TestStore.description(.accept)).ingest
                    : try store.quarantine.reject([quarantined], description: TestStore.description(.reject)).ingest
                if let decided { ingests.append(decided) }
            default:
                let merged = try store.duplicates.merge(description: TestStore.description(.merge))
                if merged.ingest > 0 { ingests.append(merged.ingest) }
            }
        }
    }

    /// Finds nothing wrong, except what merging would correct.
    private func expectSound(_ test: TestStore, _ comment: Comment) throws {
        let problems = try test.store.check(deep: true).filter { !$0.contains("store merge") }
        #expect(problems == [], comment)
    }

    /// The schema contains words such as `applied`.
    private func schema(_ test: TestStore) throws -> String {
        try test.store.connection.text("SELECT group_concat(sql) FROM sqlite_master") ?? ""
    }

    private func others(_ test: TestStore) throws -> Set<String> {
        Set(try test.samples().filter { $0.sample.origin.person != ErasedPerson.person }.map { TestStore.line($0.sample) })
    }

    @Test(arguments: 0..<60 as Range<UInt64>) func erasesAfterRandomSteps(seed: UInt64) throws {
        try TestStore.with { test in
            var family = Family(test, seed: seed)
            for round in 0..<2 {
                let comment: Comment = "seed \(seed), round \(round)"
                for _ in 0..<25 { try family.step() }
                try expectSound(test, comment)
                let (others, cells) = (try others(test), try ErasureTests.cells(test))
                _ = try test.store.erasure.erase(ErasedPerson.person, at: TestStore.later)
                family.erasures += 1
                #expect(try self.others(test) == others, comment)
                try expectSound(test, comment)
                #expect(try test.store.erasure.counts(of: ErasedPerson.person).isEmpty, comment)
                let (after, left) = (try ErasureTests.cells(test), try ErasureTests.bytes(test))
                let schema = Array(try schema(test).utf8)
                for cell in cells.subtracting(after)
                where !after.contains(where: { $0.contains(cell) }) && !schema.contains(cell) && left.contains(cell)
                    && !cell.allSatisfy({ $0 == 0 })
                {
                    Issue.record("\(comment), still there: \(cell)")
                }
                let isNamed = left.contains(Array(ErasedPerson.person.utf8))
                #expect(!isNamed, comment)
                // A reader of all changes from the beginning has the current samples.
                var replayed: Set<SampleIdentity> = []
                try test.store.changes.read(after: .beginning, types: nil) { change, _ in
                    switch change {
                    case .added(let stored): replayed.insert(stored.uuid)
                    case .deleted(let deletion): replayed.remove(deletion.uuid)
                    }
                }
                #expect(try replayed == Set(test.identities()), comment)
            }
            for _ in 0..<15 {
                try family.step()
                try expectSound(test, "seed \(seed)")
            }
        }
    }
}
