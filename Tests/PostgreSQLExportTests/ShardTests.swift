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
    /// The numbers of partitions on all servers, and on each.
    private static let (partitions, ofServer) = (16, [0...5, 6...10, 11...15])

    init() throws {
        test = try ExportedStore()
        servers = try (0..<4).map { _ in try PostgreSQLServer() }
    }

    private func settings(_ server: Int, partitions: Int = 0, years: ClosedRange<Int>? = nil) -> PostgreSQLSettings {
        PostgreSQLSettings(
            host: servers[server].folder, database: "postgres", user: "vitalgate", partitions: partitions, years: years)
    }

    private func exporter(_ settings: PostgreSQLSettings? = nil) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings ?? self.settings(0),
            context: try ExportContext(
                name: "other", store: test.store.identifier, me: test.store.owner, now: { ExportedStore.received }))
    }

    private func sql(_ text: String, on server: Int = 0) throws -> [[String?]] {
        try PostgreSQLConnection(settings(server)).run(text)
    }

    /// Returns the statements of docs/how-to/fleet.md that contain some words, for the database of the tests.
    private func recipe(with words: String, language: String = "sql") throws -> String {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/how-to/fleet.md")
        let text = try String(decoding: Data(contentsOf: page), as: UTF8.self)
        let block = try #require(text.split(separator: "```").first { $0.hasPrefix("\(language)\n") && $0.contains(words) })
        return String(block.dropFirst(language.count)).replacing("DATABASE study", with: "DATABASE postgres")
    }

    /// Divides the table among these servers.
    private func divide() throws {
        var recipe = try recipe(with: "CREATE FOREIGN TABLE")
        recipe = adapted(recipe)
        _ = try sql(recipe)
    }

    /// A recipe with the servers and the role of the test.
    private func adapted(_ recipe: String) -> String {
        var recipe = recipe
        for number in 1...3 {
            recipe = recipe.replacing("shard\(number).example.org", with: servers[number].folder)
        }
        return recipe.replacing("dbname 'study'", with: "dbname 'postgres'")
            .replacing("FOR collector", with: "FOR vitalgate").replacing("user 'collector'", with: "user 'vitalgate'")
    }

    /// Creates the tables on all servers, on each with partitions by year if there are years.
    private func create(_ years: ClosedRange<Int>? = nil) throws {
        for server in 0...2 { _ = try exporter(settings(server, partitions: Self.partitions, years: years)).create() }
        try divide()
        for server in 0...2 {
            let settings = settings(server, partitions: Self.partitions, years: years)
            #expect(try exporter(settings).create().allSatisfy { $0.weight == .good })
        }
    }

    /// Readings of many people at some seconds, one of each.
    private func readings(_ seconds: Range<Int>, people: Int = 30) throws -> [GatedSample] {
        let readings = try seconds.map { second in
            let start = Instant(seconds: 1_790_000_000 + Int64(second))
            let number = second % people
            return Reading(
                origin: Origin(
                    person: "00000000-0000-4000-8000-0000000000\(number < 10 ? "0" : "")\(number)", type: .heartRate,
                    source: test.origin.source, namesPerson: true),
                numeral: try Numeral("\(60 + second % 3)"), unit: try Unit(ucum: "/min"),
                time: .instants(start: start, end: start, offset: .utc), place: Place(.line, 1))
        }
        return try ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received)
    }

    /// The number of partitions on other servers with rows. The planner asks an empty one in another way.
    private func filledPartitions() throws -> Int {
        try (Self.ofServer[1].lowerBound...Self.ofServer[2].upperBound).count {
            try sql("SELECT 1 FROM vitalgate.sample_\($0) LIMIT 1") == [["1"]]
        }
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

    /// Each server looks for readings near a time by this time, and not through all readings of a person.
    @Test func aServerFindsNearReadingsByTheirTime() throws {
        defer { for server in servers { server.stop() } }
        try create()
        let connection = try exporter().connection()
        try connection.run("BEGIN; \(PostgreSQLExporter.planning)")
        let plan = try connection.run(
            "EXPLAIN VERBOSE \(NewRows.nearness(in: "vitalgate", hub: 1))",
            ["{}", "{heartRate}", "{\(test.store.owner)}", "{0}", "{1}"]
        ).compactMap { $0[0] }
        let remote = plan.filter { $0.contains("Remote SQL") }
        #expect(remote.count == Self.ofServer[1].count + Self.ofServer[2].count, "\(plan)")
        #expect(remote.allSatisfy { $0.contains("start_time >=") && $0.contains("start_time <=") }, "\(remote)")
    }

    /// A delivery locks only its own rows on another server. Otherwise deliveries for different people would wait for each other there, and
    /// PostgreSQL does not notice a circle that goes over two servers.
    @Test func deliveryLocksOnlyOwnRows() throws {
        defer { for server in servers { server.stop() } }
        try create()
        _ = try sql("ALTER DATABASE postgres SET lock_timeout = '2s'", on: 1)
        func deliver(_ changes: [SampleChange], from store: String, rewrites: Bool = false) throws {
            let context = try ExportContext(name: "other", store: store, me: test.store.owner, now: { ExportedStore.received })
            _ = try PostgreSQLExporter(settings(0), context: context).deliver(ExportBatch(changes: changes, rewrites: rewrites))
        }
        let samples = try readings(0..<60).map(\.sample)
        func added(_ sample: Sample) -> SampleChange { .added(StoredSample(sample: sample, ingest: 0, seq: 0)) }
        for store in ["a", "b"] { try deliver(samples.map(added), from: store) }
        let people = try sql("SELECT DISTINCT subject FROM vitalgate.sample WHERE subject <> '' ORDER BY 1", on: 1).compactMap {
            $0[0]
        }
        try #require(people.count > 1)
        let open = try PostgreSQLConnection(settings(1))
        try open.run("BEGIN")
        #expect(try open.run("SELECT 1 FROM vitalgate.sample WHERE subject = $1 FOR UPDATE", [people[0]]).count == 2)
        let own = samples.filter { $0.origin.person == people[1] }
        try deliver(own.map(added), from: "a", rewrites: true)
        for version in 1...2 as ClosedRange<Int64> {
            var record = own[0]
            record.record = RecordIdentifier(id: "r", version: version)
            record.identity = record.identity(ordinal: UInt32(version))
            try deliver([added(record)], from: "b")
        }
        for store in ["a", "b"] {
            try deliver(own.map { .deleted(StoredDeletion(sample: $0, replacedBy: nil, ingest: 0, seq: 0)) }, from: store)
        }
        #expect(try sql("SELECT record_version FROM vitalgate.sample WHERE subject = '\(people[1])'") == [["2"]])
        try open.run("COMMIT")
    }

    /// A server is killed while a batch is written, three times. Afterwards each row is there once, on the server of its person.
    @Test func survivesServerKilledDuringBatch() throws {
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
            for deleted in all.prefix(40) { try test.delete(deleted) }
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
        #expect(try plan.filter { $0[0]?.contains("Relations: Aggregate on") == true }.count == filledPartitions())
    }

    /// Each server answers the documented question for its own people, also if a policy restricts the analyst.
    @Test func serversAnswerForOwnPeople() throws {
        defer { for server in servers { server.stop() } }
        try create()
        try test.add(try readings(0..<30))
        try test.finish(try test.run(exporter()))
        // Of few rows, the planner would fetch each.
        let more = CopyRows.columns.map { column in
            switch column {
            case "start_time": "start_time + n * interval '10 minutes'"
            case "uuid": "gen_random_uuid()"
            default: column
            }
        }
        _ = try sql(
            """
            CREATE TEMP TABLE few AS SELECT * FROM vitalgate.sample;
            INSERT INTO vitalgate.sample(\(CopyRows.columns.joined(separator: ", ")), hubs)
                SELECT \(more.joined(separator: ", ")), hubs FROM few, generate_series(1, 600) n
            """)
        let question = try recipe(with: "date_bin")
        _ = try sql(recipe(with: "enable_partitionwise_aggregate"))
        _ = try sql("CREATE ROLE analysts; CREATE ROLE ana LOGIN IN ROLE analysts")
        for shard in 1...2 {
            _ = try sql(
                "CREATE USER MAPPING FOR ana SERVER shard\(shard) OPTIONS (user 'vitalgate', password_required 'false')")
        }
        _ = try DatabaseReaders(analyst: "analysts").create(settings(0))
        var analyst = settings(0)
        analyst.user = "ana"
        #expect(try PostgreSQLConnection(analyst).run(question) == [])
        _ = try sql(
            """
            INSERT INTO vitalgate.study(name) VALUES('sleep'); INSERT INTO vitalgate.study_reader VALUES('sleep', 'ana');
            INSERT INTO vitalgate.study_hub SELECT 'sleep', store FROM vitalgate.hub; ANALYZE vitalgate.sample;
            INSERT INTO vitalgate.study_participant(study, subject, consent, from_date)
                SELECT 'sleep', subject, '1', '2026-01-01' FROM vitalgate.participant WHERE subject LIKE '%5'
            """)
        for reader in [settings(0), analyst] {
            let connection = try PostgreSQLConnection(reader)
            #expect(try connection.run(question).count == 30)
            let plan = try connection.run("EXPLAIN VERBOSE \(question)").compactMap { $0[0] }
            let filled = try filledPartitions()
            #expect(plan.count { $0.contains("Relations: Aggregate on") } == filled, "\(plan.joined(separator: "\n"))")
            #expect(plan.count { $0.contains("Async Foreign Scan") } == filled)
            let truncated = question.replacing(
                "date_bin('7 days', start_time, '2026-01-05 00:00:00+00')",
                with: "date_trunc('week', start_time AT TIME ZONE 'UTC')")
            #expect(try !connection.run("EXPLAIN VERBOSE \(truncated)").contains { $0[0]?.contains("Aggregate on") == true })
        }
    }

    /// A fourth server gets a partition of another one, as documented. Only its rows move.
    @Test(arguments: [nil, 2025...2027]) func aServerIsAdded(years: ClosedRange<Int>?) throws {
        defer { for server in servers { server.stop() } }
        try create(years)
        try test.add(try readings(0..<300))
        try test.finish(try test.run(exporter()))
        let moved = try sql("SELECT count(*) FROM vitalgate.sample_10")
        #expect(moved != [["0"]])
        _ = try exporter(settings(3, partitions: Self.partitions, years: years)).create()
        let dump = adapted(try recipe(with: "sample_10*", language: "")).replacing("--host", with: "-U vitalgate --host")
            .replacing(" study", with: " postgres")
        let line = try #require(dump.split(separator: "\n").first { $0.contains("pg_dump") })
        #expect(system("\(line) >/dev/null") == 0)
        _ = try sql(adapted(try recipe(with: "shard3.example.org', dbname")))
        _ = try sql("TRUNCATE vitalgate.sample_10", on: 1)
        #expect(try sql("SELECT count(*) FROM vitalgate.sample_10", on: 3) == moved)
        try expectAll()
        try test.add(try readings(300..<600))
        try test.finish(try test.run(exporter()))
        try expectAll()
        #expect(try sql("SELECT count(*) FROM vitalgate.sample_10", on: 1) == [["0"]])
    }

    /// One server fails when it commits, and the other one may have committed before. The block is sent again, and its rows are not doubled.
    @Test(arguments: [nil, 2025...2027]) func aServerFailsToCommit(years: ClosedRange<Int>?) throws {
        defer { for server in servers { server.stop() } }
        try create(years)
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
            for deleted in added.prefix(50) { try test.delete(deleted) }
            try test.finish(run)
            try expectAll()
        }
        #expect(isPartial)
        guard years != nil else { return }

        // A larger range is added on each server for itself.
        for server in 0...2 {
            let more = settings(server, partitions: Self.partitions, years: 2020...2030)
            #expect(try exporter(more).create().contains { $0.text.contains("8 of them new. 0 readings") })
        }
        try expectAll()
    }
}
