import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// How long each case of a category lasted.
@Suite struct CategoryDurationTests {
    private static let sleep = ["inBed", "asleepUnspecified", "awake", "asleepCore", "asleepDeep", "asleepREM"]

    private static func noons() throws -> CalendarIntervals {
        CalendarIntervals(.day, zone: .berlinOfTests, anchor: Instant(seconds: 1_767_225_600 - 12 * 3600 - 3600))
    }

    /// A night from a watch and from a phone. Time in bed is counted separately from the stages.
    @Test func stagesOfANight() throws {
        try TestStore.with { test in
            let type = try #require(SampleType("sleepAnalysis"))
            let values = Dictionary(
                uniqueKeysWithValues: Self.sleep.compactMap { name in type.categoryValues?.value(of: name).map { (name, "\($0)") }
                })
            let (watch, phone) = (
                try SampleMaker(type, source: "watch", unit: "1"), try SampleMaker(type, source: "phone", unit: "1")
            )
            func reported(_ maker: SampleMaker, _ name: String, _ from: Double, _ to: Double) throws -> GatedSample {
                try maker(try #require(values[name]), at: from * 3600, lasting: (to - from) * 3600)
            }
            try test.keepExactly([
                // From 22 o'clock over midnight.
                try reported(phone, "inBed", -2, 7), try reported(phone, "asleepUnspecified", -1, 6.5),
                try reported(watch, "asleepCore", -1, 1), try reported(watch, "asleepDeep", 1, 2.5),
                try reported(watch, "awake", 2, 2.25),
                try reported(watch, "asleepREM", 2.5, 3), try reported(watch, "asleepUnspecified", -1, 3),
                // A nap on the next day.
                try reported(watch, "asleepCore", 14, 14.5),
            ])
            var query = StatisticsQuery(type: type, intervals: try Self.noons())
            func hours() throws -> [[String: Double]] {
                var nights: [[String: Double]] = []
                var start: Instant?
                for row in try test.store.statistics(query) {
                    if row.start != start { nights.append([:]) }
                    start = row.start
                    let name = row.value.flatMap { type.caseName(of: Double($0)) } ?? "?"
                    nights[nights.count - 1][name] = row.duration / 3600
                }
                return nights
            }
            #expect(
                try hours() == [
                    // The phone's sleep counts if the watch reports nothing: from 3 o'clock on.
                    [
                        "inBed": 9, "asleepCore": 2, "asleepDeep": 1.25, "awake": 0.25, "asleepREM": 0.5,
                        "asleepUnspecified": 3.5,
                    ],
                    ["asleepCore": 0.5],
                ])
            query.from = Instant(seconds: 1_767_225_600)
            query.to = Instant(seconds: 1_767_225_600 + 2 * 3600)
            #expect(try hours() == [["inBed": 2, "asleepCore": 1, "asleepDeep": 1]])
            (query.from, query.to, query.bySource) = (nil, nil, true)
            let phoneRows = try test.store.statistics(query).filter { $0.source == "phone" }
            #expect(phoneRows.map(\.duration) == [9 * 3600, 7.5 * 3600])
            // Some at a time, and followed.
            query.bySource = false
            var batches: [Statistics] = []
            try test.store.statistics(query, batch: 1) {
                batches += $0
                return true
            }
            #expect(batches == (try test.store.statistics(query)))
            let collection = try StatisticsCollection(query, in: test.store)
            #expect(try collection.update().changed == batches)
            try test.keepExactly([try reported(phone, "awake", 6.75, 7)])
            let update = try collection.update()
            #expect(update.changed.map(\.duration) == [1800])
            #expect(collection.statistics == (try test.store.statistics(query)))
        }
    }

    /// Random days of two sources, compared with a computation minute by minute.
    @Test(arguments: 0..<100) func anyDays(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let type = try #require(SampleType(seed % 2 == 0 ? "sleepAnalysis" : "menstrualFlow"))
        let values = seed % 2 == 0 ? 0...5 : 1...5
        struct ReferenceSample: Hashable {
            var source: Int
            var value: Int
            var start: Int
            var length: Int
        }
        var reported: Set<ReferenceSample> = []
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            reported.insert(
                ReferenceSample(
                    source: Int.random(in: 0..<2, using: &random), value: Int.random(in: values, using: &random),
                    start: 6 * Int.random(in: 0..<60, using: &random),
                    length: [0, 6, 12, 60][Int.random(in: 0..<4, using: &random)]))
        }
        // The stage that counts: awake, REM, core, deep, asleep, by HealthKit's numbers.
        let order = seed % 2 == 0 ? [2, 5, 3, 4, 1] : []
        try TestStore.with { test in
            var batch: [GatedSample] = []
            for sample in reported {
                let maker = try SampleMaker(type, source: "source\(sample.source)", unit: "1")
                batch.append(try maker("\(sample.value)", at: Double(sample.start * 600), lasting: Double(sample.length * 600)))
            }
            try test.keepExactly(batch)
            let query = StatisticsQuery(
                type: type, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)), priority: ["source0"])
            var expected: [[Int]: Double] = [:]
            for tick in 0..<600 {
                let now = reported.filter { $0.start <= tick && tick < $0.start + $0.length }
                var counting: Set<Int> = []
                if order.isEmpty {
                    let best = now.map(\.source).min()
                    counting = Set(now.filter { $0.source == best }.map(\.value))
                } else {
                    let staged = now.filter { order.contains($0.value) }
                    let best = staged.filter { $0.source == staged.map(\.source).min() }
                    if let stage = order.first(where: { value in best.contains { $0.value == value } }) { counting.insert(stage) }
                    if now.contains(where: { $0.value == 0 }) { counting.insert(0) }
                }
                for value in counting { expected[[tick / 144, value], default: 0] += 600 }
            }
            let rows = try test.store.statistics(query)
            var found: [[Int]: Double] = [:]
            for row in rows where row.duration > 0 {
                let day = query.intervals.index(of: row.start) - query.intervals.index(of: Instant(seconds: 1_767_225_600))
                found[[day, row.value ?? -1]] = row.duration
            }
            #expect(found == expected, "\(reported)")
            // Samples without a duration are counted anyway.
            #expect(rows.allSatisfy { $0.count > 0 })
        }
    }
}

extension TimeZoneRules {
    fileprivate static var berlinOfTests: TimeZoneRules { TimeZoneRules(fixed: ZoneOffset(seconds: 3600)) }
}
