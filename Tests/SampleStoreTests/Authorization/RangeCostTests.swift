import HealthModel
import Pipeline
import Testing

@testable import SampleStore

/// The cost of a small request in a long series: steps of SQLite's virtual machine, which are the same on any computer.
@Suite struct RangeCostTests {
    private static let rows = 30_000

    @Test(arguments: [nil, 100.0]) func rangeQueryScansOnlyRange(grantedFrom: Double?) throws {
        try TestStore.with { test in
            let make = try SampleMaker()
            try test.keepExactly(try (0..<Self.rows).map { try make("\(60 + $0 % 40)", at: Double($0)) })
            let now = TestStore.received
            let client = try test.store.clients.add(named: "page", purpose: "Tests", at: now)
            func time(_ second: Double) -> Instant { Instant(microseconds: 1_767_225_600_000_000 + Int64(second * 1e6)) }
            let from = grantedFrom.map(time) ?? Instant(microseconds: .min)
            try test.store.clients.set(
                Grant(person: TestStore.person, type: ObjectType(.heartRate), reading: .from(from), mayWrite: false),
                of: client, at: now)
            let reader = try test.another(.read)
            try reader.restrict(to: client)
            func samples(_ query: SampleQuery) throws -> Int {
                let cursor = try reader.samples.cursor(matching: query)
                defer { cursor.close() }
                var count = 0
                while try cursor.next() != nil { count += 1 }
                return count
            }
            let range = SampleQuery(types: [.heartRate], from: time(Double(Self.rows) - 100), to: time(Double(Self.rows)))
            let interruption = Interruption {}
            // All of them are some million steps.
            interruption.begin(on: reader.connection, after: 50_000)
            #expect(try samples(range) == 100)
            let days = CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc))
            let statistics = try reader.statistics(
                StatisticsQuery(type: .heartRate, intervals: days, from: time(Double(Self.rows) - 100), priority: []))
            #expect(statistics.map(\.count) == [100])
            // Whether a name is known.
            let unknown = try make("7", at: Double(Self.rows - 1)).sample.identity
            #expect(try !ReadableReferences.isReadable(unknown.description, reader.connection))
            interruption.end(on: reader.connection)
            // For the client, earlier samples do not exist.
            #expect(try samples(SampleQuery(types: [.heartRate])) == Self.rows - Int(grantedFrom ?? 0))
            withExtendedLifetime(interruption) {}
        }
    }

    /// A range before the granted one costs the same, with or without hidden data there.
    @Test(arguments: [0, 30_000]) func hiddenDataCostsNothing(hidden: Int) throws {
        try TestStore.with { test in
            let (make, other) = (try SampleMaker(), try SampleMaker(.bodyMass))
            try test.keepExactly(try (0..<hidden).map { try make("\(60 + $0 % 40)", at: Double($0)) })
            try test.keepExactly([try make("61", at: 40_000), try other("70", at: 40_000)])
            let now = TestStore.received
            let client = try test.store.clients.add(named: "page", purpose: "Tests", at: now)
            func time(_ second: Double) -> Instant { Instant(microseconds: 1_767_225_600_000_000 + Int64(second * 1e6)) }
            try test.store.clients.set(
                Grant(person: TestStore.person, type: ObjectType(.heartRate), reading: .from(time(35_000)), mayWrite: false),
                of: client, at: now)
            let reader = try test.another(.read)
            try reader.restrict(to: client)
            let interruption = Interruption {}
            // Thirty thousand rows are some hundred thousand steps.
            interruption.begin(on: reader.connection, after: 20_000)
            for types: Set<SampleType> in [[.heartRate], [.bodyMass]] {
                let cursor = try reader.samples.cursor(matching: SampleQuery(types: types, from: time(0), to: time(30_000)))
                #expect(try cursor.next() == nil)
                cursor.close()
                let days = CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc))
                let type = try #require(types.first)
                var query = StatisticsQuery(type: type, intervals: days, from: time(0), priority: [])
                query.to = time(30_000)
                #expect(try reader.statistics(query).allSatisfy { $0.count == 0 })
            }
            interruption.end(on: reader.connection)
            withExtendedLifetime(interruption) {}
        }
    }
}
