import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Samples from two sources that no import has compared: a repair moved one onto the other, which merges them, an undo restored one next to the
/// other, or both were stored with `--exact`. These are found, and merged on request.
@Suite struct TwoPathMergeTests {
    private func ble() throws -> SampleMaker { try NearDuplicateTests.ble() }
    private func file() throws -> SampleMaker { try NearDuplicateTests.file() }

    private func shift(_ test: TestStore, _ source: String, hours: Int64) throws -> Int64? {
        var conditions = SampleConditions()
        conditions.source = source
        var request = RepairRequest(
            .shift(hours * 3_600_000_000), of: conditions, takesAmbiguous: true, now: TestStore.received)
        request.merging = .atMost(.max)
        return try test.store.repairs.apply(request).repairID
    }

    private func merge(_ test: TestStore) throws -> (ingest: Int64, count: Int) {
        try test.store.duplicates.merge(description: TestStore.description(.merge))
    }

    @discardableResult private func undo(_ ingest: Int64, _ test: TestStore) throws -> Int64 {
        try test.store.ledger.undo(ingest, forget: false, description: TestStore.description(.undo)).ingest
    }

    /// The scale's clock was an hour behind. The maker's file had the right time.
    @Test func aRepairMovesItThere() throws {
        try TestStore.with { test in
            let weights = ["80.15", "80.35", "79.95"]
            try test.keep(weights.enumerated().map { try ble()($1, at: Double($0 * 86_400 + 24)) })
            let right = try zip(["80.2", "80.4", "80.0"], [0, 1, 2]).map { try file()($0, at: Double($1 * 86_400 + 3600)) }
            try test.keep(right)
            #expect(try test.store.check(deep: true) == [])
            let before = try test.lines()
            let last = try test.store.lastChange()
            let repairID = try #require(try shift(test, "ble", hours: 1))
            // The repair merges them, because each is one measurement now.
            #expect(try test.samples().map(\.sample.value) == [80.15, 80.35, 79.95])
            #expect(try test.store.duplicates.duplicateCount(since: last) == 0)
            #expect(try test.store.check(deep: true) == [])
            #expect(try merge(test) == (0, 0))
            let repaired = try test.lines()
            // Importing again brings nothing back.
            #expect(try test.keep(right).account.duplicate == 3)
            #expect(try test.samples().count == 3)
            _ = try test.store.repairs.undo(repairID, at: TestStore.received)
            #expect(try test.lines() == before)
            #expect(try test.store.check(deep: true) == [])
            // The same repair again merges them again.
            let again = try #require(try shift(test, "ble", hours: 1))
            #expect(try test.lines() == repaired)
            #expect(try test.store.check(deep: true) == [])
            _ = try test.store.repairs.undo(again, at: TestStore.received)
            #expect(try test.lines() == before)
        }
    }

