import Dispatch
import ExportEngine
import ExportTesting
import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import PostgreSQLExport

/// The readings of a fleet on three servers, behind one partitioned table.
@Suite struct ShardTests {
    private let test: ExportedStore
    private let servers: [PostgreSQLServer]

    init() throws {
        test = try ExportedStore()
        servers = try (0..<3).map { _ in try PostgreSQLServer() }
    }

    private func settings(_ server: Int, partitions: Int = 0) -> PostgreSQLSettings {
        PostgreSQLSettings(host: servers[server].folder, database: "postgres", user: "vitalgate", partitions: partitions)
    }

    private func exporter(_ settings: PostgreSQLSettings? = nil) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings ?? self.settings(0),
            context: try ExportContext(
                name: "other", store: test.store.identifier, me: test.store.subject, now: { ExportedStore.received }))
    }

    private func sql(_ text: String, on server: Int = 0) throws -> [[String?]] {
        try PostgreSQLConnection(settings(server)).run(text)
    }

    /// Runs the statements of docs/how-to/fleet.md with these servers.
    private func divide() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/how-to/fleet.md")
        let text = try String(decoding: Data(contentsOf: page), as: UTF8.self)
        var recipe = String(try #require(text.split(separator: "```").first { $0.contains("CREATE FOREIGN TABLE") }).dropFirst(3))
        for number in 1...2 {
            recipe = recipe.replacing("shard\(number).example.org", with: servers[number].folder)
        }
        recipe = recipe.replacing("dbname 'study'", with: "dbname 'postgres'")
            .replacing("FOR collector", with: "FOR vitalgate").replacing("user 'collector'", with: "user 'vitalgate'")
        _ = try sql(recipe)
    }

    /// Creates the tables on all servers.
    private func create() throws {
        _ = try exporter(settings(0, partitions: 3)).create()
        for shard in 1...2 { _ = try exporter(settings(shard)).create() }
        try divide()
        _ = try exporter().create()
    }

    /// Readings of many people at some seconds, one of each.
    private func readings(_ seconds: Range<Int>, people: Int = 30) throws -> [GatedSample] {
        let readings = try seconds.map { second in
            let start = Instant(seconds: 1_790_000_000 + Int64(second))
            let number = second % people
            return Reading(
                origin: Origin(
                    subject: "00000000-0000-4000-8000-0000000000\(number < 10 ? "0" : "")\(number)", type: .heartRate,
                    source: test.origin.source, namesPerson: true),
                numeral: try Numeral("\(60 + second % 3)"), unit: try Unit(ucum: "/min"),
                time: .instants(start: start, end: start, offset: .utc), place: Place(.line, 1))
        }
        return try ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received)
    }

    private func expectAll() throws {
        let rows = try sql("SELECT uuid, value FROM vitalgate.heart_rate")
        let contents = try test.contents()
        #expect(rows.count == contents.count)
        for row in rows {
            let uuid = try #require(row[0].flatMap { SampleIdentity($0) })
            #expect(contents[uuid] == row[1].flatMap { Double($0) })
        }
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try exporter(), store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: contents.count))
    }

    /// A server is killed while a batch is written, three times. Afterwards each row is there once, on the server of its person.
    @Test func aServerIsKilledInTheMiddleOfABatch() throws {
        defer { for server in servers { server.stop() } }
        try create()
        var all = try readings(0..<1500)
        try test.add(all)
        let settings = TargetSettings(name: "other", batchSize: 200)
        var failures = 0
        for round in 0..<6 {
            let victim = servers[1 + round % 2]
            let run = try test.run(exporter(), settings)
            let group = DispatchGroup()
            DispatchQueue.global().async(group: group) {
                usleep(UInt32(5000 + 17_000 * round))
                victim.crash()
            }
            var steps = 0
            while steps < 200, case .more = try run.step() { steps += 1 }
            group.wait()
            if case .wait = try run.step() { failures += 1 }
            try victim.start()
            for gone in all.prefix(40) { try test.delete(gone) }
            all = Array(all.dropFirst(40))
            let more = try readings(2000 + 300 * round..<2300 + 300 * round)
            try test.add(more)
            all += more
        }
        #expect(failures > 0)
        try test.finish(try test.run(exporter(), settings))
        try expectAll()
        let own = try (1...2).map { try sql("SELECT count(*) FROM vitalgate.sample", on: $0)[0][0].flatMap { Int($0) } ?? 0 }
        #expect(own.allSatisfy { $0 > 0 })
        #expect(try own.reduce(0, +) < test.contents().count)

        // Each server counts its own people.
        let connection = try PostgreSQLConnection(self.settings(0))
        try connection.run("ANALYZE vitalgate.sample; SET enable_partitionwise_aggregate = on")
        let plan = try connection.run("EXPLAIN (VERBOSE) SELECT subject, count(*) FROM vitalgate.sample GROUP BY subject")
        #expect(plan.filter { $0[0]?.contains("Relations: Aggregate on") == true }.count == 2)
    }

    /// One server fails when it commits, and the other one may have committed before. The block is sent again, and its rows are not doubled.
    @Test func aServerFailsToCommit() throws {
        defer { for server in servers { server.stop() } }
        try create()
        var isPartial = false
        for shard in 1...2 {
            let added = try readings(1000 * shard..<1000 * shard + 300)
            try test.add(added)
            _ = try sql(
                """
                CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '57P01'; END $$;
                CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON vitalgate.sample DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION fail()
                """, on: shard)
            func count(_ server: Int) throws -> [[String?]] { try sql("SELECT count(*) FROM vitalgate.sample", on: server) }
            let before = try (count(3 - shard), count(shard))
            let run = try test.run(exporter())
            guard case .wait = try run.step() else {
                Issue.record("it did not wait")
                return
            }
            isPartial = try isPartial || count(3 - shard) != before.0
            #expect(try count(shard) == before.1)
            _ = try sql("DROP TRIGGER fail ON vitalgate.sample", on: shard)
            for gone in added.prefix(50) { try test.delete(gone) }
            try test.finish(run)
            try expectAll()
        }
        #expect(isPartial)
    }
}
