import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Everything that a store answers to a reader, without the numbers of series, ingests and changes, which are a store's own.
struct Answers: Equatable {
    /// The answers by request, sorted.
    var reported: [String: [String]] = [:]

    static let zone = TimeZoneRules(fixed: .utc)

    /// - Parameter asked: UUIDs that are looked up.
    init(of store: SampleStore, asked: [SampleIdentity], people: [String]) throws {
        var query = SampleQuery()
        query.derivesCorrelations = true
        reported["samples"] = try Self.lines(query, store)
        let newest = SampleQuery(.and([]), descending: true)
        reported["newest"] = try Self.lines(newest, store)
        reported["latest"] = try store.samples.latest { _ in true }.map { TestStore.line($0.sample) }
        try askAlone(store, asked)
        try count(store)
        try follow(store)
        try record(store, people)
        for key in reported.keys { reported[key]?.sort() }
    }

    private static func lines(_ query: SampleQuery, _ store: SampleStore) throws -> [String] {
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        var lines: [String] = []
        while let next = try cursor.next() { lines.append(TestStore.line(next.sample)) }
        return lines
    }

    /// The answers about one object.
    private mutating func askAlone(_ store: SampleStore, _ asked: [SampleIdentity]) throws {
        for uuid in asked {
            if let found = try store.samples.sample(uuid) { reported["sample", default: []].append(TestStore.line(found.sample)) }
            switch try store.samples.lookup(uuid) {
            case .live(let found)?: reported["lookup", default: []].append(TestStore.line(found.sample))
            case .deleted(let found, let successor)?:
                reported["lookup", default: []].append("deleted \(TestStore.line(found.sample)) \(successor ?? "")")
            case nil: break
            }
            if let found = try store.samples.currentSample(uuid) {
                reported["object", default: []].append(TestStore.line(found.sample))
            }
            if let found = try store.samples.derivedCorrelation(uuid) { reported["derived", default: []].append("\(found.uuid)") }
            if let found = try store.duplicates.explain(uuid) {
                reported["explain", default: []].append(
                    "\(found.stored.uuid) \(found.first == nil) \(found.duplicates.count) \(found.linked.count)")
            }
            if try store.changes.change(of: uuid) != nil { reported["change", default: []].append("\(uuid)") }
            if try store.repairs.repair(ofEntry: uuid) != nil { reported["repair", default: []].append("\(uuid)") }
            for field in [SamplePredicate.Field.fromWorkout, .inCorrelation] {
                let related = SampleQuery(.comparison(field, .equal, .text("\(uuid)")))
                reported["related", default: []] += try Self.lines(related, store)
            }
        }
    }

    private mutating func count(_ store: SampleStore) throws {
        // A second connection must not see what this one does not show.
        store.parallelStatistics = ParallelStatistics.Limits(rows: 1, connections: 2)
        let days = CalendarIntervals(.day, zone: Self.zone)
        for type in [SampleType.heartRate, .stepCount, .bodyMass] {
            for bySource in [false, true] {
                let query = StatisticsQuery(type: type, intervals: days, bySource: bySource, priority: ["strap", "phone"])
                reported["statistics", default: []] += try store.statistics(query).map { "\(type.id) \($0)" }
                if let extent = try store.extent(of: query) { reported["extent", default: []].append("\(type.id) \(extent)") }
            }
        }
        for source in try store.sources.counting(matching: SampleQuery(), []) {
            reported["sources", default: []].append(
                "\(source.sourceName) \(source.series.type.id) \(source.series.person) \(source.first) \(source.last)")
        }
        reported["series"] = try store.samples.series(matching: SampleQuery()).map {
            "\($0.type.id) \($0.person) \($0.source) \($0.device)"
        }
        reported["counts"] = try store.summary().series.map { "\($0.description.type.id) \($0.count) \($0.first) \($0.last)" }
        reported["rings"] = try store.activity.days(ActivityQuery(zone: Self.zone)).map { "\($0.day) \($0.summary == nil)" }
        reported["ring subjects"] = try store.activity.people(ActivityQuery(zone: Self.zone))
    }

    private mutating func follow(_ store: SampleStore) throws {
        try store.changes.read(
            after: .beginning, types: nil,
            pruned: { pruning, _ in self.reported["pruned", default: []].append(pruning.type.id) },
            { change, _ in
                switch change {
                case .added(let stored): self.reported["changes", default: []].append("+ \(TestStore.line(stored.sample))")
                case .deleted(let deleted): self.reported["changes", default: []].append("- \(TestStore.line(deleted.sample))")
                }
            })
        reported["changed types"] = try store.changes.changedTypes(after: .beginning).types.map(\.id)
    }

    private mutating func record(_ store: SampleStore, _ people: [String]) throws {
        for person in people {
            reported["characteristics", default: []] += try store.people.characteristics(of: person).entries.map {
                "\($0.person) \($0.type) \($0.value?.value ?? "") \($0.isWithdrawn)"
            }
        }
        reported["characterised"] = try store.people.peopleWithCharacteristics()
    }

    /// Data that no grant includes: the store keeps it for the hub and its owner.
    static func family(_ store: SampleStore) throws -> [Int] {
        [
            try store.people.all().count, try store.devices.adopted().count, try store.devices.aliases().count,
            try store.ledger.accounts().count,
            try store.quarantine.all().count, try store.repairs.all().count, try store.targets.all().count,
            try store.clients.all().count,
            try store.ledger.readingCounts(since: 0).stored, try store.summary().ingests, try store.summary().quarantined,
        ]
    }
}
