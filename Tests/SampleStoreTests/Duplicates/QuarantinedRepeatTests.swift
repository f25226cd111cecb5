import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Quarantined readings that one source reports again in another unit.
@Suite struct QuarantinedRepeatTests {
    private let metric: SampleMaker
    private let imperial: SampleMaker

    init() throws {
        metric = try UnitRepeatTests.maker("bodyMass", "kg")
        imperial = try UnitRepeatTests.maker("bodyMass", "[lb_av]")
    }
    /// A quarantined reading that is reported again in another unit is quarantined once, whatever a user decides. No other reading is
    /// mistaken for it.
    @Test(arguments: ["held", "accepted", "rejected"]) func quarantinesRepeatOnce(decision: String) throws {
        try TestStore.with { test in
            let (first, again) = try (
                metric("1001.5", at: 60, rule: .impossible), imperial("2207.93", at: 60, rule: .impossible)
            )
            #expect(try test.keep([first]).outcomes == [[.quarantined]])
            if decision == "held" { #expect(try test.keep([again]).account.duplicate == 1) }
            if decision == "rejected" { try test.store.quarantine.reject([1], description: TestStore.description(.reject)) }
            if decision == "accepted" { try test.store.quarantine.accept([1], description: TestStore.description(.accept)) }
            #expect(try test.keep([again]).outcomes == [[.duplicate]])
            #expect(try test.keep([again, first, again]).outcomes == [[.duplicate, .duplicate, .duplicate]])
            let others = try [
                imperial("2207.93", at: 61, rule: .impossible), imperial("2209.93", at: 60, rule: .impossible),
                imperial("2207.93", at: 60, lasting: 1, rule: .impossible), metric("1001.4", at: 60, rule: .impossible),
            ]
            #expect(try test.keep(others).account.quarantined == 4)
            if decision == "held" { try test.store.quarantine.accept([1], description: TestStore.description(.accept)) }
            #expect(try test.identities() == (decision == "rejected" ? [] : [first.sample.identity]))
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Two quarantined readings at one instant match one report each, in one batch or two.
    @Test func quarantinedReadingsOfOneInstant() throws {
        try TestStore.with { test in
            try test.keep([try metric("1001.5", at: 60, rule: .impossible)])
            let reported = try (0...1).map { try imperial("2207.93", at: 60, ordinal: UInt32($0), rule: .impossible) }
            #expect(
                try test.keep([reported[0]], [reported[0], reported[1]]).outcomes == [[.duplicate], [.duplicate, .quarantined]])
            #expect(try test.store.quarantine.all().count == 2)
        }
        try TestStore.with { test in
            let both = try [metric("1001.5", at: 60, rule: .impossible), imperial("2207.93", at: 60, rule: .impossible)]
            #expect(try test.keep(both).outcomes == [[.quarantined, .duplicate]])
        }
    }

    /// The gate has changed since: a reading that passes in another unit is the quarantined one, which then cannot be accepted as well.
    @Test func acceptsRepeatOfQuarantinedReading() throws {
        try TestStore.with { test in
            try test.keep([try metric("80.15", at: 60, rule: .impossible), try metric("90.15", at: 90, rule: .impossible)])
            try test.store.quarantine.reject([2], description: TestStore.description(.reject))
            let passing = try [imperial("176.7", at: 60), imperial("198.75", at: 90)]
            #expect(try test.keep(passing).outcomes == [[.stored, .duplicate]])
            #expect(try test.store.quarantine.all().isEmpty)
            #expect(try test.identities() == [passing[0].sample.identity])
            try test.store.ledger.undo(3, forget: false, description: TestStore.description(.undo))
            #expect(try test.store.quarantine.all().map(\.id) == [1])
        }
        // A stored reading is not quarantined as well.
        try TestStore.with { test in
            let first = try metric("80.15", at: 60)
            try test.keep([first])
            let again = try imperial("176.7", at: 60, rule: .impossible)
            #expect(try test.keep([again]).outcomes == [[.duplicate]])
            #expect(try test.store.quarantine.all().isEmpty)
            #expect(try test.store.duplicates.explain(again.sample.identity)?.first?.other.uuid == first.sample.identity)
        }
    }

    /// If `import --exact` quarantined two readings, the second cannot be accepted in addition to the first.
    @Test func quarantinedTwiceByExactImport() throws {
        try TestStore.with { test in
            let first = try metric("1001.5", at: 60, rule: .impossible)
            try test.keepExactly([first, try imperial("2207.93", at: 60, rule: .impossible)])
            #expect(try test.store.quarantine.all().count == 2)
            try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            let error = thrown(StoreError.self) {
                try test.store.quarantine.accept([2], description: TestStore.description(.accept))
            }
            #expect(error?.message.contains("another unit") == true)
            #expect(error?.message.contains("reject") == true)
            #expect(try test.identities() == [first.sample.identity])
        }
    }
}
