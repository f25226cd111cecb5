import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Hidden data is never read: a client's requests take the same number of SQLite steps, whatever is next to its readable data.
@Suite struct HiddenCostTests {
    /// Counts the steps of a connection.
    private final class StepCounter {
        private(set) var steps = 0

        func count(on connection: Connection, _ body: () throws -> Void) rethrows -> Int {
            steps = 0
            connection.onProgress(every: 1) { [unowned self] in
                steps += 1
                return false
            }
            defer { connection.onProgress(every: 0, nil) }
            try body()
            return steps
        }
    }

    /// The client's readable data, and the data next to it.
    enum Case: CaseIterable {
        /// Three records of many, of one clinic, at the same and at other times.
        case objects
        /// Records that come later, of a series that had many.
        case laterObjects
        /// Heart rates from a day on, and many before.
        case fromADayOn
        /// Heart rates, and many of other types, sources and devices.
        case types
        /// Of one person, and many of another.
        case people
    }

    private static func time(_ hour: Int) -> Instant {
        Instant(microseconds: RestrictionTests.origin + Int64(hour) * RestrictionTests.hour)
    }

    private func prepare(_ kind: Case, hidden: Int, _ test: TestStore) throws -> (Client, [SampleIdentity]) {
        let now = RestrictionTests.now
        let client = try test.store.clients.add(named: "page", purpose: "Tests", at: now)
        let record = ObjectType(try RestrictionTests.type("conditionRecord"))
        let records = try (0..<hidden).map { try RestrictionTests.condition("hidden \($0)", at: 10 + $0 / 4) }
        let shown = try (0..<3).map { try RestrictionTests.condition("shown \($0)", at: 10 + 7 * $0) }
        let heart = try SampleMaker()
        let visible = try (0..<20).map { try heart("\(60 + $0)", at: 400_000 + Double($0) * 60) }
        try test.keepExactly(visible)
        func grant(_ type: ObjectType, _ reading: Grant.Reading, objects: [SampleIdentity] = []) throws {
            try test.store.clients.set(
                Grant(person: TestStore.person, type: type, reading: reading, mayWrite: false), objects: objects, of: client,
                at: now)
        }
        switch kind {
        case .objects:
            try test.keepExactly(records + shown)
            for one in records.prefix(hidden / 2) { try test.delete(one) }
            try grant(record, .objects(future: false), objects: shown.map(\.sample.identity))
            try grant(ObjectType(.heartRate), .all)
            return (client, shown.map(\.sample.identity))
        case .laterObjects:
            try test.keepExactly(records)
            try grant(record, .objects(future: true))
            try test.keepExactly(shown)
            return (client, shown.map(\.sample.identity))
        case .fromADayOn:
            try test.keepExactly(try (0..<hidden).map { try heart("\(60 + $0 % 40)", at: Double($0)) })
            try grant(ObjectType(.heartRate), .from(Self.time(100)))
        case .types:
            let others = try (0..<hidden).map { number in
                try SampleMaker([SampleType.bodyMass, .stepCount, .bodyTemperature][number % 3], source: "s\(number % 400)")(
                    "\(36 + number % 3)", at: 400_000 + Double(number))
            }
            try test.keepExactly(others)
            try grant(ObjectType(.heartRate), .all)
        case .people:
            let other = try SampleMaker(person: RestrictionTests.other)
            try test.keepExactly(try (0..<hidden).map { try other("\(60 + $0 % 40)", at: 400_000 + Double($0)) })
            try grant(ObjectType(.heartRate), .all)
        }
        return (client, visible.map(\.sample.identity))
    }

    /// The number of steps by request.
    private func steps(_ kind: Case, hidden: Int) throws -> [String: Int] {
        try TestStore.with { test in
            let (client, readable) = try prepare(kind, hidden: hidden, test)
            let reader = try RestrictionTests.restricted(test, to: client)
            let unknown = try RestrictionTests.condition("unknown", at: 12).sample.identity
            let counter = StepCounter()
            var steps: [String: Int] = [:]
            func count(_ name: String, _ body: () throws -> Void) throws {
                // What SQLite does once for a connection is not counted.
                try body()
                steps[name] = try counter.count(on: reader.connection, body)
            }
            func samples(_ query: SampleQuery) throws {
                let cursor = try reader.samples.cursor(matching: query)
                defer { cursor.close() }
                while try cursor.next() != nil {}
            }
            try count("samples") { try samples(SampleQuery()) }
            try count("newest") { try samples(SampleQuery(.and([]), descending: true)) }
            try count("range") { try samples(SampleQuery(from: Self.time(10), to: Self.time(30))) }
            try count("latest") { _ = try reader.samples.latest() }
            try count("types") { _ = try reader.samples.series(matching: SampleQuery()) }
            try count("sources") { _ = try reader.sources.counting(matching: SampleQuery(), []) }
            try count("summary") { _ = try reader.summary() }
            try count("changes") { try reader.changes.read(after: .beginning, types: nil, pruned: { _, _ in }, { _, _ in }) }
            let latest = try reader.changes.latestAnchor()
            try count("news") { try reader.changes.read(after: latest, types: nil, pruned: { _, _ in }, { _, _ in }) }
            try count("changed types") { _ = try reader.changes.changedTypes(after: .beginning) }
            try count("characteristics") { _ = try reader.people.characteristics(of: TestStore.person) }
            let days = CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc))
            for type in [SampleType.heartRate, .bodyMass] {
                try count("statistics \(type.id)") {
                    let query = StatisticsQuery(type: type, intervals: days, priority: [])
                    _ = try reader.statistics(query)
                    _ = try reader.extent(of: query)
                }
            }
            try count("rings") { _ = try reader.activity.days(ActivityQuery(zone: TimeZoneRules(fixed: .utc))) }
            for (name, uuid) in [("unknown", unknown), ("known", readable[1])] {
                try count("\(name) object") {
                    _ = try reader.samples.lookup(uuid)
                    _ = try reader.samples.currentSample(uuid)
                    _ = try reader.duplicates.explain(uuid)
                    _ = try reader.samples.derivedCorrelation(uuid)
                }
            }
            return steps
        }
    }

    @Test(arguments: Case.allCases) func hiddenDataCostsNoStep(kind: Case) throws {
        let (without, with) = (try steps(kind, hidden: 60), try steps(kind, hidden: 1200))
        for (name, count) in without.sorted(by: { $0.key < $1.key }) { #expect(with[name] == count, "\(name)") }
    }
}
