import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// One source reports few readings in four forms (two units, two resolutions), in any order, with and without comparison, between undos,
/// deletions and merges.
@Suite struct UnitRepeatPropertyTests {
    @Test(arguments: Array(1...120) as [UInt64]) func anyOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try TestStore.with { test in
            let forms = try [
                ("kg", ["80.15", "80.4", "79.9"]), ("[lb_av]", ["176.7", "177.25", "176.15"]),
                ("g", ["80150", "80400", "79900"]),
                ("[lb_av]", ["176.701", "177.252", "176.149"]),
            ].map { unit, values in (maker: try UnitRepeatTests.maker("bodyMass", unit), values: values) }
            for step in 0..<40 {
                let comment: Comment = "seed \(seed), step \(step)"
                let ingests = try test.store.ledger.accounts()
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4:
                    let form = forms[Int.random(in: 0..<forms.count, using: &random)]
                    var batch: [GatedSample] = []
                    for (instant, value) in form.values.enumerated() where Bool.random(using: &random) {
                        batch.append(try form.maker(value, at: Double(instant / 2)))
                    }
                    if Int.random(in: 0..<3, using: &random) == 0 { try test.keepExactly(batch) } else { try test.keep(batch) }
                case 4, 5:
                    guard let ingest = ingests.randomElement(using: &random) else { continue }
                    _ = try? test.store.ledger.undo(
                        ingest.id, forget: Int.random(in: 0..<4, using: &random) == 0, description: TestStore.description(.undo))
                case 6:
                    guard let uuid = try test.identities().randomElement(using: &random) else { continue }
                    try test.store.samples.delete([uuid], description: TestStore.description(.delete))
                default:
                    let before = try test.lines()
                    let repeats = try test.store.duplicates.mergeCandidates().filter { !$0.isLeft }.count
                    let merged = try test.store.duplicates.merge(description: TestStore.description(.merge))
                    #expect(merged.count == repeats, comment)
                    #expect(try test.samples().count == before.count - repeats, comment)
                    #expect(try test.store.duplicates.mergeCandidates().allSatisfy(\.isLeft), comment)
                    guard merged.ingest > 0, Bool.random(using: &random) else { break }
                    try test.store.ledger.undo(merged.ingest, forget: false, description: TestStore.description(.undo))
                    #expect(try test.lines() == before, comment)
                }
                #expect(try test.store.check() == [], comment)
                #expect(try test.store.changedUUIDs() == Set(test.identities()), comment)
            }
        }
    }
}
