import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Followed statistics are the same as newly computed ones.
@Suite struct StatisticsCollectionTests {
    private static let types = ["stepCount", "bodyTemperature", "heartRate", "environmentalAudioExposure"]

    /// Whatever is stored, deleted and restored, the rows are those of a first query, and the reported changes are the differences.
    @Test(arguments: 0..<60) func followsRandomWrites(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let type = try #require(SampleType(Self.types[seed % 4]))
        try TestStore.with { test in
            var query = StatisticsQuery(
                type: type,
                intervals: CalendarIntervals(
                    try #require(CalendarInterval(["1d", "1h", "30m", "2d"][seed / 4 % 4])), zone: try TimeZoneRules.berlin))
            query.usesSampleZones = seed % 3 == 0 && query.intervals.interval.unit.isOfDays
            query.bySource = seed % 5 == 0
            query.countsEvery = seed % 7 == 0
            if seed % 6 == 1, type.aggregation != .cumulative { query.options = .percentiles }
            if seed % 2 == 1 {
                query.from = Instant(seconds: 1_774_656_000 + 40_000)
                query.to = Instant(seconds: 1_774_656_000 + 300_000)
            }
            let collection = try StatisticsCollection(query, in: test.store)
            var retained: [GatedSample] = []
            var deleted: [GatedSample] = []
            var before: [Statistics] = []
            for step in 0..<12 {
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where !retained.isEmpty:
                    let sample = retained.remove(at: Int.random(in: 0..<retained.count, using: &random))
                    try test.delete(sample)
                    deleted.append(sample)
                case 1 where !deleted.isEmpty:
                    let sample = deleted.removeLast()
                    try test.restore(sample)
                    retained.append(sample)
                default:
                    let batch = try Self.batch(type, &random)
                    // Devices that agree are linked, one time in two.
                    if Bool.random(using: &random) {
                        let outcomes = try test.keep(batch).outcomes[0]
                        for (sample, outcome) in zip(batch, outcomes) where outcome == .stored { retained.append(sample) }
                    } else {
                        try test.keepExactly(batch)
                        retained += batch.filter { sample in (try? test.store.samples.sample(sample.sample.identity)) != nil }
                    }
                    retained = Array(Dictionary(retained.map { ($0.sample.identity, $0) }) { one, _ in one }.values)
                        .sorted { $0.sample.identity.description < $1.sample.identity.description }
                }
                if step % 3 == 2, Bool.random(using: &random) {
                    try test.store.sources.set(SourceOrder(names: ["source\(step % 2)"]))
                }
                let update = try collection.update()
                let fresh = try test.store.statistics(query)
                Self.expectSame(collection.statistics, fresh, "seed \(seed) step \(step)")
                let changed = fresh.filter { row in !before.contains { Self.isSame($0, row) } }
                for row in changed { #expect(update.changed.contains { Self.isSame($0, row) }, "seed \(seed) step \(step)") }
                let lost = before.filter { row in
                    !fresh.contains { ($0.start, $0.person, $0.source) == (row.start, row.person, row.source) }
                }
                for row in lost { #expect(update.changed.contains { $0.start == row.start && $0.count == 0 }, "seed \(seed)") }
                #expect(update.changed.count >= changed.count + lost.count)
                #expect(try collection.update().changed.isEmpty)
                before = fresh
            }
        }
    }

    private static func batch(_ type: SampleType, _ random: inout SeededGenerator) throws -> [GatedSample] {
        var batch: [GatedSample] = []
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let number = Int.random(in: 0..<3, using: &random)
            var maker = try SampleMaker(type, source: "source\(number)", device: Device(key: "device\(number)"))
            maker.zone = [nil, ZoneOffset(seconds: 3600), ZoneOffset(seconds: -28_800)][Int.random(in: 0..<3, using: &random)]
            // Around the change of clocks on 29 March 2026.
            let start = 7_430_400 + 300 * Int.random(in: 0..<1200, using: &random)
            let length = [0, 0, 60, 300, 7200, 90_000][Int.random(in: 0..<6, using: &random)]
            batch.append(
                try maker("\(Int.random(in: 36...39, using: &random))", at: Double(start), lasting: Double(length)))
        }
        return batch
    }

    private static func isSame(_ one: Statistics, _ other: Statistics) -> Bool {
        func isNear(_ one: Double?, _ other: Double?) -> Bool {
            guard let one, let other else { return (one == nil) == (other == nil) }
            return abs(one - other) <= 1e-9 * max(1, abs(other))
        }
        return (one.start, one.end, one.person, one.source, one.count) == (
            other.start, other.end, other.person, other.source, other.count
        )
            && (one.minimum, one.maximum) == (other.minimum, other.maximum) && one.percentiles == other.percentiles
            && isNear(one.sum, other.sum) && isNear(one.average, other.average) && isNear(one.duration, other.duration)
    }

    private static func expectSame(_ one: [Statistics], _ other: [Statistics], _ description: String) {
        #expect(one.count == other.count, "\(description)")
        for (one, other) in zip(one, other) where !isSame(one, other) { Issue.record("\(description): \(one) is not \(other)") }
    }

    /// The cost of one new sample: an hour's rows of a discrete type, however many the day has. Without new samples, nothing.
    @Test func oneNewSampleCostsAnHour() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            try test.keepExactly(try (0..<12_000).map { try maker("\(60 + $0 % 40)", at: Double($0 * 15)) })
            let query = StatisticsQuery(type: .heartRate, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)))
            let collection = try StatisticsCollection(query, in: test.store)
            let first = try collection.update()
            #expect(first.read == 12_000 && first.changed.count == 3)
            #expect(try collection.update().read == 0)
            try test.keepExactly([try maker("199", at: 100_007)])
            let second = try collection.update()
            #expect(second.read <= 2 * 3600 / 15 + 1)
            #expect(second.changed.map(\.maximum) == [199] && second.changed.map(\.count) == [5761])
            #expect(collection.statistics.map(\.count) == [5760, 5761, 480])
            #expect(collection.statistics(at: Instant(seconds: 1_767_225_600 + 90_000)).map(\.count) == [5761])
            // Of another type: it is not even looked at.
            try test.keepExactly([try SampleMaker(.bodyMass)("80", at: 100_000)])
            let third = try collection.update()
            #expect(third.read == 0 && third.changed.isEmpty)
        }
    }

    /// More intervals than it holds are refused, and it can be asked again for less.
    @Test func tooManyIntervals() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.stepCount)
            try test.keepExactly([try maker("1000", at: 0, lasting: 365 * 86_400)])
            var query = StatisticsQuery(
                type: .stepCount,
                intervals: CalendarIntervals(try #require(CalendarInterval("1m")), zone: TimeZoneRules(fixed: .utc)))
            let collection = try StatisticsCollection(query, in: test.store)
            for _ in 0..<2 { #expect(throws: StoreError.self) { try collection.update() } }
            query.to = Instant(seconds: 1_767_225_600 + 86_400)
            let bounded = try StatisticsCollection(query, in: test.store)
            #expect(try bounded.update().changed.count == 1440)
        }
    }
}
