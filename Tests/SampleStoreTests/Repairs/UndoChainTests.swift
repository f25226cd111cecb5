import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Undos, undos of undos, and repairs between them. The live samples of measurements from several sources match a dictionary of active
/// imports and applied repairs.
@Suite struct UndoChainTests {
    private static func undo(_ test: TestStore, _ ingest: Int64) throws -> Int64 {
        try test.store.ledger.undo(ingest, forget: false, description: TestStore.description(.undo)).ingest
    }

    /// Moves a source's samples by this many days.
    private static func shift(_ test: TestStore, _ source: String, days: Int64) throws -> Int64? {
        try test.migrate(TestStore.request(.shift(days * 86_400_000_000), .bodyMass) { $0.source = source }).repairID
    }

    private static func state(_ test: TestStore, _ ingest: Int64) throws -> String? {
        try test.store.ledger.account(of: ingest)?.state
    }

    @Test("an import taken back for the second time is undone") func states() throws {
        try TestStore.with { test in
            try test.keep([try NearDuplicateTests.ble()("80.15", at: 24)])
            let taken = try Self.undo(test, 1)
            let back = try Self.undo(test, taken)
            #expect(try [Self.state(test, 1), Self.state(test, taken)] == ["done", "undone"])
            #expect(try Self.undo(test, back) == 4)
            #expect(try test.samples().isEmpty)
            #expect(try [1, 2, 3].map { try Self.state(test, $0) } == ["undone", "done", "undone"])
        }
    }

    @Test("a witness whose import is undone for the second time does not stand in") func duplicateOfUndoneImport() throws {
        try TestStore.with { test in
            let (first, second) = try (NearDuplicateTests.ble()("80.15", at: 24), NearDuplicateTests.file()("80.2", at: 0))
            try test.keep([first])
            try test.keep([second])
            let back = try Self.undo(test, try Self.undo(test, 2))
            #expect(try Self.undo(test, back) > 0)
            _ = try Self.undo(test, 1)
            #expect(try test.identities() == [])
            // The note of a repeated import names the command that restores the samples.
            let notes = try test.keep([second]).account.notes
            #expect(notes.count == 1 && notes[0].contains("'vitalgate ledger undo 5'"), "\(notes)")
            _ = try Self.undo(test, 5)
            #expect(try test.identities() == [second.sample.identity])
        }
    }

