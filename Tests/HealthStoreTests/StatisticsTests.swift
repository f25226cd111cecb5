import HealthModel
import PipelineTesting
import SampleStore
import Testing

@testable import HealthStore

/// Statistics of a stretch and of the calendar, and what follows them.
@Suite(.timeLimit(.minutes(15))) struct StatisticsTests {
    private let test: TestHealth
    private var store: HealthStore { test.store }

    init() throws { test = try TestHealth() }

    @Test func sumsAndAveragesOfInterval() async throws {
        try await store.save([TestHealth.steps(100, 60), TestHealth.steps(20, 30), TestHealth.steps(3, 5)])
        try await store.save([try TestHealth.pulse(60, 50), try TestHealth.pulse(90, 20), try TestHealth.pulse(72, 10)])
        let steps = StatisticsQueryDescriptor(type: .stepCount, options: .cumulativeSum)
        #expect(try await steps.result(for: store)?.sum?.value(in: .one) == 123)
        let late = StatisticsQueryDescriptor(type: .stepCount, from: TestHealth.time(40), options: [.cumulativeSum, .mostRecent])
        #expect(try await late.result(for: store)?.sum?.value(in: .one) == 23)
        #expect(try await late.result(for: store)?.start == TestHealth.time(40))
        let pulse = StatisticsQueryDescriptor(type: .heartRate, options: [.discreteMin, .discreteMax, .mostRecent])
        let reported = try #require(try await pulse.result(for: store))
        #expect(reported.count == 3)
        #expect([reported.minimum, reported.maximum, reported.mostRecent].map { $0?.numeral.doubleValue } == [60, 90, 72])
        #expect(reported.sum == nil && reported.average == nil)
        #expect(reported.minimum?.value(in: try Unit(ucum: "Hz")) == 1)
        let none = StatisticsQueryDescriptor(type: .bodyMass, options: .discreteAverage)
        #expect(try await none.result(for: store) == nil)
    }

    @Test func percentilesRangesAndDurations() async throws {
        try await store.save(
            (1...20).map { minute in
                .quantity(
                    .bloodGlucose, try Amount(Double(60 + minute * 10), "mg/dL"), from: TestHealth.time(Int64(200 - minute * 5)))
            })
        var glucose = StatisticsQueryDescriptor(type: .bloodGlucose, options: [.percentiles, .inRange])
        glucose.ranges = [try #require(ValueRange("70..180"))]
        let reported = try #require(try await glucose.result(for: store))
        #expect(reported.percentiles.mapValues(\.numeral.doubleValue) == [5: 70, 25: 110, 50: 160, 75: 210, 95: 250])
        #expect(reported.percentiles[50]?.value(in: try Unit(ucum: "mmol/L")).map { ($0 * 100).rounded() } == 888)
        #expect(reported.inRange.map(\.amount) == [12])
        #expect(reported.average == nil && reported.duration == nil)
        let sleep = try #require(SampleType("sleepAnalysis"))
        try await store.save([
            .category(sleep, 3, from: TestHealth.time(500), to: TestHealth.time(440)),
            .category(sleep, 4, from: TestHealth.time(440), to: TestHealth.time(420)),
        ])
        let nights = try await StatisticsCollectionQueryDescriptor(type: sleep, options: .duration, interval: .day)
            .result(for: store)
        #expect(nights.statistics.map(\.categoryValue) == [3, 4])
        #expect(nights.statistics.map(\.duration) == [3600, 1200])
    }

    @Test func refusesUnsupportedOptions() async throws {
        for (type, options) in [
            (SampleType.stepCount, StatisticsOptions.discreteAverage), (.heartRate, .cumulativeSum), (.workout, .cumulativeSum),
        ] {
            await #expect(throws: (any Error).self, "\(type)") {
                try await StatisticsQueryDescriptor(type: type, options: options).result(for: store)
            }
            await #expect(throws: (any Error).self, "\(type)") {
                try await StatisticsCollectionQueryDescriptor(type: type, options: options, interval: .day).result(for: store)
            }
        }
    }

    @Test func sourcesApartAndTogether() async throws {
        try await store.save(TestHealth.steps(100, 60, lasting: 10))
        try await test.another("phone").save(TestHealth.steps(40, 60, lasting: 20))
        func sums(_ options: StatisticsOptions, _ priority: [String] = []) async throws -> [Double?] {
            let query = StatisticsQueryDescriptor(type: .stepCount, options: options, priority: priority)
            return try await query.resultsBySource(for: store).map { $0.sum?.value(in: .one) }
        }
        // Only the phone reports the last ten of its 20 minutes.
        #expect(try await sums(.cumulativeSum) == [120])
        #expect(try await sums(.cumulativeSum, ["phone"]) == [40])
        #expect(try await sums([.cumulativeSum, .separateBySource]) == [100, 40])
        await #expect(throws: HealthStoreError.self) {
            try await StatisticsQueryDescriptor(type: .stepCount, options: [.cumulativeSum, .separateBySource])
                .result(for: store)
        }
    }

    /// Days of 25 hours, gaps as empty ones, and a sample over midnight in proportion.
    @Test func daysOfTheStoresZone() async throws {
        func utc(_ day: Int, _ hour: Int) -> Instant {
            Instant(seconds: Int64(Calendar.days(year: 2026, month: 10, day: day)) * 86_400 + Int64(hour) * 3600)
        }
        func steps(_ count: Double, _ from: Instant, _ to: Instant) throws -> HealthObject {
            .quantity(.stepCount, try Amount(count, .one), from: from, to: to)
        }
        // Berlin's 25 October 2026 is from 22:00 UTC to 23:00 UTC of the next day.
        try await store.save([
            try steps(10, utc(23, 10), utc(23, 11)), try steps(1, utc(24, 22), utc(24, 23)),
            try steps(2, utc(25, 21), utc(25, 22)),
            try steps(40, utc(25, 22), utc(26, 2)),
        ])
        let collection = try await StatisticsCollectionQueryDescriptor(
            type: .stepCount, options: .cumulativeSum, interval: .day
        ).result(for: store)
        #expect(collection.statistics.map { $0.sum?.value(in: .one) } == [10, 13, 30])
        var days: [(hours: Int64, sum: Double?)] = []
        collection.enumerateStatistics(from: utc(23, 0), to: utc(27, 0)) { day in
            let hours = (day.end.microseconds - day.start.microseconds) / 3_600_000_000
            days.append((hours, day.sum?.value(in: .one)))
        }
        #expect(days.map(\.hours) == [24, 24, 25, 24, 24])
        #expect(days.map(\.sum) == [10, nil, 13, 30, nil])
        #expect(collection.statistics(at: utc(25, 12)).first?.sum?.value(in: .one) == 13)
        #expect(collection.statistics(at: utc(24, 12)).map(\.count) == [0])
    }

    /// Each case of a category has its own figures, independent of the others.
    @Test func aCategoryHasOneForEachCase() async throws {
        let sleep = try #require(SampleType("sleepAnalysis"))
        let core = try #require(sleep.categoryValues?.value(of: "asleepCore"))
        let awake = try #require(sleep.categoryValues?.value(of: "awake"))
        try await store.save([
            .category(sleep, core, from: TestHealth.time(300), to: TestHealth.time(200)),
            .category(sleep, awake, from: TestHealth.time(200), to: TestHealth.time(190)),
        ])
        let interval = StatisticsQueryDescriptor(type: sleep, options: .duration)
        await #expect(throws: HealthStoreError.self) { try await interval.result(for: store) }
        #expect(try await interval.resultsBySource(for: store).map(\.duration) == [600, 6000])
        let days = try await StatisticsCollectionQueryDescriptor(type: sleep, options: .duration, interval: .day)
            .result(for: store)
        #expect(days.statistics(at: TestHealth.time(250)).map(\.duration) == [600, 6000])
    }

    /// A day that the zone skipped, but the sample's own clock showed, begins with the next day.
    @Test func skippedDayBeginsWithNextDay() throws {
        let zone = try TimeZoneRules(rule: "<-10>10<+14>-14,M3.5.0/0,M10.5.0/0", identifier: "Apia")
        let intervals = CalendarIntervals(.day, zone: zone)
        let skipped =
            intervals.index(of: try Instant("2026-03-29T09:00:00Z"))...intervals.index(of: try Instant("2026-03-31T09:00:00Z"))
        let day = try #require(skipped.first { intervals.isEmpty($0) })
        func row(_ index: Int, _ count: Int) -> QuantityStatistics {
            var row = Statistics(start: intervals.start(of: index), end: intervals.start(of: index + 1), person: "")
            row.count = count
            return QuantityStatistics(row, of: .stepCount, .cumulativeSum)
        }
        var collection = QuantityStatisticsCollection(type: .stepCount, intervals: intervals, options: .cumulativeSum)
        collection.update([row(day, 1), row(day + 1, 2)])
        #expect(collection.statistics.map(\.count) == [1, 2])
        collection.update([row(day, 3)])
        #expect(collection.statistics.map(\.count) == [3, 2])
    }

    @Test func followerReceivesChangedIntervals() async throws {
        try await store.save([TestHealth.steps(100, 24 * 60 * 3), TestHealth.steps(20, 24 * 60)])
        var results = StatisticsCollectionQueryDescriptor(type: .stepCount, options: .cumulativeSum, interval: .day)
            .results(for: store).makeAsyncIterator()
        let first = try #require(try await results.next())
        #expect(first.updated == first.collection.statistics)
        #expect(first.updated.map { $0.sum?.value(in: .one) } == [100, 20])
        let writer = try test.another("other")
        try await writer.save(try TestHealth.pulse(60, 3))
        let saved = try await writer.save(TestHealth.steps(7, 24 * 60 - 30))
        let second = try #require(try await results.next())
        #expect(second.updated.map { $0.sum?.value(in: .one) } == [27])
        #expect(second.collection.statistics.map { $0.sum?.value(in: .one) } == [100, 27])
        try await writer.deleteObjects(matching: .uuids([saved.uuid]))
        #expect(try await results.next()?.updated.map { $0.sum?.value(in: .one) } == [20])
        try await writer.deleteObjects(matching: .everything)
        let last = try #require(try await results.next())
        #expect(last.updated.map(\.count) == [0, 0])
        #expect(last.collection.statistics.isEmpty)
    }

    /// A follower has the same result as a new query, whatever was added, deleted and overlapped.
    @Test(arguments: 0..<20) func updatesMatchNewQuery(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let phone = try test.another("phone")
        let query = StatisticsCollectionQueryDescriptor(
            type: .stepCount, options: .cumulativeSum, interval: try #require(CalendarInterval("10m")))
        var results = query.results(for: store).makeAsyncIterator()
        var known = Self.rounded(try await results.next()?.collection)
        var saved: [SampleIdentity] = []
        for _ in 0..<30 {
            let before = known
            if !saved.isEmpty, Int.random(in: 0..<3, using: &generator) == 0 {
                let uuid = saved.remove(at: Int.random(in: 0..<saved.count, using: &generator))
                try await store.delete([uuid])
            } else {
                let lasting = Int64.random(in: 0...25, using: &generator)
                let object = TestHealth.steps(
                    Int.random(in: 1...3, using: &generator), 30 + Int64.random(in: 0...12, using: &generator) * 5,
                    lasting: lasting)
                let outcome = try await (Bool.random(using: &generator) ? store : phone).save(object)
                if outcome.outcome == .stored { saved.append(outcome.uuid) }
            }
            let fresh = Self.rounded(try await query.result(for: store))
            while known != fresh, known == before { known = Self.rounded(try await results.next()?.collection) }
            #expect(known == fresh)
        }
    }

    /// Shares of a sample add up to the same but for a last bit, whichever are added first.
    private static func rounded(_ collection: QuantityStatisticsCollection?) -> [String] {
        (collection?.statistics ?? []).map { row in
            let sum = ((row.sum?.numeral.doubleValue ?? 0) * 1e9).rounded()
            return "\(row.start) \(row.count) \(sum)"
        }
    }
}
