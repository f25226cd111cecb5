import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Statistics of the samples that meet a condition are those of a store that has no others.
@Suite struct StatisticsConditionTests {
    private static let types = ["stepCount", "bodyTemperature", "sleepAnalysis"]
    private static let base: Int64 = 1_767_225_600

    /// Samples that touch, cover and equal one another, of three sources.
    private static func samples(_ type: SampleType, _ random: inout SeededGenerator) throws -> [GatedSample] {
        let makers = try (0..<3).map { try SampleMaker(type, source: "s\($0)", sourceName: "S \($0)") }
        var taken: Set<[Int]> = []
        var found: [GatedSample] = []
        for _ in 0..<Int.random(in: 1...25, using: &random) {
            let description = [
                Int.random(in: 0..<3, using: &random), Int.random(in: 0..<12, using: &random),
                [0, 1, 2, 7][Int.random(in: 0..<4, using: &random)], Int.random(in: 1...3, using: &random),
            ]
            guard taken.insert(description).inserted else { continue }
            let metadata = Bool.random(using: &random) ? Metadata([("mark", .string("x"))]) : nil
            found.append(
                try makers[description[0]](
                    "\(description[3])", at: Double(description[1] * 1800), lasting: Double(description[2] * 1800),
                    metadata: metadata))
        }
        return found
    }

    private static func condition(_ random: inout SeededGenerator) throws -> SamplePredicate {
        let texts = [
            "value >= 2", "value = 1 or value = 3", "source.id = s1", "not source.id = s0", "metadata.mark = x", "value > 5",
            "start >= 2026-01-01T02:00:00Z and start < 2026-01-01T04:00:00Z", "duration > 0",
            "start < 2026-01-01T01:00:00Z or start >= 2026-01-01T03:30:00Z and value < 3",
        ]
        return try SamplePredicate(texts[Int.random(in: 0..<texts.count, using: &random)])
    }

    /// Sums differ in the last bit with the order of addition. Of two samples that began together, either is the latest.
    private static func rounded(_ rows: [Statistics]) -> [Statistics] {
        rows.map { row in
            var row = row
            row.sum = (row.sum * 1e9).rounded() / 1e9
            row.mostRecent = nil
            row.average = row.average.map { ($0 * 1e9).rounded() / 1e9 }
            return row
        }
    }

    private static func expect(_ rows: [Statistics], _ others: [Statistics], _ condition: SamplePredicate) {
        let different = zip(rounded(rows), rounded(others)).filter { $0 != $1 }
        #expect(different.isEmpty && rows.count == others.count, "\(condition)")
    }

    @Test(arguments: 0..<150) func ignoresSamplesOutsideCondition(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let type = try #require(SampleType(Self.types[seed % Self.types.count]))
        let all = try Self.samples(type, &random)
        let condition = try Self.condition(&random)
        var query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(try #require(CalendarInterval("90m")), zone: TimeZoneRules(fixed: .utc)),
            bySource: Int.random(in: 0..<3, using: &random) == 0, priority: ["s2", "s0", "s1"])
        query.countsEvery = Int.random(in: 0..<3, using: &random) == 0
        if Bool.random(using: &random) {
            query.from = Instant(seconds: Self.base + 1800 * Int64.random(in: 0..<10, using: &random))
        }
        let matching = all.filter { condition.matches($0.sample) }
        var conditioned = query
        conditioned.predicate = condition
        let expected = try TestStore.with { test in
            try test.keepExactly(matching)
            return try test.store.statistics(query)
        }
        try TestStore.with { test in
            try test.keepExactly(all)
            Self.expect(try test.store.statistics(conditioned), expected, condition)
            let collection = try StatisticsCollection(conditioned, in: test.store)
            _ = try collection.update()
            Self.expect(collection.statistics, expected, condition)
            // Additions and deletions are followed.
            guard let deleted = all.randomElement(using: &random) else { return }
            try test.delete(deleted)
            _ = try collection.update()
            let fresh = try test.store.statistics(conditioned)
            Self.expect(collection.statistics, fresh, condition)
        }
    }

    /// A value holds until it is measured again, whatever is measured then.
    @Test func excludedSampleEndsEarlierValue() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.heartRate)
            try test.keep([try maker("100", at: 0), try maker("50", at: 5), try maker("150", at: 20), try maker("50", at: 25)])
            var query = StatisticsQuery(
                type: .heartRate, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)))
            query.predicate = try SamplePredicate("value > 60")
            let reported = try test.store.statistics(query)
            // Five seconds each.
            #expect(reported.map(\.count) == [2] && reported.map(\.average) == [125])
        }
    }

    @Test func refusesUnfollowableConditions() throws {
        try TestStore.with { test in
            var query = StatisticsQuery(
                type: .heartRate, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)))
            query.predicate = .predicateForObjectsWithCorrelation()
            #expect(try test.store.statistics(query).isEmpty)
            let store = try test.store
            #expect(throws: StoreError.self) { try StatisticsCollection(query, in: store) }
        }
    }
}
