import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Readings that `import --exact` stored twice in two units are found, and merged if a person asks.
@Suite struct MergeTests {
    private let km: SampleMaker
    private let mile: SampleMaker
    private let metre: SampleMaker

    init() throws {
        (km, mile, metre) = try (
            UnitRepeatTests.maker("distanceWalkingRunning", "km"), UnitRepeatTests.maker("distanceWalkingRunning", "[mi_i]"),
            UnitRepeatTests.maker("distanceWalkingRunning", "m")
        )
    }

    private func sum(_ test: TestStore) throws -> Double { try test.samples().reduce(0) { $0 + $1.sample.value } }

    private func merge(_ test: TestStore) throws -> (ingest: Int64, count: Int) {
        try test.store.duplicates.merge(description: TestStore.description(.merge))
    }

    @discardableResult
    private func undo(_ ingest: Int64, _ test: TestStore, forget: Bool = false) throws -> Int64 {
        try test.store.ledger.undo(ingest, forget: forget, description: TestStore.description(.undo)).ingest
    }

    /// Two readings with three reports each, and one with a single report. The first ones are the most precise.
    private func doubled(_ test: TestStore) throws -> (originals: [GatedSample], others: [GatedSample]) {
        let originals = try [metre("1250", at: 60, lasting: 30), metre("800", at: 120, lasting: 30), metre("800", at: 180)]
        let miles = try [mile("0.777", at: 60, lasting: 30), mile("0.497", at: 120, lasting: 30)]
        let kilometers = try [km("1.25", at: 60, lasting: 30), km("0.8", at: 120, lasting: 30)]
        for batch in [originals, miles, kilometers] { try test.keepExactly(batch) }
        return (originals, miles + kilometers)
    }

