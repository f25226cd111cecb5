import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import PostgreSQLExport

/// Content that another hub has sent under a UUID which the content does not give. The readings are made up for Vitalgate.
@Suite struct ConflictRowsTests {
    private let test: ExportedStore
    private let settings: PostgreSQLSettings

    init() throws {
        test = try ExportedStore()
        settings = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "c" + test.store.identifier)
        _ = try exporter("a").create()
    }

    private func exporter(_ hub: String) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings, context: try ExportContext(name: "x", store: hub, me: test.store.owner, now: { ExportedStore.received }))
    }

    private func sql(_ text: String) throws -> [[String?]] { try PostgreSQLConnection(settings).run(text) }

    private func deliver(_ sample: Sample, from hub: String, rewrites: Bool = false) throws {
        var batch = ExportBatch(changes: [.added(StoredSample(sample: sample, ingest: 0, seq: 0))])
        batch.rewrites = rewrites
        _ = try exporter(hub).deliver(batch)
    }

    private func delete(_ sample: Sample, from hub: String) throws {
        _ = try exporter(hub).deliver(
            ExportBatch(changes: [.deleted(StoredDeletion(sample: sample, replacedBy: nil, ingest: 0, seq: 0))]))
    }

    private func rows() throws -> [[String?]] {
        try sql(
            """
            SELECT value, (SELECT string_agg(store, ',' ORDER BY store) FROM \(settings.schema).hub WHERE id = ANY(hubs))
            FROM \(settings.schema).sample ORDER BY value
            """)
    }

    /// A record's UUID follows from its id and version. Two hubs with other content under one UUID have a row each, in any order, and a
    /// rewriting delivery changes only the hub's own.
    @Test(arguments: [["a", "b"], ["b", "a"]]) func contentUnderOneUUIDStaysApart(order: [String]) throws {
        let record = RecordIdentifier(id: "rec-1", version: 1)
        let values = ["a": 60, "b": 199]
        for hub in order {
            try deliver(try test.sample(values[hub] ?? 0, at: 0, record: record).sample, from: hub, rewrites: true)
        }
        #expect(try rows() == [["60", "a"], ["199", "b"]])
        try deliver(try test.sample(199, at: 0, record: record).sample, from: "b", rewrites: true)
        #expect(try rows() == [["60", "a"], ["199", "b"]])
        try delete(try test.sample(199, at: 0, record: record).sample, from: "b")
        #expect(try rows() == [["60", "a"]])
    }

    /// A row whose UUID follows from its content represents the others.
    @Test(arguments: [["a", "b"], ["b", "a"]]) func aForgedUUIDOccupiesNothing(order: [String]) throws {
        let real = try test.sample(60, at: 0).sample
        // The same UUID with other content. Only a program that invents readings makes one.
        var forged = try test.sample(199, at: 0).sample
        forged.identity = real.identity
        for hub in order { try deliver(hub == "a" ? real : forged, from: hub, rewrites: true) }
        #expect(try rows() == [["60", "a"]])
        #expect(try sql("SELECT content->>'value' FROM \(settings.schema).superseded") == [["199"]])
        try delete(forged, from: "b")
        #expect(try rows() == [["60", "a"]])
        #expect(try sql("SELECT 1 FROM \(settings.schema).superseded").isEmpty)
    }

    /// A hub does not change a row that another hub has too.
    @Test func aSharedRowIsNotRewritten() throws {
        let sample = try test.sample(60, at: 0).sample
        for hub in ["a", "b"] { try deliver(sample, from: hub) }
        var renamed = sample
        renamed.metadata = Metadata([("note", .string("changed"))])
        try deliver(renamed, from: "b", rewrites: true)
        #expect(try sql("SELECT metadata->>'note' FROM \(settings.schema).sample") == [[nil]])
        #expect(try rows() == [["60", "a,b"]])
    }
}
