import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The expected statistics of publicly reported cases.
@Suite struct StatisticsStoriesTests {
    private static func total(_ test: TestStore, _ type: SampleType, priority: [String] = []) throws -> [Double] {
        let intervals = CalendarIntervals(try #require(CalendarInterval("1y")), zone: TimeZoneRules(fixed: .utc))
        var query = StatisticsQuery(type: type, intervals: intervals)
        query.priority = priority
        return try test.store.statistics(query).map(\.sum)
    }

    /// A watch's totals of hours, and the phone's minutes: the minutes explain the first hour, and are too few for the second one. No gap
    /// between minutes is filled with a share of an hour.
    @Test func hourlyTotalsWithMinutesOfOtherSource() throws {
        try TestStore.with { test in
            let watch = try SampleMaker(.stepCount, source: "hours", sourceName: "Ring")
            let phone = try SampleMaker(.stepCount, source: "minutes", sourceName: "iPhone")
            try test.keep([try watch("500", at: 9 * 3600, lasting: 3600), try watch("500", at: 10 * 3600, lasting: 3600)])
            try test.keep(
                try (0..<30).map { try phone("10", at: 9 * 3600 + Double($0) * 60, lasting: 60) }
                    + (0..<30).map { try phone("2", at: 10 * 3600 + Double($0) * 60, lasting: 60) })
            #expect(try Self.total(test, .stepCount) == [800])
            #expect(try Self.total(test, .stepCount, priority: ["iPhone"]) == [800])
            // The user prefers the source of the totals.
            #expect(try Self.total(test, .stepCount, priority: ["Ring"]) == [1000])
        }
    }

    /// A client's hours do not hide a phone's total of the day, unless the user prefers the client. They explain the total of another client.
    @Test(arguments: ["phone", "client.7"]) func dailyTotalWithHoursOfAClient(source: String) throws {
        try TestStore.with { test in
            let phone = try SampleMaker(.stepCount, source: source, sourceName: "Sum")
            let client = try SampleMaker(.stepCount, source: "client.8", sourceName: "Program")
            try test.keep([try phone("9000", at: 0, lasting: 86_400)])
            try test.keep(try (0..<24).map { try client("230", at: Double($0) * 3600, lasting: 3540) })
            try test.keep(try (0..<4).map { try client("20", at: Double($0) * 3600, lasting: 3600, ordinal: 1) })
            #expect(try Self.total(test, .stepCount) == [source == "phone" ? 9000 : 5520])
            #expect(try Self.total(test, .stepCount, priority: ["Program"]) == [5520])
            #expect(try Self.total(test, .stepCount, priority: ["Sum"]) == [9000])
        }
    }

    /// An app's exports contain the same steps by the minute and by the day. A meal of an hour is not the total of the others.
    @Test func dailyTotalsWithMinutesOfSameSource() throws {
        try TestStore.with { test in
            let steps = try SampleMaker(.stepCount)
            try test.keep(
                try [steps("7000", at: 0, lasting: 86_400)]
                    + (0..<70).map { try steps("90", at: 3600 + Double($0) * 60, lasting: 60) })
            #expect(try Self.total(test, .stepCount) == [6300])
            let energy = try #require(SampleType("dietaryEnergyConsumed"))
            let meals = try SampleMaker(energy)
            try test.keep([try meals("500", at: 12 * 3600, lasting: 3600), try meals("300", at: 12 * 3600 + 600)])
            #expect(try Self.total(test, energy) == [800])
        }
    }

    /// The example of Apple's talk on statistics: a watch and a phone that count the same steps, and a day on which the watch stayed at home.
    @Test(
        "Apple's talk: 6,902 steps from the watch alone, 8,002 with the phone's 1,100 of the day the watch stayed home, its 900 overlapping ignored"
    )
    func watchAndPhone() throws {
        try TestStore.with { test in
            let watch = try SampleMaker(.stepCount, source: "com.apple.health.watch", sourceName: "Apple Watch")
            let phone = try SampleMaker(.stepCount, source: "com.apple.health.phone", sourceName: "iPhone")
            let day = 86_400.0
            let counted = [try watch("3402", at: 9 * 3600, lasting: 3600), try watch("3500", at: day + 9 * 3600, lasting: 3600)]
            try test.keep(counted)
            #expect(try Self.total(test, .stepCount) == [6902])
            try test.keep([
                // The same walk recorded by the phone, and the day without the watch.
                try phone("900", at: 9 * 3600 + 600, lasting: 1200), try phone("1100", at: 2 * day + 9 * 3600, lasting: 3600),
            ])
            #expect(try Self.total(test, .stepCount) == [8002])
            // The watch's whole hour is a total. The phone's 900 are less than half of it, so they do not explain it, and it does not fill
            // the gaps between them.
            #expect(try Self.total(test, .stepCount, priority: ["iPhone"]) == [8002])
            // Nothing was lost: each source in full.
            var query = StatisticsQuery(
                type: .stepCount,
                intervals: CalendarIntervals(try #require(CalendarInterval("1y")), zone: TimeZoneRules(fixed: .utc)))
            query.bySource = true
            #expect(try test.store.statistics(query).map(\.sum) == [2000, 6902])
        }
    }

    /// A publicly reported day (the-momentum/open-wearables, issue 1287): Apple Health shows 14,079 steps, and a program that uses one
    /// source a day shows the watch's 4,157. The phone's 9,922 steps are from the time without the watch. Its steps at the same time as the
    /// watch's are invented.
    @Test("open-wearables 1287: 14,079 steps of watch and phone, not the watch's 4,157") func halfADayWithoutTheWatch() throws {
        try TestStore.with { test in
            let watch = try SampleMaker(.stepCount, source: "watch", sourceName: "Apple Watch")
            let phone = try SampleMaker(.stepCount, source: "phone", sourceName: "iPhone")
            try test.keep([
                try watch("2157", at: 7 * 3600, lasting: 3600), try watch("2000", at: 8 * 3600, lasting: 1800),
                try phone("3700", at: 7 * 3600, lasting: 5400), try phone("5922", at: 10 * 3600, lasting: 7200),
                try phone("4000", at: 15 * 3600, lasting: 3600),
            ])
            #expect(try Self.total(test, .stepCount) == [14_079])
        }
    }

    /// The store's order for a type and a person takes precedence over that for all types, and both over the query's order.
    @Test func orderByTypeAndPerson() throws {
        try TestStore.with { test in
            let anna = "6d1f6e7c-2f0a-4a0e-9a52-0f8f6f3f2b12"
            let walking = try #require(SampleType("distanceWalkingRunning"))
            for person in [TestStore.person, anna] {
                for type in [.stepCount, walking] {
                    try test.keep([
                        try SampleMaker(type, source: "a", sourceName: "A", person: person)("1", at: 0, lasting: 60),
                        try SampleMaker(type, source: "b", sourceName: "B", person: person)("2", at: 0, lasting: 60),
                        try SampleMaker(type, source: "c", sourceName: "C", person: person)("4", at: 0, lasting: 60),
                    ])
                }
            }
            func totals() throws -> [Double] {
                try Self.total(test, .stepCount, priority: ["A"]) + Self.total(test, walking, priority: ["A"])
            }
            #expect(try totals() == [1, 1, 1, 1])
            try test.store.sources.set(SourceOrder(names: ["B"]))
            #expect(try totals() == [2, 2, 2, 2])
            try test.store.sources.set(SourceOrder(person: anna, names: ["C"]))
            #expect(try totals() == [2, 4, 2, 4])
            try test.store.sources.set(SourceOrder(type: walking, names: ["a", "c"]))
            // Hers for all types is closer than everybody's for one.
            #expect(try totals() == [2, 4, 1, 4])
            try test.store.sources.set(SourceOrder(person: anna, type: walking, names: ["nobody", "B"]))
            #expect(try totals() == [2, 4, 1, 2])
            #expect(try test.store.sources.orders().map(\.names) == [["nobody", "B"], ["C"], ["a", "c"], ["B"]])
            try test.store.sources.set(SourceOrder(person: anna, names: []))
            #expect(try totals() == [2, 2, 1, 2])
            for wrong in [[""], ["two\nlines"], [String(repeating: "x", count: 401)], [String](repeating: "x", count: 65)] {
                #expect(throws: StoreError.self) { try test.store.sources.set(SourceOrder(names: wrong)) }
            }
            #expect(try totals() == [2, 2, 1, 2])
        }
    }

    /// A traveller's day is the one that the clocks showed: in Berlin in the morning, in New York in the evening.
    @Test func aTravellersDay() throws {
        try TestStore.with { test in
            var (berlin, newYork) = (try SampleMaker(.stepCount), try SampleMaker(.stepCount))
            berlin.zone = ZoneOffset(seconds: 3600)
            newYork.zone = ZoneOffset(seconds: -5 * 3600)
            try test.keep([
                try berlin("100", at: 8 * 3600, lasting: 3600),
                // 22 to 23 o'clock on the same day in New York, and half past 23 to half past 0.
                try newYork("10", at: 27 * 3600, lasting: 3600), try newYork("4", at: 28.5 * 3600, lasting: 3600),
            ])
            var query = StatisticsQuery(type: .stepCount, intervals: CalendarIntervals(.day, zone: .berlinInWinter))
            #expect(try test.store.statistics(query).map(\.sum) == [100, 14])
            query.usesSampleZones = true
            #expect(try test.store.statistics(query).map(\.sum) == [112, 2])
            query.to = Instant(seconds: 1_767_225_600 + 23 * 3600)
            #expect(try test.store.statistics(query).map(\.sum) == [112])
            query.intervals = CalendarIntervals(try #require(CalendarInterval("6h")), zone: .berlinInWinter)
            #expect(throws: StoreError.self) { try test.store.statistics(query) }
        }
    }

    /// Days without samples are included on request, also before the first and after the last.
    @Test func gaps() throws {
        try TestStore.with { test in
            let (one, other) = (try SampleMaker(.stepCount, source: "a"), try SampleMaker(.stepCount, source: "b"))
            try test.keep([try one("1", at: 86_400), try one("2", at: 3 * 86_400), try other("4", at: 3 * 86_400)])
            var query = StatisticsQuery(type: .stepCount, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)))
            query.includesGaps = true
            func rows(_ batch: Int) throws -> [Statistics] {
                var rows: [Statistics] = []
                try test.store.statistics(query, batch: batch) {
                    rows += $0
                    return true
                }
                return rows
            }
            for batch in [1, 2, 100] {
                query.from = nil
                query.to = nil
                #expect(try rows(batch).map(\.sum) == [1, 0, 6])
                query.from = Instant(seconds: 1_767_225_600 - 43_200)
                query.to = Instant(seconds: 1_767_225_600 + 5 * 86_400 + 1)
                let bounded = try rows(batch)
                #expect(bounded.map(\.count) == [0, 0, 1, 0, 2, 0, 0])
                #expect(bounded.allSatisfy { $0.count > 0 || $0.mostRecent == nil })
                query.bySource = true
                #expect(try rows(batch).map(\.count) == [0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0])
                query.bySource = false
            }
        }
    }

    /// What HealthKit refuses is refused.
    @Test func optionsThatATypeDoesNotHave() throws {
        try TestStore.with { test in
            var query = StatisticsQuery(type: .stepCount, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)))
            query.options = [.cumulativeSum, .duration, .mostRecent, .separateBySource]
            #expect(try test.store.statistics(query).isEmpty)
            query.options = [.cumulativeSum, .discreteMax]
            #expect(
                throws: StoreError(
                    .invalid, "stepCount has no discreteMax: it is cumulative, and values that add up have no average")
            ) {
                try test.store.statistics(query)
            }
            query.type = .heartRate
            #expect(throws: StoreError(.invalid, "heartRate has no cumulativeSum: it is discrete, and its values do not add up"))
            {
                try test.store.statistics(query)
            }
            query.options = [.discreteMin, .discreteMax, .discreteAverage, .mostRecent, .percentiles]
            #expect(try test.store.statistics(query).isEmpty)
            query.options = []
            query.type = .stepCount
            query.ranges = [try #require(ValueRange("1..2"))]
            #expect(throws: StoreError.self) { try StatisticsCollection(query, in: test.store) }
        }
    }

    /// More different values than a distribution holds: percentiles stay within an 8,192nd.
    @Test func manyDifferentValues() {
        var distribution = Distribution()
        for index in 1...100_000 { distribution.add(Double(index) * 1.000_1, weight: 1) }
        let values = distribution.values(at: [5, 50, 95])
        for (value, exact) in zip(values, [5000.5, 50_005, 95_009.5]) { #expect(abs(value / exact - 1) < 1.0 / 8192) }
    }
}

extension TimeZoneRules {
    fileprivate static var berlinInWinter: TimeZoneRules { TimeZoneRules(fixed: ZoneOffset(seconds: 3600)) }
}