    /// A deleted measurement stays deleted when a repair moves its other report next to it, and comes back when the repair is undone.
    @Test func aRepairMovesItToADeletedOne() throws {
        try TestStore.with { test in
            let late = try ble()("80.15", at: 24)
            try test.keep([late])
            let right = try file()("80.2", at: 3600)
            try test.keep([right])
            let repairID = try #require(try shift(test, "ble", hours: 1))
            let live = try #require(try test.identities().first)
            #expect(try test.identities().count == 1)
            _ = try test.store.samples.delete([live], description: TestStore.description(.delete))
            #expect(try test.identities() == [])
            #expect(try test.store.check(deep: true) == [])
            _ = try? test.store.repairs.undo(repairID, at: TestStore.received)
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.identities().count <= 1)
        }
    }

    /// A report that arrives after a repair joins the measurement, because it agrees with the reading as it was reported.
    @Test func aReportAfterARepairJoins() throws {
        try TestStore.with { test in
            let first = try ble()("80.15", at: 24)
            try test.keep([first])
            let repairID = try #require(try shift(test, "ble", hours: 1))
            let other = try file()("80.2", at: 0)
            #expect(try test.keep([other]).outcomes == [[.duplicate]])
            #expect(try test.samples().map(\.sample.start.microseconds) == [first.sample.start.microseconds + 3_600_000_000])
            _ = try test.store.repairs.undo(repairID, at: TestStore.received)
            #expect(try test.identities() == [first.sample.identity])
            #expect(try test.store.duplicates.mergeCandidates() == [])
            // Whichever of the two imports is undone, it is stored once.
            let undone = try undo(1, test)
            #expect(try test.identities() == [other.sample.identity])
            try undo(undone, test)
            #expect(try test.identities() == [first.sample.identity])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// The scale has a report of the app already, so the app's other row is compared with the diary.
    @Test func nextBestSampleIsFound() throws {
        try TestStore.with { test in
            try test.keep([try ble()("80.15", at: 24)])
            try test.keep([try file()("80.2", at: 0)])
            let row = try file()("80.2", at: 0, ordinal: 1)
            try test.keepExactly([row])
            let diary = try SampleMaker(.bodyMass, source: "diary", sourceName: "Diary")("80.25", at: 0)
            try test.keepExactly([diary])
            let pairs = try test.store.duplicates.mergeCandidates()
            #expect(pairs.map { Set([$0.uuid, $0.first]) } == [[row.sample.identity, diary.sample.identity]])
            #expect(try merge(test).count == 1)
            #expect(try test.store.duplicates.mergeCandidates() == [])
        }
    }

    /// Also if a source has more samples than are read at once.
    @Test func eachPairIsListedOnce() throws {
        try TestStore.with { test in
            let times = (0..<8300).map { Double($0 * 3600) }
            try test.keepExactly(try times.map { try ble()("80.15", at: $0 + 24) })
            try test.keepExactly(try times.map { try file()("80.2", at: $0) })
            #expect(try test.store.duplicates.mergeCandidates().count == 8300)
        }
    }

    /// Two weighings within a minute, each reported twice, one of them already a duplicate. The other is not a copy of the first.
    @Test func twoStayTwo() throws {
        try TestStore.with { test in
            try test.keep([try ble()("80.15", at: 24)])
            try test.keep([try file()("80.2", at: 0)])
            try test.keepExactly([try file()("80.2", at: 0, ordinal: 1)])
            #expect(try test.store.duplicates.mergeCandidates() == [])
            try test.keepExactly([try ble()("80.15", at: 40)])
            #expect(try merge(test).count == 1)
            #expect(try test.samples().map(\.sample.value) == [80.15, 80.15])
            // Streams and other devices are not compared.
            let other = try NearDuplicateTests.file(maker: "Other")
            try test.keepExactly([try other("80.2", at: 0)])
            #expect(try test.store.duplicates.mergeCandidates() == [])
        }
    }

    /// What an import that compares makes of two paths is what merging makes of the same, stored without comparing.
    @Test(arguments: [1, 2] as [UInt64]) func mergeEqualsImport(seed: UInt64) throws {
        let pairs = try LabelledPairs.made(2500, seed: seed)
        try TestStore.with { compared in
            try compared.keep(pairs.map(\.first))
            try compared.keep(pairs.map(\.second))
            try TestStore.with { test in
                try test.keepExactly(pairs.map(\.first))
                try test.keepExactly(pairs.map(\.second))
                let both = try test.lines()
                let merged = try merge(test)
                let (own, theirs) = (try test.lines(), try compared.lines())
                let difference = own.symmetricDifference(theirs).count
                #expect(difference <= 4, "\(difference) of \(theirs.count)")
                #expect(merged.count > 1000)
                #expect(try test.store.check(deep: true).filter { !$0.contains("but have duplicates themselves") } == [])
                try undo(merged.ingest, test)
                #expect(try test.lines() == both)
            }
        }
    }

    /// Few weights at few times from two sources are repaired, merged, undone and deleted in any order. The deep check finds only what
    /// merging corrects, after merging no measurement is stored twice, and undoing everything ends at the beginning.
    @Test(arguments: 0..<150 as Range<UInt64>) func mergeSurvivesRandomSteps(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try TestStore.with { test in
            var repairs: [Int64] = []
            var ingests: [Int64] = []
            for step in 0..<30 {
                let comment: Comment = "seed \(seed), step \(step)"
                switch Int.random(in: 0..<9, using: &random) {
                case 0, 1:
                    let maker = try Bool.random(using: &random) ? ble() : file()
                    let isExact = maker.timeResolution == 60
                    let sample = try maker(
                        isExact ? "80.2" : "80.15",
                        at: Double(Int.random(in: 0..<3, using: &random) * 3600 + (isExact ? 0 : 24)))
                    ingests.append(try test.keep([sample]).account.id)
                case 2:
                    let source = Bool.random(using: &random) ? "ble" : "file.Acme"
                    if let repairID = try shift(test, source, hours: Bool.random(using: &random) ? 1 : -1) {
                        repairs.append(repairID)
                    }
                case 3:
                    if let repairID = repairs.randomElement(using: &random) {
                        _ = try? test.store.repairs.undo(repairID, at: TestStore.received)
                    }
                case 4, 5:
                    guard let ingest = ingests.randomElement(using: &random) else { continue }
                    if let undoing = try? undo(ingest, test), undoing > 0 { ingests.append(undoing) }
                case 6:
                    let uuid = try test.identities().randomElement(using: &random)
                    if let uuid {
                        ingests.append(try test.store.samples.delete([uuid], description: TestStore.description(.delete)).ingest)
                    }
                default:
                    let sum = try test.samples().count
                    let merged = try merge(test)
                    if merged.ingest > 0 { ingests.append(merged.ingest) }
                    #expect(try test.samples().count == sum - merged.count, comment)
                    #expect(try test.store.duplicates.mergeCandidates().allSatisfy(\.isLeft), comment)
                }
                let problems = try test.store.check(deep: true).filter { !$0.contains("store merge") }
                let entries = try test.store.ledger.accounts().map { "\($0.id) \($0.kind) \($0.state)" }
                #expect(problems == [], "\(comment): \(entries)")
            }
        }
    }
}
