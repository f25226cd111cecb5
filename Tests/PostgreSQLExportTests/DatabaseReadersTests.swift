import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import PostgreSQLExport

/// The rights of the collector, of analysts, and of auditors, and the views of analysts.
@Suite struct DatabaseReadersTests {
    private let test: ExportedStore
    private let server: PostgreSQLServer
    private let schema: String

    init() throws {
        test = try ExportedStore()
        server = try PostgreSQLServer.shared.get()
        schema = "r" + test.store.identifier
        for role in ["owner_", "ana_", "audra_"] { try admin("CREATE ROLE \(role)\(schema) LOGIN") }
        for role in ["analyst_", "auditor_"] { try admin("CREATE ROLE \(role)\(schema)") }
        try admin("GRANT analyst_\(schema) TO ana_\(schema); GRANT auditor_\(schema) TO audra_\(schema)")
        try admin("CREATE SCHEMA \(schema) AUTHORIZATION owner_\(schema)")
    }

    private func settings(_ user: String, partitions: Int = 0) -> PostgreSQLSettings {
        PostgreSQLSettings(
            host: server.folder, database: "postgres", user: "\(user)_\(schema)", schema: schema, partitions: partitions)
    }

    private func admin(_ text: String) throws {
        var settings = settings("")
        settings.user = "vitalgate"
        try PostgreSQLConnection(settings).run(text)
    }

    private func sql(_ user: String, _ text: String) throws -> [[String?]] {
        try PostgreSQLConnection(settings(user)).run(text.replacing("{}", with: schema))
    }

