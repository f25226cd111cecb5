import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct StatisticsTests {
    private static func intervals(_ text: String, _ zone: TimeZoneRules) throws -> CalendarIntervals {
        CalendarIntervals(try #require(CalendarInterval(text)), zone: zone)
    }

    /// Steps from ten minutes before midnight to ten past: half on each day, also on the long day.
    @Test func sharesOverMidnight() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.stepCount)
            func seconds(_ text: String) throws -> Double { Double(try Instant(text).microseconds - 1_767_225_600_000_000) / 1e6 }
            try test.keep([
                try maker("1000", at: seconds("2026-03-28T23:50:00+01:00"), lasting: 1200),
                // The whole of the day of 23 hours, and 65 minutes more at each end, one for each minute. Off the quarters of hours, it is no total.
                try maker("1510", at: seconds("2026-03-28T22:55:00+01:00"), lasting: 1510 * 60),
                try maker("7", at: seconds("2026-03-29T12:00:00+02:00")),
            ])
            let query = StatisticsQuery(type: .stepCount, intervals: try Self.intervals("1d", .berlin))
            let statistics = try test.store.statistics(query)
            #expect(statistics.map(\.sum) == [565, 500 + 1380 + 7, 65])
            #expect(statistics.map(\.count) == [2, 3, 1])
            let hours: [Int64] = statistics.map { ($0.end.microseconds - $0.start.microseconds) / 3_600_000_000 }
            #expect(hours == [24, 23, 24])
            #expect(statistics.allSatisfy { $0.average == nil && $0.minimum == nil })
            // Only the requested figures.
            var part = query
            part.from = try Instant("2026-03-29T00:00:00+01:00")
            part.to = try Instant("2026-03-29T01:00:00+01:00")
            let sums = try test.store.statistics(part).map(\.sum)
            #expect(sums == [560.0])
        }
    }

    /// Clocks that skip a whole day leave its interval empty, and the days after it get their share.
    @Test func sharesOverASkippedDay() throws {
        try TestStore.with { test in
            // Forward by 24 hours on the last Sunday of March at midnight.
            let zone = try TimeZoneRules(rule: "<-10>10<+14>-14,M3.5.0/0,M10.5.0/0", identifier: "Apia")
            let start = try Instant("2026-03-28T12:00:00-10:00")
            let maker = try SampleMaker(.stepCount)
            try test.keep([try maker("2400", at: Double(start.microseconds - 1_767_225_600_000_000) / 1e6, lasting: 24 * 3600)])
            let statistics = try test.store.statistics(
                StatisticsQuery(type: .stepCount, intervals: try Self.intervals("1d", zone)))
            #expect(statistics.map(\.sum) == [1200, 1200])
        }
    }

    /// Steps at one instant just before the requested range do not count, however long other samples last.
    @Test func excludesInstantsBeforeRange() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.stepCount)
            try test.keep([
                try maker("100", at: 1, lasting: 7200), try maker("5", at: 3599), try maker("11", at: 3600),
                try maker("13", at: 7200),
            ])
            var query = StatisticsQuery(type: .stepCount, intervals: try Self.intervals("1h", TimeZoneRules(fixed: .utc)))
            query.from = Instant(seconds: 1_767_225_600 + 3600)
            query.to = Instant(seconds: 1_767_225_600 + 7200)
            let statistics = try test.store.statistics(query)
            #expect(statistics.map(\.sum) == [61])
            #expect(statistics.map(\.start) == [Instant(seconds: 1_767_225_600 + 3600)])
        }
    }

    /// However long one sample of a discrete type lasts, an hour's reading is an hour's.
    @Test func aLongSampleCostsNoScan() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.heartRate)
            try test.keep(
                try [maker("50", at: 0, lasting: 400 * 86_400)] + (1...500).map { try maker("60", at: Double($0) * 3600) })
            var query = StatisticsQuery(type: .heartRate, intervals: try Self.intervals("1h", TimeZoneRules(fixed: .utc)))
            query.from = Instant(seconds: 1_767_225_600 + 400 * 3600)
            query.to = Instant(seconds: 1_767_225_600 + 402 * 3600)
            let plan = StatisticsPlan(query)
            let all = try test.store.samples.series(matching: SampleQuery(types: [.heartRate]))
            let ranked = try test.store.ranked(all, query)
            let gathering = try StatisticsGathering(
                store: test.store, query: query, plan: plan, series: ranked)
            var read = 0
            let cells = try gathering.cells(within: StatisticsWindow(query), read: &read)
            #expect(cells.count == 2 && read == 2)
        }
    }

    /// Deleted samples count for nothing.
    @Test("story 35: steps of phone and watch count once") func bySource() throws {
        try TestStore.with { test in
            let (phone, watch) = (try SampleMaker(.stepCount, source: "phone"), try SampleMaker(.stepCount, source: "watch"))
            let deleted = try phone("999", at: 20)
            try test.keep([
                try phone("100", at: 0, lasting: 60), try watch("110", at: 0, lasting: 60), try phone("1", at: 10), deleted,
            ])
            try test.delete(deleted)
            var query = StatisticsQuery(type: .stepCount, intervals: try Self.intervals("1h", TimeZoneRules(fixed: .utc)))
            // The watch has priority. The phone's steps of the same minute are the same steps.
            #expect(try test.store.statistics(query).map(\.sum) == [110])
            query.priority = ["Phone", "phone"]
            #expect(try test.store.statistics(query).map(\.sum) == [101])
            query.countsEvery = true
            #expect(try test.store.statistics(query).map(\.sum) == [211])
            query.countsEvery = false
            query.bySource = true
            let statistics = try test.store.statistics(query)
            #expect(statistics.map(\.source) == ["phone", "watch"])
            #expect(statistics.map(\.sum) == [101, 110])
            query.person = "somebody else"
            #expect(try test.store.statistics(query).isEmpty)
        }
    }

    /// A phone's half hour of which a watch reports ten minutes: the phone counts for the other twenty.
    @Test func partsThatAreCovered() throws {
        try TestStore.with { test in
            let (phone, watch) = (try SampleMaker(.stepCount, source: "iphone"), try SampleMaker(.stepCount, source: "watch"))
            try test.keep([
                try phone("300", at: 0, lasting: 1800), try watch("40", at: 300, lasting: 300),
                try watch("50", at: 1200, lasting: 300), try phone("7", at: 1800, lasting: 60),
            ])
            let query = StatisticsQuery(type: .stepCount, intervals: try Self.intervals("1h", TimeZoneRules(fixed: .utc)))
            let statistics = try test.store.statistics(query)
            #expect(statistics.map(\.sum) == [297])
            #expect(statistics.map(\.count) == [4])
        }
    }

    /// Two scales agree: one counts, the one that a person puts first.
    @Test func linkedSamplesCountOnce() throws {
        try TestStore.with { test in
            let one = try SampleMaker(.bodyMass, source: "a", device: Device(key: "A"))
            let other = try SampleMaker(.bodyMass, source: "b", device: Device(key: "B"))
            try test.keep([try one("80.0", at: 0), try one("82.0", at: 600)])
            #expect(try test.keep([try other("80.0", at: 1)]).account.linked == 1)
            var query = StatisticsQuery(type: .bodyMass, intervals: try Self.intervals("1h", TimeZoneRules(fixed: .utc)))
            for priority in [[], ["b"]] as [[String]] {
                query.priority = priority
                let statistics = try test.store.statistics(query)
                #expect(statistics.map(\.count) == [2])
                #expect(statistics.map(\.average) == [81])
            }
            query.bySource = true
            #expect(try test.store.statistics(query).map(\.count) == [2, 1])
        }
    }

    /// 60 dB for an hour and 80 dB for a minute: the mean of the power by its time.
    @Test func equivalentLevels() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(try #require(SampleType("environmentalAudioExposure")))
            try test.keep([try maker("60", at: 0, lasting: 3000), try maker("80", at: 3000, lasting: 600)])
            let query = StatisticsQuery(type: maker.origin.type, intervals: try Self.intervals("1h", TimeZoneRules(fixed: .utc)))
            let statistics = try #require(try test.store.statistics(query).first)
            // 10 log10((3000 × 10^6 + 600 × 10^8) / 3600), computed with bc.
            #expect(abs(try #require(statistics.average) - 72.430380486862944) < 1e-9)
            #expect((statistics.minimum, statistics.maximum, statistics.mostRecent) == (60, 80, 80))
        }
    }

    /// Against a reference that asks of every sample which intervals it touches.
    @Test(arguments: ["stepCount", "bodyTemperature", "environmentalAudioExposure"])
    func againstAReference(id: String) throws {
        var random = SeededGenerator(seed: 35)
        let type = try #require(SampleType(id))
        let zone = try TimeZoneRules.berlin
        try TestStore.with { test in
            var samples: [GatedSample] = []
            for (index, source) in ["a", "b", "b"].enumerated() {
                let maker = try SampleMaker(type, source: source, device: Device(key: "\(index)"))
                // Around the change of clocks on 29 March 2026.
                for _ in 0..<120 {
                    samples.append(
                        try maker(
                            "\(Int.random(in: 30...99, using: &random)).\(Int.random(in: 0...9, using: &random))",
                            at: 7_344_000 + Double(Int.random(in: 0..<1_000_000, using: &random)),
                            lasting: Double([0, 1, 60, 7200, 200_000][Int.random(in: 0..<5, using: &random)])))
                }
            }
            try test.keep(samples.shuffledBy(seed: 1))
            let live = try test.samples().map(\.sample)
            for (interval, bySource, bounded) in [
                ("1d", false, false), ("6h", true, true), ("1h", false, true), ("1w", true, false), ("1mo", false, true),
            ] {
                let intervals = try Self.intervals(interval, zone)
                var query = StatisticsQuery(type: type, intervals: intervals, bySource: bySource)
                query.countsEvery = true
                if bounded {
                    query.from = Instant(seconds: 1_767_225_600 + 7_500_123)
                    query.to = Instant(seconds: 1_767_225_600 + 8_000_001)
                }
                let statistics = try test.store.statistics(query)
                let expected = Self.reference(live, query)
                // The result is the same in batches, also if one source's samples cover another's.
                for (countsEvery, batch) in [(true, 1), (true, 7), (false, 3), (false, 100)] {
                    query.countsEvery = countsEvery
                    var batches: [Statistics] = []
                    try test.store.statistics(query, batch: batch) {
                        batches += $0
                        return true
                    }
                    let whole = try test.store.statistics(query)
                    #expect(batches.map(\.start) == whole.map(\.start) && batches.map(\.count) == whole.map(\.count))
                    for (one, other) in zip(batches, whole) {
                        #expect(abs(one.sum - other.sum) < 1e-6 * max(1, other.sum))
                        #expect((one.average, one.minimum, one.mostRecent) == (other.average, other.minimum, other.mostRecent))
                    }
                }
                query.countsEvery = true
                #expect(statistics.count == expected.count, "\(id) \(interval)")
                for (one, other) in zip(statistics, expected) {
                    #expect((one.start, one.source, one.count) == (other.start, other.source, other.count), "\(id) \(interval)")
                    if type.aggregation == .cumulative { #expect(abs(one.sum - other.sum) < 1e-6 * max(1, other.sum)) }
                    #expect(abs((one.average ?? 0) - (other.average ?? 0)) < 1e-9)
                    #expect((one.minimum, one.maximum) == (other.minimum, other.maximum))
                }
            }
        }
    }

    private static func reference(_ samples: [Sample], _ query: StatisticsQuery) -> [Statistics] {
        var found: [String: (Statistics, weights: Double, sum: Double)] = [:]
        func add(_ index: Int, _ sample: Sample, share: Double) {
            let source = query.bySource ? sample.origin.source.id : nil
            let key = "\(index + 1_000_000) \(source ?? "")"
            var (statistics, weights, sum) =
                found[key]
                ?? (
                    Statistics(
                        start: query.intervals.start(of: index), end: query.intervals.start(of: index + 1),
                        person: sample.origin.person, source: source), 0, 0
                )
            statistics.count += 1
            if query.type.aggregation == .cumulative {
                statistics.sum += sample.value * share
            } else {
                let length = Double(sample.end.microseconds - sample.start.microseconds)
                let level = query.type.aggregation == .discreteEquivalentContinuousLevel
                let weight = level ? max(length, 1) : 1
                weights += weight
                sum += weight * (level ? pow(10, sample.value / 10) : sample.value)
                statistics.average = level ? 10 * log10(sum / weights) : sum / weights
                statistics.minimum = min(statistics.minimum ?? .infinity, sample.value)
                statistics.maximum = max(statistics.maximum ?? -.infinity, sample.value)
            }
            found[key] = (statistics, weights, sum)
        }
        let (from, to) = (query.from?.microseconds ?? .min, query.to?.microseconds ?? .max)
        for sample in samples {
            let (start, end) = (sample.start.microseconds, sample.end.microseconds)
            guard query.type.aggregation == .cumulative, end > start else {
                if start >= from, start < to { add(query.intervals.index(of: sample.start), sample, share: 1) }
                continue
            }
            for index in query.intervals.index(of: sample.start)...query.intervals.index(of: sample.end) {
                let low = max(query.intervals.start(of: index).microseconds, start, from)
                let high = min(query.intervals.start(of: index + 1).microseconds, end, to)
                if low < high { add(index, sample, share: Double(high - low) / Double(end - start)) }
            }
        }
        return found.sorted { $0.key < $1.key }.map(\.value.0)
    }
}
