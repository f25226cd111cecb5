import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Categories are samples like any other: stored once, deleted and restored, undone, in the same change log. They have no amounts.
@Suite struct CategoryTests {
    private func sleep(_ source: String = "watch", device: Device? = nil) throws -> SampleMaker {
        try SampleMaker(try #require(SampleType("sleepAnalysis")), source: source, sourceName: source, device: device, unit: "1")
    }

    @Test func storesCategories() throws {
        try TestStore.with { test in
            let night = try ["0", "3", "4", "3"].enumerated().map { try sleep()($1, at: Double($0) * 600, lasting: 600) }
            #expect(try test.keep(night).account.stored == 4)
            #expect(try test.keep(night).account.duplicate == 4)
            try test.reopen()
            let samples = try test.samples()
            #expect(samples.map(\.sample.value) == [0, 3, 4, 3])
            #expect(samples.allSatisfy { $0.sample.origin.type.kind == .category })
            #expect(try test.store.samples.series(matching: SampleQuery()).map(\.type.id) == ["sleepAnalysis"])
            try test.delete(night[1])
            #expect(try test.keep(night).account.duplicate == 4)
            #expect(try test.samples().count == 3)
            try test.restore(night[1])
            #expect(try test.store.changedUUIDs().count == 4)
            #expect(try test.store.check(deep: true) == [])
            // Two cases at one time are two.
            let twin = try sleep()("5", at: 600, lasting: 600)
            #expect(try test.keep([twin]).account.stored == 1)
        }
    }

    @Test func areAskedForByCase() throws {
        try TestStore.with { test in
            try test.keep(try ["0", "1", "3", "5"].enumerated().map { try sleep()($1, at: Double($0) * 600, lasting: 600) })
            try test.keep([try SampleMaker()("60", at: 0)])
            func values(_ condition: String) throws -> [Double] {
                try test.samples(SampleQuery(types: nil, where: try SamplePredicate(condition))).map(\.sample.value)
            }
            #expect(try values("case = asleepCore") == [3])
            #expect(try values("case = HKCategoryValueSleepAnalysisAsleep") == [1])
            #expect(try values("case != asleepCore") == [0, 1, 5], "a heart rate has no case, neither this nor another")
            #expect(try values("not case = asleepCore") == [0, 1, 5])
            #expect(try values("case = nonsense") == [])
            #expect(try values("value >= 3 and duration = 600 s") == [3, 5])
            #expect(throws: PredicateError.self) { try values("case > asleepCore") }
        }
    }

    /// A watch's night over the phone and over its maker's file, cut to the minute: one. Another stage at the same time is another.
    @Test func overTwoPaths() throws {
        try TestStore.with { test in
            let watch = Device(key: "acme-1", manufacturer: "Acme", model: "W1")
            try test.keep([try sleep("phone", device: watch)("3", at: 24, lasting: 600)])
            var file = try sleep("file.Acme", device: Device(key: "Acme", manufacturer: "Acme"))
            file.timeResolution = 60
            #expect(try test.keep([try file("3", at: 0, lasting: 600)]).account.duplicate == 1)
            #expect(try test.keep([try file("4", at: 0, lasting: 600)]).account.stored == 1)
            #expect(try test.samples().map(\.sample.value).sorted() == [3, 4])
            let undone = try test.store.ledger.undo(1, forget: false, description: TestStore.description(.undo)).ingest
            #expect(try test.samples().map(\.sample.value).sorted() == [3, 4])
            _ = try test.store.ledger.undo(undone, forget: false, description: TestStore.description(.undo))
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Times and people are repaired as for any sample. The number of a case is not scaled or converted, and never becomes an amount.
    @Test func repairs() throws {
        try TestStore.with { test in
            try test.keep([try sleep()("3", at: 0, lasting: 600)])
            func repair(_ repair: Repair) throws -> RepairPlan {
                let request = RepairRequest(repair, of: SampleConditions(), takesAmbiguous: true, now: TestStore.received)
                return try test.store.repairs.apply(request).plan
            }
            let steps = try #require(SampleType("stepCount"))
            for bad in [Repair.scale(try Numeral("2")), .unit(try Unit(ucum: "%")), .type(steps)] {
                #expect(try repair(bad).left[.noConversion] == 1)
            }
            #expect(try repair(.shift(3_600_000_000)).repaired == 1)
            #expect(try test.samples().map(\.sample.value) == [3])
            #expect(try test.store.check(deep: true) == [])
            let days = CalendarIntervals(try #require(CalendarInterval("1d")), zone: TimeZoneRules(fixed: .utc))
            var query = StatisticsQuery(type: try #require(SampleType("sleepAnalysis")), intervals: days)
            query.options = .mostRecent
            #expect(throws: StoreError.self) { try test.store.statistics(query) }
            query.type = try #require(SampleType("workout"))
            query.options = []
            #expect(throws: StoreError.self) { try test.store.statistics(query) }
        }
    }

    /// An unknown type is kept completely, and can be queried by its name in another process.
    @Test func storesUnknownTypes() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(
                try #require(SampleType(category: "HKCategoryTypeIdentifierSnoringOfTheStore")), source: "watch", unit: "1")
            try test.keep([try maker("2", at: 0, lasting: 60)])
            #expect(try test.store.connection.text("SELECT type FROM series") == "snoringOfTheStore")
            // As a process that never met it.
            try test.execute("UPDATE series SET type = 'snoringOfAnother' WHERE type = 'snoringOfTheStore'")
            #expect(SampleType("snoringOfAnother") == nil)
            let other = try test.another(.read)
            #expect(SampleType("snoringOfAnother")?.kind == .category)
            let cursor = try other.samples.cursor(matching: SampleQuery())
            #expect(try cursor.next()?.sample.origin.type.id == "snoringOfAnother")
            cursor.close()
            test.isSound = false
        }
    }
}