    @Test func makesOneOfEach() throws {
        try TestStore.with { test in
            let (originals, others) = try doubled(test)
            let before = try test.lines()
            #expect(try test.store.check() == [])
            let problems = try test.store.check(deep: true)
            #expect(problems.count == 1 && problems.allSatisfy { $0.contains("4 samples") && $0.contains("store merge") })
            let anchor = try test.store.changedUUIDs().count
            #expect(try Set(test.store.duplicates.mergeCandidates().map(\.uuid)) == Set(others.map(\.sample.identity)))
            #expect(try test.lines() == before, "looking changes nothing")

            let merged = try merge(test)
            #expect(merged.count == 4)
            #expect(try Set(test.identities()) == Set(originals.map(\.sample.identity)))
            #expect(try abs(sum(test) - 2850) < 1e-9)
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.store.changedUUIDs().count == anchor - 4, "followers are told of four deletions")
            let explanation = try #require(try test.store.duplicates.explain(others[0].sample.identity))
            #expect(explanation.first?.other.uuid == originals[0].sample.identity && explanation.first?.rule == .unit)
            // Nothing remains to be done, and no import brings the samples back.
            #expect(try merge(test) == (0, 0))
            #expect(try test.keep(others).account.duplicate == 4)
            try test.keepExactly(others)
            #expect(try test.samples().count == 3)
            #expect(thrown(StoreError.self) { try test.restore(others[0]) }?.message.contains("is a duplicate") == true)

            let undone = try undo(merged.ingest, test)
            #expect(try test.lines() == before)
            #expect(try test.store.check() == [])
            try undo(undone, test)
            #expect(try Set(test.identities()) == Set(originals.map(\.sample.identity)))
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Whatever is undone, each measurement is stored once while an import that reported it is active.
    @Test(
        arguments: [
            ([1], 2), ([1, 2], 2), ([2], 3), ([2, 1], 2), ([2, 3, 1], 0), ([3, 1], 2), ([1, 5], 3), ([1, 2, 3], 0), ([2, 5], 3),
            ([2, 4], 5),
        ] as [([Int64], Int)])
    func importsTakenBack(order: [Int64], count: Int) throws {
        try TestStore.with { test in
            _ = try doubled(test)
            #expect(try merge(test).ingest == 4)
            for ingest in order {
                try undo(ingest, test)
                #expect(try test.store.check() == [])
            }
            #expect(try test.samples().count == count, "\(order)")
        }
    }

    /// Undoing a merge declares that they are two: each can be deleted and restored.
    @Test func apartAgain() throws {
        try TestStore.with { test in
            let (originals, others) = try doubled(test)
            let count = originals.count + others.count
            _ = try undo(try merge(test).ingest, test)
            #expect(try test.identities().count == count)
            for sample in [originals[0], others[0]] {
                let uuid = sample.sample.identity
                _ = try test.store.samples.delete([uuid], description: TestStore.description(.delete))
                #expect(try test.identities().count == count - 1)
                _ = try test.store.samples.restore([uuid], description: TestStore.description(.restore))
                #expect(try test.identities().count == count)
                let deleted = try test.store.samples.delete([uuid], description: TestStore.description(.delete)).ingest
                _ = try undo(deleted, test)
                #expect(try test.identities().count == count)
            }
        }
    }

    @Test func importsForgottenReadingsAgain() throws {
        try TestStore.with { test in
            let (_, others) = try doubled(test)
            _ = try merge(test)
            try undo(2, test, forget: true)
            #expect(try test.keep(others).account.duplicate == 4)
            #expect(try test.samples().count == 3)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// The first may have been deleted by a user. The remaining reading is not a copy of it.
    @Test func deletedSampleIsNotOriginal() throws {
        try TestStore.with { test in
            let (first, again) = try (metre("1250", at: 60), mile("0.777", at: 60))
            try test.keepExactly([first])
            try test.keepExactly([again])
            try test.delete(first)
            #expect(try merge(test) == (0, 0))
            #expect(try test.identities() == [again.sample.identity])
            try test.restore(first)
            #expect(try merge(test).count == 1)
            // Deleted stays deleted, in each unit.
            try test.delete(first)
            #expect(try test.keep([first], [again]).account.duplicate == 2)
            #expect(try test.samples().isEmpty)
        }
    }

    /// Each of two readings at one instant matches its own. Two in one unit are two, and other values, ends and times are different
    /// readings.
    @Test func twoStayTwo() throws {
        try TestStore.with { test in
            try test.keepExactly([try km("5.00", at: 0), try km("5.02", at: 0), try km("5.0", at: 60), try km("5.01", at: 60)])
            try test.keepExactly([
                try mile("3.11", at: 0), try mile("3.12", at: 0), try mile("3.12", at: 0, ordinal: 1),
                try mile("3.2", at: 60), try mile("3.11", at: 60, lasting: 1), try mile("3.11", at: 61),
            ])
            #expect(try merge(test).count == 2)
            #expect(try test.samples().count == 8)
            #expect(try merge(test) == (0, 0))
        }
    }

    /// A duplicate of another source's sample was reported in another unit, which became a separate sample. Also with local times.
    @Test func mergesDuplicateInOtherUnit() throws {
        try TestStore.with { test in
            let sensed = try NearDuplicateTests.ble()("80.15", at: 24)
            try test.keep([sensed])
            try test.keep([try NearDuplicateTests.file(unit: "[lb_av]")("176.7", at: 0)])
            try test.keepExactly([try NearDuplicateTests.file()("80.2", at: 0)])
            #expect(try test.samples().count == 2)
            let merged = try merge(test)
            #expect(merged.count == 1)
            #expect(try test.identities() == [sensed.sample.identity])
            try undo(1, test)
            #expect(try test.samples().count == 1)
            #expect(try test.store.check(deep: true) == [])
        }
        try TestStore.with { test in
            try test.keepExactly([try km.local(1)("1.25", at: 60)])
            try test.keepExactly([try mile.local(2)("0.777", at: 60)])
            let merged = try merge(test)
            #expect(try merged.count == 1 && test.samples().count == 1)
            try undo(merged.ingest, test)
            #expect(try test.samples().count == 2)
        }
    }

    /// Samples that agree with others are listed and not merged.
    @Test func doesNotMergeLinkedSamples() throws {
        try TestStore.with { test in
            let again = try NearDuplicateTests.file(unit: "[lb_av]")("176.7", at: 60)
            try test.keepExactly([try NearDuplicateTests.file()("80.15", at: 60)])
            try test.keepExactly([again])
            // It matches only the second: the first has another value with as many digits.
            let rival = try NearDuplicateTests.file(maker: "Rival")("80.13", at: 60)
            try test.keep([rival])
            #expect(try test.store.duplicates.explain(rival.sample.identity)?.linked.map(\.other.uuid) == [again.sample.identity])
            #expect(try test.store.duplicates.mergeCandidates().map(\.isLeft) == [true])
            #expect(try merge(test).count == 0)
            let problems = try test.store.check(deep: true)
            #expect(problems.count == 1 && problems.allSatisfy { $0.contains("1 samples") && $0.contains("store merge") })
        }
    }
}