    /// A person restored a reading whose imports are undone. Another path's report of it is the first active one and takes its place.
    @Test func reportedAgainAfterARestoration() throws {
        try TestStore.with { test in
            let first = try NearDuplicateTests.ble()("82.15", at: 24)
            let pounds = try NearDuplicateTests.ble(unit: "[lb_av]")("181.1", at: 24)
            let file = try NearDuplicateTests.file()("82.2", at: 0)
            try test.keep([first])
            try test.keep([pounds])
            _ = try Self.undo(test, 1)
            _ = try Self.undo(test, 2)
            _ = try test.store.samples.restore([pounds.sample.identity], description: TestStore.description(.restore))
            #expect(try test.identities() == [pounds.sample.identity])
            #expect(try test.keep([file]).outcomes == [[.stored]])
            #expect(try test.identities() == [file.sample.identity])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// The tombstone of the replacement names the undo that restored the first, and not the one that undid its import.
    @Test func theNumberOfTheUndoing() throws {
        try TestStore.with { test in
            let (first, second) = try (NearDuplicateTests.ble()("80.15", at: 24), NearDuplicateTests.file()("80.2", at: 0))
            try test.keep([first])
            try test.keep([second])
            _ = try Self.undo(test, try Self.undo(test, 1))
            let taken = try Self.undo(test, 2)
            #expect(try test.keep([second]).account.notes == [])
            _ = try Self.undo(test, 1)
            #expect(try test.identities() == [])
            let notes = try test.keep([second]).account.notes
            #expect(notes.count == 1 && notes[0].contains("'vitalgate ledger undo \(taken)'"), "\(notes)")
            _ = try Self.undo(test, taken)
            #expect(try test.identities() == [second.sample.identity])
        }
    }

    /// The imports of the first and second are undone, so the third is live. Then a user restores the second.
    @Test("what was taken back is not restored beside what stands in") func restoresInsteadOfPromotedDuplicate() throws {
        try TestStore.with { test in
            let paths = try (0..<3).map { try Self.sample(0, $0) }
            for path in paths { try test.keep([path]) }
            _ = try Self.undo(test, 1)
            _ = try Self.undo(test, 2)
            #expect(try test.identities() == [paths[2].sample.identity])
            let error = thrown(StoreError.self) { try Self.restore(test, [paths[1]]) }
            #expect(error?.message.contains("is a duplicate of a stored sample") == true)
            #expect(try test.identities() == [paths[2].sample.identity])
            // No report of it remains, so one of the two can be restored.
            _ = try Self.undo(test, 3)
            #expect(throws: StoreError.self) { try Self.restore(test, [paths[1], paths[2]]) }
            try Self.restore(test, [paths[1]])
            #expect(try test.identities() == [paths[1].sample.identity])
            #expect(throws: StoreError.self) { try Self.restore(test, [paths[2]]) }
        }
    }

    /// The same if the first was repaired.
    @Test func refusesRestoringNextToRepairedOriginal() throws {
        try TestStore.with { test in
            let paths = try (0..<2).map { try Self.sample(0, $0) }
            for path in paths { try test.keep([path]) }
            let taken = try Self.undo(test, 1)
            _ = try Self.undo(test, 2)
            #expect(try test.identities().isEmpty)
            _ = try Self.undo(test, taken)
            _ = try Self.shift(test, "ble", days: 1)
            let before = try test.identities()
            #expect(before.count == 1)
            #expect(throws: StoreError.self) { try Self.restore(test, [paths[1]]) }
            #expect(try test.identities() == before)
        }
    }

    /// The reverse: it is restored while it is alone, and then its original is restored.
    @Test(arguments: [1, 3] as [Int64]) func stepsBackThoughItWasTakenBack(returning: Int64) throws {
        try TestStore.with { test in
            let paths = try (0..<3).map { try Self.sample(0, $0) }
            for path in paths { try test.keep([path]) }
            let taken = try [1, 2, 3].map { try ($0, Self.undo(test, $0)) }
            #expect(try test.identities().isEmpty)
            try Self.restore(test, [paths[1]])
            #expect(try test.identities() == [paths[1].sample.identity])
            _ = try Self.undo(test, try #require(taken.first { $0.0 == returning }).1)
            #expect(try test.identities().count == 1)
        }
    }

    /// Reported by another source while it was undone, it is still one measurement after the undo is undone.
    @Test func duplicateReportedDuringUndo() throws {
        try TestStore.with { test in
            let paths = try (0..<2).map { try Self.sample(0, $0) }
            try test.keep([paths[0]])
            let taken = try Self.undo(test, 1)
            let account = try test.keep([paths[1]]).account
            #expect((account.stored, account.duplicate) == (1, 0))
            #expect(try test.identities() == [paths[1].sample.identity])
            _ = try Self.undo(test, taken)
            #expect(try test.identities() == [paths[0].sample.identity])
            _ = try Self.undo(test, 1)
            #expect(try test.identities() == [paths[1].sample.identity])
            _ = try Self.undo(test, account.id)
            #expect(try test.identities() == [])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// The live duplicate is not the original: a further duplicate is compared with the original.
    @Test func comparesFurtherDuplicateWithOriginal() throws {
        try TestStore.with { test in
            let paths = try (0..<3).map { try Self.sample(0, $0) }
            try test.keep([paths[0]])
            try test.keep([paths[1]])
            let taken = try Self.undo(test, 1)
            #expect(try test.keep([paths[2]]).account.duplicate == 1)
            _ = try Self.undo(test, 2)
            #expect(try test.identities() == [paths[2].sample.identity])
            _ = try Self.undo(test, taken)
            #expect(try test.identities() == [paths[0].sample.identity])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Of each measurement there is one sample as long as an import of it holds, and none else, whenever it came.
    @Test(arguments: 0..<60 as Range<UInt64>) func oneSamplePerMeasurementWithActiveImport(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try TestStore.with { test in
            let known = try (0..<2).map { measurement in try (0..<3).map { try Self.sample(measurement, $0) } }
            var ingestIDs: [SampleIdentity: Int64] = [:]
            var ingests: [Int64] = []
            for step in 0..<40 {
                let sample = known[Int.random(in: 0..<2, using: &random)][Int.random(in: 0..<3, using: &random)]
                if Int.random(in: 0..<3, using: &random) == 0 {
                    let ingest = try test.keep([sample]).account.id
                    ingests.append(ingest)
                    if ingestIDs[sample.sample.identity] == nil { ingestIDs[sample.sample.identity] = ingest }
                } else if let ingest = ingests.randomElement(using: &random),
                    let undoing = try? Self.undo(test, ingest), undoing > 0
                {
                    ingests.append(undoing)
                }
                let live = try Set(test.identities())
                for repeats in known {
                    let holding = try repeats.filter { properties in
                        try ingestIDs[properties.sample.identity].map { try Self.state(test, $0) == "done" } ?? false
                    }
                    let there = repeats.filter { live.contains($0.sample.identity) }
                    #expect(there.count == min(1, holding.count), "seed \(seed), step \(step)")
                    #expect(there.first?.sample.identity == holding.first?.sample.identity, "seed \(seed), step \(step)")
                }
            }
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Whatever a user imports, undoes, deletes and restores of a measurement from three sources, it is stored at most once.
    @Test(arguments: 0..<60 as Range<UInt64>) func neverTwice(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try TestStore.with { test in
            let known = try (0..<2).map { measurement in try (0..<3).map { try Self.sample(measurement, $0) } }
            var ingests: [Int64] = []
            for _ in 0..<40 {
                let sample = known[Int.random(in: 0..<2, using: &random)][Int.random(in: 0..<3, using: &random)]
                let uuid = sample.sample.identity
                switch Int.random(in: 0..<5, using: &random) {
                case 0: ingests.append(try test.keep([sample]).account.id)
                case 1, 2:
                    guard let ingest = ingests.randomElement(using: &random) else { continue }
                    if let undoing = try? Self.undo(test, ingest), undoing > 0 { ingests.append(undoing) }
                case 3:
                    let deleted = try? test.store.samples.delete([uuid], description: TestStore.description(.delete))
                    if let deleted { ingests.append(deleted.ingest) }
                default:
                    let restored = try? test.store.samples.restore([uuid], description: TestStore.description(.restore))
                    if let restored { ingests.append(restored.ingest) }
                }
                let live = try Set(test.identities())
                for repeats in known { #expect(repeats.count { live.contains($0.sample.identity) } <= 1, "seed \(seed)") }
            }
            #expect(try test.store.check(deep: true) == [])
        }
    }

    private static func restore(_ test: TestStore, _ samples: [GatedSample]) throws {
        _ = try test.store.samples.restore(samples.map(\.sample.identity), description: TestStore.description(.restore))
    }

    @Test("an undoing is not undone while what it gave back is repaired") func refusesUndoAfterRepair() throws {
        try TestStore.with { test in
            try test.keep([try NearDuplicateTests.ble()("80.15", at: 24)])
            let back = try Self.undo(test, try Self.undo(test, 1))
            let repairID = try #require(try Self.shift(test, "ble", days: 1))
            let error = thrown(StoreError.self) { _ = try Self.undo(test, back) }
            #expect(error?.message.contains("repair undo \(repairID)") == true)
            #expect(try test.samples().count == 1)
        }
    }

    /// A repair of the live duplicate, undone after the first was restored.
    @Test func aRepairedStandInSteppedBack() throws {
        try TestStore.with { test in
            let (first, second) = try (NearDuplicateTests.ble()("80.15", at: 24), NearDuplicateTests.file()("80.2", at: 0))
            try test.keep([first])
            try test.keep([second])
            let taken = try Self.undo(test, 1)
            let repairID = try #require(try Self.shift(test, "file.Acme", days: 1))
            // The repair applies to the measurement, so it follows to the first report.
            let back = try Self.undo(test, taken)
            let moved = try test.samples().map(\.sample)
            #expect(moved.map(\.numeral.text) == ["80.15"])
            #expect(moved.map(\.start.microseconds) == [first.sample.start.microseconds + 86_400_000_000])
            #expect(thrown(StoreError.self) { _ = try Self.undo(test, 1) } != nil)
            try test.undo(repairID)
            #expect(try test.identities() == [first.sample.identity])
            _ = try Self.undo(test, back)
            #expect(try test.identities() == [second.sample.identity])
            _ = try Self.undo(test, 2)
            #expect(try test.identities() == [])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// The measurement is live, so there is nothing to restore.
    @Test func refusesRestoringLiveMeasurement() throws {
        try TestStore.with { test in
            let (first, second) = try (NearDuplicateTests.ble()("80.15", at: 24), NearDuplicateTests.file()("80.2", at: 0))
            try test.keep([first])
            try test.keep([second])
            _ = try Self.undo(test, 1)
            #expect(thrown(StoreError.self) { try test.restore(first) }?.message.contains("is a duplicate") == true)
            #expect(try test.identities() == [second.sample.identity])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    private static func makers() throws -> [SampleMaker] {
        var site = try NearDuplicateTests.file(unit: "[lb_av]")
        site.origin = Origin(
            person: site.origin.person, type: .bodyMass, source: SourceRevision(id: "site.Acme", name: "Acme site"),
            device: site.origin.device)
        // The most precise one first.
        return [try NearDuplicateTests.ble(), site, try NearDuplicateTests.file()]
    }

    private static func sample(_ measurement: Int, _ path: Int) throws -> GatedSample {
        let hundredths = 8015 + measurement * 100
        let pounds = (Double(hundredths) / 100 / 0.45359237 * 10).rounded() / 10
        let numerals = ["\(hundredths / 100).15", "\(pounds)", "\(hundredths / 100).2"]
        return try makers()[path](numerals[path], at: Double(measurement * 3600) + (path == 0 ? 24 : 0))
    }
}
