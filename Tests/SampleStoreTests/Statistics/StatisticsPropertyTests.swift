import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Random stores, compared with ``StatisticsReference``: samples at the borders of intervals and of each other, from several sources,
/// across changes of clocks.
@Suite struct StatisticsPropertyTests {
    typealias ReferenceSample = StatisticsReference.ReferenceSample

    private static let zones: [(rule: String, first: String)] = [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-28"), ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-24"),
        ("<+0530>-5:30", "2026-06-01"), ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-04-04"),
        ("<-04>4<-03>,M9.1.6/24,M4.1.6/24", "2026-09-05"),
    ]
    private static let types = ["stepCount", "bodyTemperature", "heartRate", "environmentalAudioExposure"]
    /// Each person is a separate store, and a hundred share a file.
    private static let persons = 100

    private struct Person {
        var id: String
        var type: SampleType
        var reported: [ReferenceSample]
    }

    @Test(arguments: 0..<50) func fiveThousandStores(file: Int) throws {
        var random = SeededGenerator(seed: UInt64(file))
        let key = Self.zones[file % Self.zones.count]
        let zone = try TimeZoneRules(rule: key.rule, identifier: "there")
        let first = Int(try Instant("\(key.first)T00:00:00+00:00").microseconds / StatisticsReference.tick)
        try TestStore.with { test in
            var persons: [Person] = []
            var batch: [GatedSample] = []
            for number in 0..<Self.persons {
                let hexadecimal = String(number + 4096 * (file + 1), radix: 16)
                let id = "6d1f6e7c-2f0a-4a0e-9a52-" + String(repeating: "0", count: 12 - hexadecimal.count) + hexadecimal
                let type = try #require(SampleType(Self.types[number % Self.types.count]))
                let person = Person(id: id, type: type, reported: Self.samples(&random))
                for sample in person.reported { batch.append(try Self.sample(sample, of: person, first)) }
                persons.append(person)
            }
            try test.keepExactly(batch)
            // Half of them with whatever can be summed up.
            if file % 2 == 0 {
                try test.store.summaries = Summaries.Limits(samples: 1, rows: 5, time: 0)
                while try test.store.summarize() {}
                #expect(try test.store.connection.integer("SELECT count(*) FROM summary") ?? 0 > 20)
                #expect(try test.store.wrongSummaries().isEmpty)
            }
            // The same in parts, however few there are.
            let reader = try SampleStore(path: test.path, access: .read)
            reader.parallelStatistics = ParallelStatistics.Limits(rows: 1, connections: 3)
            for person in persons { try Self.compare(person, test, reader, zone, first, &random) }
        }
    }

    /// Few times and values, so that samples touch, cover and equal one another.
    private static func samples(_ random: inout SeededGenerator) -> [ReferenceSample] {
        var reported: Set<ReferenceSample> = []
        let lengths = [0, 0, 0, 1, 2, 12, 60, 288][0..<Int.random(in: 1...8, using: &random)]
        for _ in 0..<Int.random(in: 1...14, using: &random) {
            let start =
                Bool.random(using: &random)
                ? 12 * Int.random(in: 0..<60, using: &random) : 300 + Int.random(in: 0..<24, using: &random)
            var next = ReferenceSample(
                series: Int.random(in: 0..<3, using: &random), start: start, length: lengths.randomElement(using: &random) ?? 0,
                value: [30, 36, 37, 60][Int.random(in: 0..<4, using: &random)], zone: nil)
            // The zone does not make it another reading.
            if reported.contains(where: {
                ($0.series, $0.start, $0.length, $0.value) == (next.series, next.start, next.length, next.value)
            }) {
                continue
            }
            next.zone = [nil, 1, -8, 14][Int.random(in: 0..<4, using: &random)]
            reported.insert(next)
        }
        return reported.sorted {
            ($0.series, $0.start, $0.length, $0.value, $0.zone ?? 0) < ($1.series, $1.start, $1.length, $1.value, $1.zone ?? 0)
        }
    }

    private static func sample(_ reported: ReferenceSample, of person: Person, _ first: Int) throws -> GatedSample {
        var maker = try SampleMaker(
            person.type, source: "source\(reported.series)", sourceName: "Source \(reported.series)", person: person.id)
        maker.zone = reported.zone.map { ZoneOffset(seconds: Int32($0 * 3600)) }
        let seconds = (first + reported.start) * 300 - 1_767_225_600
        return try maker("\(reported.value)", at: Double(seconds), lasting: Double(reported.length * 300))
    }

    private static func compare(
        _ person: Person, _ test: TestStore, _ reader: SampleStore, _ zone: TimeZoneRules, _ first: Int,
        _ random: inout SeededGenerator
    ) throws {
        let (interval, hours) = [("1d", 0), ("1h", 1), ("6h", 6), ("3d", 0)][Int.random(in: 0..<4, using: &random)]
        let length = Int64(interval == "3d" ? 3 : 1) * Calendar.day
        let noon = Bool.random(using: &random) ? Calendar.day / 2 : 0
        let ownZones = hours == 0 && Bool.random(using: &random)
        // Days begin at midnight or noon of a day without a change of clocks, long before.
        let anchorWall = WallTime(microseconds: Int64(first) * StatisticsReference.tick - 9 * Calendar.day + noon)
        let offset = zone.offset(at: Instant(microseconds: anchorWall.microseconds))
        let anchor = anchorWall.instant(at: offset)
        let intervals = CalendarIntervals(try #require(CalendarInterval(interval)), zone: zone, anchor: anchor)
        // Sources without an order are sorted by their ids.
        let ordered = Int.random(in: 0...3, using: &random)
        var query = StatisticsQuery(
            type: person.type, intervals: intervals, person: person.id,
            priority: Array(["source0", "source1", "source2"].prefix(ordered)))
        query.countsEvery = Int.random(in: 0..<4, using: &random) == 0
        query.usesSampleZones = ownZones
        let isDiscrete = person.type.aggregation != .cumulative
        if isDiscrete {
            query.options = .percentiles
            query.ranges = [ValueRange("36..37"), ValueRange("..36"), ValueRange("50..")].compactMap { $0 }
        }
        var bounds = (-2000, 5000)
        if Bool.random(using: &random) {
            bounds = (Int.random(in: 0..<400, using: &random), Int.random(in: 400..<800, using: &random))
            query.from = Instant(microseconds: Int64(first + bounds.0) * StatisticsReference.tick)
            query.to = Instant(microseconds: Int64(first + bounds.1) * StatisticsReference.tick)
        }
        let reference = StatisticsReference(
            style: person.type.aggregation, reported: person.reported, first: first, zone: zone, ownZones: ownZones,
            countsEvery: query.countsEvery, ordered: ordered, from: bounds.0, to: bounds.1,
            bucket: { time in
                hours > 0
                    ? Int(
                        (time - anchor.microseconds).flooredQuotientAndRemainder(dividingBy: Int64(hours) * 3_600_000_000)
                            .quotient)
                    : Int((time - anchorWall.microseconds).flooredQuotientAndRemainder(dividingBy: length).quotient)
            }, byWall: hours == 0)
        let expected = reference.figures()
        let whole = try test.store.statistics(query)
        #expect(whole.map { intervals.index(of: $0.start) } == expected.keys.sorted(), "\(person.reported)")
        for row in whole {
            guard let figures = expected[intervals.index(of: row.start)] else { continue }
            expect(
                row, figures, person.type.aggregation, query.ranges, "\(person.reported) \(query.intervals.interval) \(row.start)"
            )
        }
        // Some at a time it is the same, and by several connections.
        var batches: [Statistics] = []
        try test.store.statistics(query, batch: Int.random(in: 1...9, using: &random)) {
            batches += $0
            return true
        }
        for others in [batches, try reader.statistics(query)] {
            #expect(others.map(\.start) == whole.map(\.start) && others.map(\.count) == whole.map(\.count))
            for (one, other) in zip(others, whole) {
                #expect(isNear(one.sum, other.sum) && isNear(one.average, other.average) && one.percentiles == other.percentiles)
                #expect((one.minimum, one.maximum, one.mostRecent) == (other.minimum, other.maximum, other.mostRecent))
                #expect(isNear(one.duration, other.duration))
            }
        }
    }

    private static func expect(
        _ row: Statistics, _ figures: StatisticsReference.Figures, _ style: AggregationStyle, _ ranges: [ValueRange],
        _ description: String
    ) {
        #expect(row.count == figures.count, "\(description)")
        #expect(isNear(row.duration, figures.seconds), "\(row.duration) \(figures.seconds) \(description)")
        #expect(row.mostRecent.map(figures.latest.values.contains) == true, "\(description)")
        if style == .cumulative {
            #expect(isNear(row.sum, figures.sum), "\(row.sum) \(figures.sum) \(description)")
            return
        }
        #expect(isNear(row.average, figures.average(style)), "\(row) \(description)")
        #expect(
            row.minimum == figures.weighed.map(\.value).min() && row.maximum == figures.weighed.map(\.value).max(),
            "\(description)")
        #expect(row.percentiles == Statistics.percentileRanks.compactMap(figures.percentile), "\(description)")
        for (one, other) in zip(row.inRange, figures.fractions(ranges)) { #expect(isNear(one.fraction, other), "\(description)") }
    }

    private static func isNear(_ one: Double?, _ other: Double?) -> Bool {
        guard let one, let other else { return (one == nil) == (other == nil) }
        return abs(one - other) <= 1e-9 * max(1, abs(other))
    }
}