    private func exporter(_ store: String, partitions: Int = 0) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings("owner", partitions: partitions),
            context: try ExportContext(name: "other", store: store, me: test.store.owner, now: { ExportedStore.received }),
            days: { try SampleStatistics() })
    }

    private func deliver(_ samples: [GatedSample], from store: String) throws {
        _ = try exporter(store).deliver(
            ExportBatch(changes: samples.map { .added(StoredSample(sample: $0.sample, ingest: 0, seq: 0)) }))
    }

    private func readers() -> DatabaseReaders {
        DatabaseReaders(analyst: "analyst_\(schema)", auditor: "auditor_\(schema)")
    }

    /// An analyst sees the hubs of a study, an auditor sees all hubs but no values, and the collector writes as before.
    @Test(arguments: [0, 3]) func rolesSeeOnlyPermittedRows(partitions: Int) throws {
        _ = try exporter("one", partitions: partitions).create()
        try deliver((0..<10).map { try test.sample(60, at: $0) }, from: "one")
        for _ in 0..<2 { #expect(try readers().create(settings("owner")).allSatisfy { $0.weight == .good }) }
        _ = try exporter("one").create()
        try deliver((8..<20).map { try test.sample(60, at: $0) }, from: "two")
        try deliver([test.object(.workout, 0, at: 0)], from: "one")
        try deliver([test.object(.workout, 1, at: 100)], from: "two")

        func counts(_ user: String) throws -> [String?] {
            try ["sample", "heart_rate", "workout"].map { try sql(user, "SELECT count(*) FROM {}.\($0)")[0][0] }
        }
        #expect(try counts("owner") == ["20", "20", "2"])
        #expect(try counts("ana") == ["0", "0", "0"])
        // An analyst reads with these functions. They tell nothing of another role.
        #expect(throws: DeliveryError.self) { try sql("audra", "SELECT {}.readable_hubs()") }
        #expect(throws: DeliveryError.self) { try sql("ana", "SELECT {}.readable_hubs('audra_{}')") }
        #expect(try sql("ana", "SELECT count(*) FROM {}.hub") == [["0"]])
        #expect(throws: DeliveryError.self) { try sql("ana", "LOCK TABLE {}.lock IN EXCLUSIVE MODE") }
        _ = try sql(
            "owner",
            """
            INSERT INTO {}.study(name) VALUES('sleep'); INSERT INTO {}.study_hub VALUES('sleep', 'one'), ('sleep', 'unknown');
            INSERT INTO {}.study_reader VALUES('sleep', 'ana_{}'), ('sleep', 'nobody_{}')
            """)
        #expect(try counts("ana") == ["10", "10", "1"])
        _ = try sql("owner", "INSERT INTO {}.study_hub VALUES('sleep', 'two')")
        #expect(try counts("ana") == ["20", "20", "2"])

        #expect(try sql("audra", "SELECT sum(count) FROM {}.coverage") == [["20"]])
        #expect(try sql("audra", "SELECT count(subject), count(hubs) FROM {}.sample") == [["20", "20"]])
        for (user, text) in [
            ("audra", "SELECT value FROM {}.sample"), ("audra", "SELECT * FROM {}.heart_rate"),
            ("audra", "SELECT * FROM {}.workout"),
            ("ana", "SELECT * FROM {}.progress"), ("ana", "DELETE FROM {}.sample"),
            ("ana", "INSERT INTO {}.study(name) VALUES('x')"),
            ("ana", "SELECT * FROM {}.study_reader"), ("audra", "DELETE FROM {}.deletion"),
        ] {
            #expect { try sql(user, text) } throws: { ($0 as? DeliveryError)?.kind == .unauthorised }
        }
    }

    @Test func rolesMustExist() throws {
        _ = try exporter("one").create()
        #expect { try DatabaseReaders(analyst: "nobody").create(settings("owner")) } throws: {
            ($0 as? DeliveryError)?.reason.contains("'nobody' does not exist") == true
        }
    }

    /// The views of devices, coverage, and days.
    @Test func summaries() throws {
        _ = try exporter("one").create()
        let device = Device(key: "a:b", name: "Strap", manufacturer: "Maker", model: nil)
        func sample(
            _ type: String, _ value: Int, _ unit: String, at seconds: Int64, for duration: Int64 = 0, source: String = "s"
        ) throws -> GatedSample {
            let origin = Origin(
                person: test.store.owner, type: try #require(SampleType(type)),
                source: SourceRevision(id: source, name: source),
                device: device)
            let start = Instant(seconds: 1_790_000_000 + seconds)
            return try #require(
                try ReadingPath.samples(
                    of: [
                        Reading(
                            origin: origin, numeral: try Numeral("\(value)"), unit: try Unit(ucum: unit),
                            time: .instants(
                                start: start, end: Instant(seconds: 1_790_000_000 + seconds + duration), offset: .utc),
                            place: Place(.line, 1))
                    ], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received
                ).first)
        }
        try deliver(
            [
                sample("heartRate", 60, "/min", at: 0), sample("heartRate", 80, "/min", at: 3600),
                sample("heartRate", 90, "/min", at: 86_400), sample("stepCount", 100, "{count}", at: 0, for: 60),
                sample("stepCount", 50, "{count}", at: 60, for: 60),
                sample("stepCount", 120, "{count}", at: 0, for: 60, source: "other"),
            ], from: "one")
        // The days are computed afterwards. Each moment counts once.
        #expect(try sql("owner", "SELECT * FROM {}.person_day").isEmpty)
        #expect(try exporter("one").idle() == nil)
        #expect(
            try sql("owner", "SELECT date, heart_rate, step_count, body_mass FROM {}.person_day ORDER BY date") == [
                ["2026-09-21", "70", "170", nil], ["2026-09-22", "90", nil, nil],
            ])
        #expect(
            try sql("owner", "SELECT source_id, sum, unit FROM {}.daily_sum ORDER BY 1") == [
                ["other", "120", "1{steps}"], ["s", "150", "1{steps}"],
            ])
        #expect(
            try sql("owner", "SELECT date, count, hours FROM {}.coverage WHERE type = 'heartRate' ORDER BY date") == [
                ["2026-09-21", "2", "2"], ["2026-09-22", "1", "1"],
            ])
        #expect(
            try sql("owner", "SELECT device_key, device_name, types, count FROM {}.device") == [
                ["a:b", "Strap", "{heartRate,stepCount}", "6"]
            ])
    }

    /// A day is computed from all hubs, so an analyst sees it only if all of them are of a study.
    @Test func aDayOfAnotherHubIsHidden() throws {
        _ = try exporter("one").create()
        _ = try readers().create(settings("owner"))
        try deliver([test.sample(60, at: 0), test.sample(70, at: 86_400)], from: "one")
        try deliver([test.sample(80, at: 86_500)], from: "two")
        _ = try exporter("one").idle()
        _ = try sql(
            "owner",
            """
            INSERT INTO {}.study(name) VALUES('sleep'); INSERT INTO {}.study_hub VALUES('sleep', 'one');
            INSERT INTO {}.study_reader VALUES('sleep', 'ana_{}')
            """)
        #expect(try sql("ana", "SELECT date, heart_rate FROM {}.person_day") == [["2026-09-21", "60"]])
        _ = try sql("owner", "INSERT INTO {}.study_hub VALUES('sleep', 'two')")
        #expect(try sql("ana", "SELECT count(*) FROM {}.person_day") == [["2"]])
        #expect(throws: DeliveryError.self) { try sql("audra", "SELECT * FROM {}.day") }
    }

    /// A question about one date reads only its rows.
    @Test func aDateIsARange() throws {
        _ = try exporter("one").create()
        let plan = try sql("owner", "EXPLAIN SELECT * FROM {}.person_day WHERE date = '2026-09-21'").compactMap { $0[0] }
        #expect(plan.contains { $0.contains("date = '2026-09-21'") && $0.contains("Index Cond") }, "\(plan)")
    }

    @Test func dailyTypesAreQuantities() {
        for name in SummaryViews.dailyTypes { #expect(SampleType(name)?.kind == .quantity, "\(name)") }
    }
}
