import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import PostgreSQLExport

/// Quantities that are copied straight into the table of samples. The readings are made up for Vitalgate.
@Suite struct NewRowsTests {
    private let test: ExportedStore
    private let settings: PostgreSQLSettings

    init() throws {
        test = try ExportedStore()
        settings = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "n" + test.store.identifier)
        _ = try exporter("a").create()
    }

    private func exporter(_ hub: String) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings, context: try ExportContext(name: "x", store: hub, me: test.store.owner, now: { ExportedStore.received }))
    }

    private func sql(_ text: String) throws -> [[String?]] { try PostgreSQLConnection(settings).run(text) }

    private func deliver(_ samples: [Sample], from hub: String) throws {
        _ = try exporter(hub).deliver(ExportBatch(changes: samples.map { .added(StoredSample(sample: $0, ingest: 0, seq: 0)) }))
    }

    /// A reading that has a value in each column.
    private func full() throws -> Sample {
        let origin = Origin(
            person: test.store.owner, type: .bodyMass, source: SourceRevision(id: "x", name: "scale", version: "2"),
            device: Device(key: "k", name: "d", manufacturer: "m", model: "o", serial: "s"))
        let start = Instant(microseconds: 1_790_000_000_000_000)
        let reading = Reading(
            origin: origin, numeral: try Numeral("80.1"), unit: try Unit(ucum: "kg"),
            time: .instants(start: start, end: start, offset: ZoneOffset(seconds: 3600)),
            metadata: Metadata([("note", .string("after lunch"))]), place: Place(.line, 1))
        let samples = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received)
        var sample = try #require(samples.first).sample
        (sample.group, sample.timeResolution) = (7, 60)
        return sample
    }

    /// A reading without values where they may be missing.
    private func plain(_ value: Int, at second: Int) throws -> Sample {
        var sample = try test.sample(value, at: second).sample
        sample.zone = nil
        return sample
    }

    /// Columns that an administrator has changed are filled like the others.
    @Test(
        arguments: [
            "SELECT 1", "ALTER TABLE {}.sample ALTER metadata DROP DEFAULT",
            "ALTER TABLE {}.sample ALTER metadata SET DEFAULT '{\"x\": 1}', ALTER device_name SET DEFAULT 'x'",
            "ALTER TABLE {}.sample ALTER zone_offset SET DEFAULT 1, ALTER group_id SET DEFAULT 'x', ALTER identity SET DEFAULT '{}'",
        ])
    func columnsWithoutValues(change: String) throws {
        _ = try sql(change.replacing("{}.", with: settings.schema + "."))
        try deliver([try plain(60, at: 0)], from: "a")
        try deliver([try plain(61, at: 1), try full()], from: "a")
        let columns = """
            value::integer, zone_offset, source_version, device_key, device_name, device_serial, group_id IS NOT NULL, metadata::text,
            record_id, record_version, identity->>'resolution'
            """
        let rows = try sql("SELECT \(columns) FROM \(settings.schema).sample ORDER BY value")
        let without: [String?] = [nil, nil, nil, nil, nil, "f", "{}", nil, nil, nil]
        #expect(rows[0] == ["60"] + without)
        #expect(rows[1] == ["61"] + without)
        #expect(rows[2] == ["80", "3600", "2", "k", "d", "s", "t", "{\"note\": \"after lunch\"}", nil, nil, "60"])
    }

    /// Many rows of two hubs at the same times, of which some are the same reading.
    @Test(arguments: [0, 1, 99, 100]) func rangeOfAnotherHub(shared: Int) throws {
        try deliver(try (0..<100).map { try test.sample(60, at: 2 * $0).sample }, from: "a")
        try deliver(try (0..<100).map { try test.sample(60, at: 2 * $0 + ($0 < shared ? 0 : 1)).sample }, from: "b")
        let counts = try sql("SELECT cardinality(hubs), count(*) FROM \(settings.schema).sample GROUP BY 1 ORDER BY 1")
        let (single, both) = (200 - 2 * shared, shared)
        #expect(counts == [["1", "\(single)"], ["2", "\(both)"]].filter { $0[1] != "0" })
    }

    /// A hub that sends a block again has each row once, also if the first or last of them was there alone.
    @Test(arguments: [0, 99]) func rangeWithItsEnds(first: Int) throws {
        let samples = try (0..<100).map { try test.sample(60, at: $0).sample }
        try deliver([samples[first]], from: "a")
        try deliver(samples, from: "a")
        try deliver(samples, from: "a")
        #expect(try sql("SELECT count(*), count(DISTINCT uuid) FROM \(settings.schema).sample") == [["100", "100"]])
    }

    @Test func lastChangeOfASampleCounts() throws {
        let samples = try (0..<4).map { try test.sample(60, at: $0).sample }
        func added(_ index: Int) -> SampleChange { .added(StoredSample(sample: samples[index], ingest: 0, seq: 0)) }
        func deleted(_ index: Int) -> SampleChange {
            .deleted(StoredDeletion(sample: samples[index], replacedBy: nil, ingest: 0, seq: 0))
        }
        let changes = [added(0), added(1), deleted(2), deleted(0), added(2), added(3), added(1)]
        let batch = PreparedBatch(ExportBatch(changes: changes))
        #expect(batch.added.map(\.identity) == [samples[2], samples[3], samples[1]].map(\.identity))
        #expect(batch.deleted.map(\.uuid) == [samples[0].identity])
        #expect(batch.people == [test.store.owner])
        #expect(batch.changes == 7)
    }

    /// A statement that the server has parsed is used again, also after an error, and after its table was made anew.
    @Test func preparedStatements() throws {
        let connection = try PostgreSQLConnection(settings)
        let statement = "SELECT count(*) FROM \(settings.schema).hub WHERE id <> $1::integer"
        for _ in 0..<10 { #expect(try connection.runPrepared(statement, ["1"]) == [["0"]]) }
        try connection.run("BEGIN")
        #expect(throws: DeliveryError.self) { try connection.runPrepared(statement, ["x"]) }
        #expect(throws: DeliveryError.self) { try connection.runPrepared("SELECT $1::integer", ["1"]) }
        try connection.run("ROLLBACK")
        #expect(try connection.runPrepared("SELECT $1::integer", ["1"]) == [["1"]])
        _ = try sql("DROP SCHEMA \(settings.schema) CASCADE")
        #expect(throws: DeliveryError.self) { try connection.runPrepared(statement, ["1"]) }
        _ = try exporter("a").create()
        _ = try sql("INSERT INTO \(settings.schema).hub(store) VALUES('other')")
        #expect(try connection.runPrepared(statement, ["0"]) == [["1"]])
    }
}
