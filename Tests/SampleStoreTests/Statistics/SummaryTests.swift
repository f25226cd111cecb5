import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Statistics from summaries, compared with those of each sample, in stores that change in between.
@Suite struct SummaryTests {
    private static let hours = 3
    private static let limits = Summaries.Limits(samples: 30, rows: 4000, time: 0)
    private static let first = try? Instant("2026-01-01T00:00:00Z")

    private static let queries: [(every: String, from: Double?, to: Double?)] = [
        ("1h", nil, nil), ("7m", nil, nil), ("10m", nil, nil), ("1d", nil, nil), ("13m", 1234.5, 9876), ("1h", 601, 7199.25),
        ("1y", 0, 3600),
    ]

    /// The answer of a reader. One that does not know summaries reads each sample.
    private func reported(_ store: SampleStore) throws -> [Statistics] {
        let first = try #require(Self.first)
        return try Self.queries.flatMap { query in
            let interval = try #require(CalendarInterval(query.every))
            func time(_ seconds: Double?) -> Instant? {
                seconds.map { Instant(microseconds: first.microseconds + Int64($0 * 1e6)) }
            }
            return try store.statistics(
                StatisticsQuery(
                    type: .heartRate, intervals: CalendarIntervals(interval, zone: TimeZoneRules(fixed: .utc)),
                    from: time(query.from),
                    to: time(query.to), priority: []))
        }
    }

    private func reader(_ test: TestStore, knowsSummaries: Bool, _ client: Client? = nil) throws -> SampleStore {
        let reader = try test.another(.read)
        if let client { try reader.restrict(to: client) }
        if !knowsSummaries {
            try reader.connection.execute(
                "PRAGMA query_only = OFF; DROP VIEW IF EXISTS temp.summary; CREATE TEMP VIEW summary AS SELECT * FROM main.summary WHERE 0"
            )
        }
        return reader
    }

    private func expectAlike(_ test: TestStore, _ comment: Comment, _ client: Client? = nil) throws {
        let (summed, read) = (
            try reported(try reader(test, knowsSummaries: true, client)),
            try reported(try reader(test, knowsSummaries: false, client))
        )
        #expect(summed.count == read.count && !read.isEmpty, comment)
        for (one, other) in zip(summed, read) {
            #expect(
                (one.start, one.count, one.minimum, one.maximum, one.mostRecent) == (
                    other.start, other.count, other.minimum, other.maximum, other.mostRecent
                ), comment)
            let (average, expected) = (try #require(one.average), try #require(other.average))
            #expect(abs(average - expected) < 1e-9 * expected, comment)
        }
        #expect(try test.store.wrongSummaries().isEmpty, comment)
    }

    private func count(_ test: TestStore) throws -> Int64 {
        try test.store.connection.integer("SELECT count(*) FROM summary") ?? 0
    }

    private func dense(_ make: SampleMaker, _ random: inout SeededGenerator) throws -> [GatedSample] {
        try (0..<Self.hours * 3600).compactMap { second in
            // An hour in which the strap is off now and then.
            if second / 3600 == 1, second / 700 % 2 == 0 { return nil }
            return try make("\(50 + Int.random(in: 0..<100, using: &random))", at: Double(second))
        }
    }

    @Test(arguments: 0..<6) func summariesEqualSamples(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try TestStore.with { test in
            let make = try SampleMaker()
            var (here, deleted) = (try dense(make, &random), [GatedSample]())
            try test.keepExactly(here)
            try test.store.summaries = Self.limits
            while try test.store.summarize() {}
            #expect(try count(test) >= 12)
            try expectAlike(test, "as it came")
            for step in 0..<12 {
                let key = Double.random(in: -2000..<Double(Self.hours) * 3600 + 2000, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let more = try (0..<Int.random(in: 1..<40, using: &random)).map {
                        try make("200", at: key + Double($0) * 7.5)
                    }
                    try test.keepExactly(more)
                    here += more
                case 1:
                    let index = Int.random(in: 0..<here.count, using: &random)
                    let sample = here.remove(at: index)
                    try test.delete(sample)
                    deleted.append(sample)
                case 2 where !deleted.isEmpty: try test.restore(deleted.removeFirst())
                default:
                    let from = Int.random(in: 0..<here.count - 50, using: &random)
                    _ = try test.store.samples.delete(
                        here[from..<from + 50].map(\.sample.identity), description: TestStore.description(.delete))
                    here.removeSubrange(from..<from + 50)
                }
                try expectAlike(test, "step \(step)")
                // Some summaries are renewed, and some changes affect renewed ones.
                if Bool.random(using: &random) { while try test.store.summarize() {} }
            }
            #expect(try test.store.check(deep: true).isEmpty)
        }
    }

    @Test func summariesExcludePrunedSamples() throws {
        var random = SeededGenerator(seed: 7)
        try TestStore.with { test in
            try test.keepExactly(try dense(try SampleMaker(), &random))
            try test.store.summaries = Self.limits
            while try test.store.summarize() {}
            let date = Instant(microseconds: try #require(Self.first).microseconds + 4321 * 1_000_000)
            _ = try test.store.prune([.heartRate: date], description: TestStore.description(.prune))
            try expectAlike(test, "pruned")
            while try test.store.summarize() {}
            #expect(try count(test) > 3)
            try expectAlike(test, "summed up again")
        }
    }

    /// From a moment on: the summaries next to it do not depend on earlier samples.
    @Test func clientSeesOnlyReadableSummaries() throws {
        var random = SeededGenerator(seed: 8)
        try TestStore.with { test in
            try test.keepExactly(try dense(try SampleMaker(), &random))
            try test.store.summaries = Self.limits
            while try test.store.summarize() {}
            let first = try #require(Self.first)
            let client = try test.store.clients.add(named: "page", purpose: "Tests", at: first)
            for second in [0, 599, 600, 3300, 5000] as [Int64] {
                let from = Instant(microseconds: first.microseconds + second * 1_000_000)
                try test.store.clients.set(
                    Grant(person: TestStore.person, type: ObjectType(.heartRate), reading: .from(from), mayWrite: false),
                    of: client,
                    at: first)
                try expectAlike(test, "from \(second)", client)
            }
            try test.store.clients.set(
                Grant(person: TestStore.person, type: ObjectType(.heartRate), reading: .none, mayWrite: false), of: client,
                at: first)
            #expect(try reported(try reader(test, knowsSummaries: true, client)).isEmpty)
        }
    }

    /// A year in points reads few rows of it.
    @Test func fewRowsAreRead() throws {
        var random = SeededGenerator(seed: 9)
        try TestStore.with { test in
            try test.keepExactly(try dense(try SampleMaker(), &random))
            let query = StatisticsQuery(
                type: .heartRate, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)), priority: [])
            func read() throws -> Int { try StatisticsCollection(query, in: try test.another(.read)).update().read }
            let before = try read()
            try test.store.summaries = Self.limits
            while try test.store.summarize() {}
            #expect(try read() < before / 5)
        }
    }
}
