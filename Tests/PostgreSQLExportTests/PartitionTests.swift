import ExportEngine
import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import PostgreSQLExport

/// A table of samples that is partitioned by persons.
@Suite struct PartitionTests {
    private let test: ExportedStore
    private let settings: PostgreSQLSettings

    init() throws {
        test = try ExportedStore()
        settings = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "p" + test.store.identifier, partitions: 4)
    }

    private func exporter(_ settings: PostgreSQLSettings? = nil) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings ?? self.settings,
            context: try ExportContext(
                name: "other", store: test.store.identifier, me: test.store.owner, now: { ExportedStore.received }))
    }

    private static let people = (10..<40).map { "00000000-0000-4000-8000-0000000000\($0)" }

    private func sql(_ text: String) throws -> [[String?]] {
        try PostgreSQLConnection(settings).run(text.replacing("{}", with: settings.schema))
    }

    /// Readings of 100 persons, or of a few.
    private func readings(after seconds: Int64 = 0, few: Bool = false) throws -> [GatedSample] {
        let readings = try (0..<100).map { index in
            Reading(
                origin: Origin(
                    person: few ? Self.people[index % Self.people.count] : UUIDText.random(), type: .heartRate,
                    source: test.origin.source, namesPerson: true),
                numeral: try Numeral("\(60 + index % 3)"), unit: try Unit(ucum: "/min"),
                time: .instants(
                    start: Instant(seconds: 1_790_000_000 + seconds + Int64(index)),
                    end: Instant(seconds: 1_790_000_000 + seconds + Int64(index)),
                    offset: .utc), place: Place(.line, 1))
        }
        return try ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received)
    }

    /// Each person is in one partition. Deliveries, deletions, comparisons, views, and lines work as without partitions.
    @Test func eachPersonIsInOnePartition() throws {
        #expect(try exporter().create().allSatisfy { $0.weight == .good })
        #expect(try exporter().create().allSatisfy { $0.weight == .good })
        let readings = try readings()
        try test.add(readings)
        let run = try test.run(exporter())
        try test.finish(run)
        try test.delete(readings[0])
        try test.finish(run)
        let used = try sql("SELECT tableoid::regclass, count(*) FROM {}.sample GROUP BY 1 ORDER BY 1")
        #expect(used.count == 4)
        #expect(used.compactMap { $0[1].flatMap { Int($0) } }.reduce(0, +) == 99)
        let plan = try sql(
            "EXPLAIN (FORMAT TEXT) SELECT * FROM {}.heart_rate WHERE subject = '\(readings[1].sample.origin.person)'"
        ).compactMap { $0[0] }
        #expect(plan.filter { $0.contains("on sample_") }.count == 1)
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try exporter(), store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: 99))
        _ = try sql("DELETE FROM {}.sample WHERE value = 61")
        _ = try sql("UPDATE {}.sample SET value = 1 WHERE value = 62")
        _ = try comparison.repair()
        #expect(try comparison.compare() == TargetDifferences(equal: 99))
        var count = 0
        _ = try exporter().lines { count += $0.count { $0 == 0x0A } }
        #expect(count == 99)
        #expect(try exporter().check().allSatisfy { $0.weight == .good })
    }

    /// The number of partitions is that of the creation.
    @Test func anExistingTableStaysAsItIs() throws {
        var plain = settings
        plain.partitions = 0
        _ = try exporter(plain).create()
        #expect(try exporter().create().contains { $0.weight == .warning && $0.component == "partitions" })
    }

    /// New partitions are counted soon, so that a UUID is found by its index and not among all rows of a person.
    @Test func newPartitionsAreCounted() throws {
        let exporter = try exporter()
        _ = try exporter.create()
        // Without PostgreSQL's own counting.
        for number in 0..<4 { _ = try sql("ALTER TABLE {}.sample_\(number) SET (autovacuum_enabled = false)") }
        func counted() throws -> [[String?]] {
            try sql(
                """
                SELECT count(*) FROM pg_class WHERE relnamespace = '{}'::regnamespace AND relkind = 'r' AND relname LIKE 'sample!_%' ESCAPE '!'
                    AND reltuples > 0
                """)
        }
        for time in 0..<100 {
            if time == 49 { #expect(try counted() == [["0"]]) }
            let changes = try readings(after: 1000 * Int64(time), few: true).map {
                SampleChange.added(StoredSample(sample: $0.sample, ingest: 0, seq: 0))
            }
            _ = try exporter.deliver(ExportBatch(changes: changes))
        }
        #expect(try counted() == [["4"]])
        let plan = try sql(
            "EXPLAIN SELECT 1 FROM {}.sample WHERE uuid = '\(UUIDText.random())' AND subject = '\(Self.people[0])'")
        #expect(plan.contains { $0[0]?.contains("_uuid_idx") == true })
    }

    /// Rows that are already there, or that were deleted before, are found before rows are copied.
    @Test(arguments: [0, 4]) func repeatedRowsAreNotDoubled(partitions: Int) throws {
        var some = settings
        some.partitions = partitions
        let exporter = try exporter(some)
        _ = try exporter.create()
        let readings = try readings()
        func batch(_ range: Range<Int>) -> ExportBatch {
            ExportBatch(changes: readings[range].map { .added(StoredSample(sample: $0.sample, ingest: 0, seq: 0)) })
        }
        _ = try exporter.deliver(batch(0..<40))
        _ = try exporter.deliver(batch(0..<40))
        _ = try exporter.deliver(batch(30..<60))
        let deleted = ExportBatch(
            changes: readings[..<10].map {
                .deleted(StoredDeletion(sample: $0.sample, replacedBy: nil, ingest: 0, seq: 0))
            })
        _ = try exporter.deliver(deleted)
        #expect(try sql("SELECT count(*) FROM {}.sample") == [["50"]])
        #expect(try sql("SELECT count(*) FROM {}.deletion") == [["10"]])
        _ = try exporter.deliver(batch(0..<10))
        #expect(try sql("SELECT count(*), count(DISTINCT uuid) FROM {}.sample") == [["60", "60"]])
        #expect(try sql("SELECT count(*) FROM {}.deletion") == [["0"]])
    }
}
