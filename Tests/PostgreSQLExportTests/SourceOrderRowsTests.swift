import ExportTesting
import HealthModel
import Pipeline
import SampleStore
import Testing

@testable import PostgreSQLExport

/// The users' orders of sources, which decide what counts in the statistics of days.
@Suite struct SourceOrderRowsTests {
    private let test: ExportedStore
    private let settings: PostgreSQLSettings

    private static let me = "aaaaaaaa-0000-4000-8000-000000000001"

    init() throws {
        test = try ExportedStore()
        settings = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "o" + test.store.identifier)
        _ = try exporter("one").create()
    }

    private func exporter(_ store: String) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings,
            context: try ExportContext(name: "other", store: store, me: Self.me, now: { ExportedStore.received }),
            days: { try SampleStatistics() })
    }

    private func steps(_ count: Int, _ source: String, of person: String = me) throws -> SampleChange {
        let start = Instant(seconds: 1_790_000_000)
        let reading = Reading(
            origin: Origin(person: person, type: .stepCount, source: SourceRevision(id: source, name: source)),
            numeral: try Numeral("\(count)"), unit: try Unit(ucum: "{count}"),
            time: .instants(start: start, end: Instant(seconds: 1_790_000_600), offset: .utc), place: Place(.line, 1))
        let sample = try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
        return .added(StoredSample(sample: sample.sample, ingest: 0, seq: 0))
    }

    private func sums() throws -> [String?] {
        while try exporter("one").idle() != nil {}
        return try PostgreSQLConnection(settings).run(
            "SELECT step_count FROM \(settings.schema).person_day ORDER BY subject"
        ).map { $0[0] }
    }

    private func rows() throws -> Int {
        let row = try PostgreSQLConnection(settings).run("SELECT count(*) FROM \(settings.schema).source_order")
        return row[0][0].flatMap { Int($0) } ?? -1
    }

    @Test func theOrderOfTheHubCounts() throws {
        _ = try exporter("one").deliver(ExportBatch(changes: [steps(1000, "My Watch"), steps(700, "My Phone")]))
        #expect(try sums() == ["1000"])
        let order = SourceOrder(type: .stepCount, names: ["my phone"])
        try exporter("one").set([order])
        #expect(try sums() == ["700"])
        // Nothing is computed again for the same order.
        try exporter("one").set([order])
        #expect(try PostgreSQLConnection(settings).run("SELECT 1 FROM \(settings.schema).day_due").isEmpty)
        // More specific ones come first, in any order of arrival.
        try exporter("one").set([order, SourceOrder(person: Self.me, names: ["My Watch"])])
        #expect(try sums() == ["1000"])
        try exporter("one").set([])
        #expect(try sums() == ["1000"] && rows() == 0)
    }

    /// A day that is being computed while the order changes is computed again, although it has no statistics yet.
    @Test func anOrderChangesMarks() throws {
        _ = try exporter("one").deliver(ExportBatch(changes: [steps(1000, "My Watch"), steps(700, "My Phone")]))
        let connection = try PostgreSQLConnection(settings)
        func numbers() throws -> [String?] {
            try connection.run("SELECT number FROM \(settings.schema).day_due ORDER BY date").map { $0[0] }
        }
        let before = try numbers()
        try exporter("one").set([SourceOrder(names: ["My Phone"])])
        let after = try numbers()
        #expect(!before.isEmpty && before.count == after.count && Set(before).isDisjoint(with: after))
        #expect(try sums() == ["700"])
    }

    /// A hub decides nothing for people whose readings it has not sent, and the last of two hubs decides.
    @Test func anotherHubsOrder() throws {
        _ = try exporter("one").deliver(ExportBatch(changes: [steps(1000, "My Watch"), steps(700, "My Phone")]))
        try exporter("two").set([
            SourceOrder(names: ["My Phone"]), SourceOrder(person: Self.me, type: .stepCount, names: ["My Phone"]),
        ])
        #expect(try sums() == ["1000"])
        _ = try exporter("two").deliver(ExportBatch(changes: [steps(10, "Ring")]))
        #expect(try sums() == ["700"])
        try exporter("one").set([SourceOrder(person: Self.me, type: .stepCount, names: ["Ring"])])
        #expect(try sums() == ["10"])
    }

    /// Nothing of an erased person stays, and nothing comes back with the next order.
    @Test func ordersOfErasedPeople() throws {
        let other = "aaaaaaaa-0000-4000-8000-000000000002"
        _ = try exporter("one").deliver(ExportBatch(changes: [steps(1000, "My Watch"), steps(5, "My Watch", of: other)]))
        let orders = [Self.me, other].map { SourceOrder(person: $0, names: ["My Phone"]) }
        try exporter("one").set(orders)
        #expect(try rows() == 2)
        try exporter("one").erase(person: other)
        #expect(try rows() == 1)
        let connection = try PostgreSQLConnection(settings)
        try connection.run("BEGIN")
        try PersonErasure(schema: settings.schema).run(of: Self.me, connection)
        try connection.run("COMMIT")
        try exporter("one").set(orders)
        #expect(try connection.run("SELECT subject FROM \(settings.schema).source_order") == [[other]])
    }
}
