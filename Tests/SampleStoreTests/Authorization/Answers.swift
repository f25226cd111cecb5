import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Everything that a store answers to a reader, without the numbers of series, ingests and changes, which are a store's own.
struct Answers: Equatable {
    /// The answers by request, sorted.
    var told: [String: [String]] = [:]

    static let zone = TimeZoneRules(fixed: .utc)

    /// - Parameter asked: UUIDs that are looked up.
    init(of store: SampleStore, asked: [SampleIdentity], subjects: [String]) throws {
        var query = SampleQuery()
        query.derivesCorrelations = true
        told["samples"] = try Self.lines(query, store)
        let newest = SampleQuery(.and([]), descending: true)
        told["newest"] = try Self.lines(newest, store)
        told["latest"] = try store.samples.latest { _ in true }.map { TestStore.line($0.sample) }
        try askAlone(store, asked)
        try count(store)
        try follow(store)
        try tell(store, subjects)
        for key in told.keys { told[key]?.sort() }
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
            if let found = try store.samples.sample(uuid) { told["sample", default: []].append(TestStore.line(found.sample)) }
            switch try store.samples.lookup(uuid) {
            case .live(let found)?: told["lookup", default: []].append(TestStore.line(found.sample))
            case .deleted(let found, let successor)?:
                told["lookup", default: []].append("deleted \(TestStore.line(found.sample)) \(successor ?? "")")
            case nil: break
            }
            if let found = try store.samples.currentSample(uuid) {
                told["object", default: []].append(TestStore.line(found.sample))
            }
            if let found = try store.samples.derivedCorrelation(uuid) { told["derived", default: []].append("\(found.uuid)") }
            if let found = try store.duplicates.explain(uuid) {
                told["explain", default: []].append(
                    "\(found.stored.uuid) \(found.first == nil) \(found.witnesses.count) \(found.linked.count)")
            }
            if try store.changes.change(of: uuid) != nil { told["change", default: []].append("\(uuid)") }
            if try store.repairs.repair(thatMade: uuid) != nil { told["repair", default: []].append("\(uuid)") }
            for field in [SamplePredicate.Field.fromWorkout, .inCorrelation] {
                let related = SampleQuery(.comparison(field, .equal, .text("\(uuid)")))
                told["related", default: []] += try Self.lines(related, store)
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
                told["statistics", default: []] += try store.statistics(query).map { "\(type.id) \($0)" }
                if let extent = try store.extent(of: query) { told["extent", default: []].append("\(type.id) \(extent)") }
            }
        }
        for source in try store.sources.counting(matching: SampleQuery(), []) {
            told["sources", default: []].append(
                "\(source.sourceName) \(source.series.type.id) \(source.series.subject) \(source.first) \(source.last)")
        }
        told["series"] = try store.samples.series(matching: SampleQuery()).map {
            "\($0.type.id) \($0.subject) \($0.source) \($0.device)"
        }
        told["counts"] = try store.summary().series.map { "\($0.description.type.id) \($0.count) \($0.first) \($0.last)" }
        told["rings"] = try store.activity.days(ActivityQuery(zone: Self.zone)).map { "\($0.day) \($0.summary == nil)" }
        told["ring subjects"] = try store.activity.subjects(ActivityQuery(zone: Self.zone))
    }

    private mutating func follow(_ store: SampleStore) throws {
        try store.changes.read(
            after: .beginning, types: nil,
            pruned: { pruning, _ in self.told["pruned", default: []].append(pruning.type.id) },
            { change, _ in
                switch change {
                case .added(let stored): self.told["changes", default: []].append("+ \(TestStore.line(stored.sample))")
                case .deleted(let gone): self.told["changes", default: []].append("- \(TestStore.line(gone.sample))")
                }
            })
        told["changed types"] = try store.changes.changedTypes(after: .beginning).types.map(\.id)
    }

    private mutating func tell(_ store: SampleStore, _ subjects: [String]) throws {
        for subject in subjects {
            told["characteristics", default: []] += try store.people.characteristics(of: subject).entries.map {
                "\($0.subject) \($0.type) \($0.value?.value ?? "") \($0.isWithdrawn)"
            }
        }
        told["characterised"] = try store.people.subjectsWithCharacteristics()
    }

    /// Data that no grant includes: the store keeps it for the hub and its owner.
    static func household(_ store: SampleStore) throws -> [Int] {
        [
            try store.people.all().count, try store.devices.adopted().count, try store.devices.aliases().count,
            try store.ledger.accounts().count,
            try store.quarantine.all().count, try store.repairs.all().count, try store.targets.all().count,
            try store.clients.all().count,
            try store.ledger.readingCounts(since: 0).stored, try store.summary().ingests, try store.summary().quarantined,
        ]
    }
}
