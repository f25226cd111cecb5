import ExportEngine
import ExportTesting
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import PostgreSQLExport

/// Tests against Debian's PostgreSQL: the tables contain the same as the store.
@Suite struct PostgreSQLExporterTests {
    private let test: ExportedStore
    private let server: PostgreSQLServer
    /// Of this test alone.
    private let schema: String

    init() throws {
        test = try ExportedStore()
        server = try PostgreSQLServer.shared.get()
        schema = "t" + test.store.identifier
    }

    private func settings(host: String? = nil, user: String = "vitalgate", partitions: Int = 0) -> PostgreSQLSettings {
        PostgreSQLSettings(
            host: host ?? server.folder, database: "postgres", user: user, schema: schema, partitions: partitions)
    }

    private func create(partitions: Int) throws { _ = try exporter(settings(partitions: partitions)).create() }

    private func exporter(_ settings: PostgreSQLSettings? = nil, of store: SampleStore? = nil) throws -> PostgreSQLExporter {
        let store = store ?? test.store
        return PostgreSQLExporter(
            settings ?? self.settings(),
            context: try ExportContext(name: "other", store: store.identifier, me: store.owner, now: { ExportedStore.received })
        )
    }

    private func sql(_ text: String) throws -> [[String?]] { try PostgreSQLConnection(settings()).run(text) }

    /// The content of the table, with that of a view of its type.
    private func stored(_ table: String = "heart_rate") throws -> [SampleIdentity: Double] {
        var stored: [SampleIdentity: Double] = [:]
        for row in try sql("SELECT uuid, value FROM \(schema).\(table)") {
            let uuid = try #require(row[0].flatMap { SampleIdentity($0) })
            stored[uuid] = row[1].flatMap { Double($0) }
        }
        return stored
    }

    @Test func aRowForEachSample() throws {
        let exporter = try exporter()
        #expect(throws: DeliveryError.self) { try exporter.check() }
        #expect(try exporter.create().count == 1)
        #expect(try exporter.create().first?.text == "is complete")
        #expect(try exporter.check().allSatisfy { $0.weight == .good })
        let samples = try (0..<50).map { try test.sample(60 + $0 % 3, at: $0) }
        try test.add(samples)
        let run = try test.run(exporter)
        try test.finish(run)
        #expect(try stored() == test.contents())
        #expect(try stored("sample") == test.contents())
        let row = try sql(
            "SELECT start_time, numeral, numeral_unit, zone_offset, source_id, subject, hubs FROM \(schema).sample ORDER BY start_time"
        )[1]
        // A check that was rolled back leaves a gap in the numbers of hubs.
        let hub = try #require(try sql("SELECT id FROM \(schema).hub").first?[0])
        #expect(row == ["2026-09-21 14:13:21+00", "61", "/min", "0", "strap", test.store.owner, "{\(hub)}"])
        // Told again, out of its turn, and by an exporter that has just begun, nothing changes.
        let before = try sql("SELECT xmin, uuid FROM \(schema).sample ORDER BY uuid")
        try test.store.targets.forget(target: "other")
        try test.finish(try test.run(self.exporter()))
        #expect(try sql("SELECT xmin, uuid FROM \(schema).sample ORDER BY uuid") == before)
        // Gone, and what took its place.
        try test.delete(samples[3])
        try test.finish(run)
        #expect(try stored() == test.contents())
        #expect(
            try sql("SELECT uuid, type, replaced_by FROM \(schema).deletion") == [
                [samples[3].sample.identity.description, "heartRate", nil]
            ])
        _ = try test.store.samples.restore([samples[3].sample.identity], description: test.description(.restore))
        try test.finish(run)
        #expect(try stored() == test.contents())
        #expect(try sql("SELECT 1 FROM \(schema).deletion").isEmpty)
    }

    /// Text that a device or a file may contain.
    @Test func anyTextRoundTrips() throws {
        let exporter = try exporter()
        _ = try exporter.create()
        // A name with a line break does not enter the store, a note does.
        let name = "a\\N\tb\\.'\"$1;DROP TABLE"
        let note = "a\\N\tb\nc\r\\.\u{2028}'\"$1;DROP TABLE"
        let origin = Origin(
            person: test.store.owner, type: .bodyMass, source: SourceRevision(id: "x", name: name, version: name),
            device: Device(key: name, name: name))
        let start = Instant(microseconds: 1_790_000_000_123_456)
        let reading = Reading(
            origin: origin, numeral: try Numeral("80.150"), unit: try Unit(ucum: "kg"),
            time: .instants(start: start, end: start, offset: ZoneOffset(seconds: -12600)),
            metadata: Metadata([("note", .string(note)), ("x", .quantity(try Numeral("54.0"), try Unit(ucum: "[degF]")))]),
            place: Place(.line, 1))
        try test.add(try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received))
        try test.finish(try test.run(exporter))
        let row = try sql(
            "SELECT source_name, device_key, metadata->>'note', metadata->'x'->>'value', numeral, zone_offset, extract(microseconds FROM start_time) FROM \(schema).sample"
        )[0]
        #expect(row == [name, name, note, "54.0", "80.150", "-12600", "20123456"])
    }

    /// An administrator may change a column's type, for which rows have to be converted.
    @Test func aColumnOfAnotherType() throws {
        _ = try exporter().create()
        for view in try sql("SELECT relname FROM pg_class WHERE relnamespace = '\(schema)'::regnamespace AND relkind = 'v'") {
            _ = try sql("DROP VIEW IF EXISTS \(schema).\(try #require(view[0])) CASCADE")
        }
        _ = try sql("ALTER TABLE \(schema).sample ALTER zone_offset TYPE bigint, ALTER value TYPE numeric")
        try test.add(try (0..<20).map { try test.sample(60 + $0, at: $0) })
        try test.finish(try test.run(exporter()))
        #expect(
            try sql("SELECT count(DISTINCT uuid), sum(value), max(zone_offset) FROM \(schema).sample") == [["20", "1390", "0"]])
    }

    /// Values that the database refuses are set aside with a message that contains no value, and the others are delivered.
    @Test func setsAsideRejectedValues() throws {
        _ = try exporter().create()
        _ = try sql("ALTER TABLE \(schema).sample ADD CHECK(value <> 63)")
        try test.add(try (0..<64).map { try test.sample(60 + $0 % 4, at: $0) })
        let run = try test.run(exporter())
        try test.finish(run)
        #expect(try stored() == test.contents().filter { $0.value != 63 })
        let aside = try test.store.targets.setAside(by: "other")
        #expect(aside.count == 16)
        #expect(Set(aside.map(\.words)) == ["PostgreSQL does not accept a value (SQLSTATE 23514)"])
        _ = try sql("ALTER TABLE \(schema).sample DROP CONSTRAINT sample_value_check")
        _ = try test.store.targets.retry([], of: "other")
        try test.finish(run)
        #expect(try stored() == test.contents())
    }

    /// A row that an index cannot contain has an SQLSTATE (54000) that could also be an error of the server. It is set aside because the
    /// server accepts others.
    @Test func setsAsideRowTooLongForIndex() throws {
        _ = try exporter().create()
        var random = SeededGenerator(seed: 1)
        let id = (0..<160).map { _ in "\(UInt64.random(in: .min ... .max, using: &random))" }.joined()
        try test.add(try (0..<16).map { try test.sample(60 + $0 % 4, at: $0) })
        try test.add([try test.sample(77, at: 20, record: RecordIdentifier(id: String(id.prefix(2900)), version: 1))])
        let run = try test.run(exporter())
        try test.finish(run)
        #expect(try stored() == test.contents().filter { $0.value != 77 })
        #expect(try test.store.targets.setAside(by: "other").map(\.words) == ["PostgreSQL: SQLSTATE 54000"])
    }

    @Test func aPersonHasToAct() throws {
        try test.add([try test.sample(60, at: 0)])
        #expect(try test.run(exporter()).step() == .stopped)
        #expect(try test.store.targets.target("other")?.words?.contains("'vitalgate targets check other --create'") == true)
        _ = try exporter().create()
        _ = try sql(
            "CREATE ROLE r\(schema) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO r\(schema); GRANT SELECT ON \(schema).version TO r\(schema)"
        )
        let guest = try exporter(settings(user: "r\(schema)"))
        #expect(try test.run(guest).step() == .stopped)
        #expect(try test.store.targets.target("other")?.words?.contains("permission denied") == true)
        #expect(throws: DeliveryError.self) { try guest.check() }
        let unprivileged = thrown { try exporter(settings(user: "nobody-\(schema)")).check() }
        #expect(unprivileged?.kind == .unauthorised)
        let nowhere = thrown { try exporter(settings(host: "/nowhere")).check() }
        #expect(nowhere?.kind == .unreachable)
        _ = try sql("INSERT INTO \(schema).version(number) VALUES(99)")
        #expect(thrown { try exporter().check() }?.reason.contains("newer Vitalgate") == true)
    }

    private func thrown(_ body: () throws -> some Any) -> DeliveryError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? DeliveryError
        }
    }

    /// The connection breaks at any byte, in either direction, also if everything was done and the answer is lost.
    @Test(arguments: 0..<12 as Range<UInt64>) func survivesRandomFailures(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try create(partitions: seed % 2 == 0 ? 0 : 3)
        let relay = CuttingRelay(.unix(test.folder.file(".s.PGSQL.5432")), server: .unix(server.folder + "/.s.PGSQL.5432"))
        defer { relay.close() }
        let proof = try ExportProof(test) { try exporter(settings(host: test.folder.file(""))) }
        try proof.suffer(40, using: &random) { random in
            guard Int.random(in: 0..<3, using: &random) > 0 else { return }
            let direction = CuttingRelay.Direction.allCases[Int.random(in: 0..<2, using: &random)]
            relay.cut(direction, after: Int.random(in: 1..<(direction == .toServer ? 6000 : 2500), using: &random))
        }
        #expect(relay.count > 0)
        relay.mend()
        try proof.finish()
        #expect(try stored() == test.contents())
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try exporter(), store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: test.contents().count))
    }

    /// Each answer arrives a few bytes at a time.
    @Test func answersSlowly() throws {
        var random = SeededGenerator(seed: 3)
        _ = try exporter().create()
        let relay = CuttingRelay(.unix(test.folder.file(".s.PGSQL.5432")), server: .unix(server.folder + "/.s.PGSQL.5432"))
        defer { relay.close() }
        relay.slow(to: 9)
        let proof = try ExportProof(test) { try exporter(settings(host: test.folder.file(""))) }
        try proof.suffer(20, using: &random) { _ in }
        try proof.finish()
        #expect(relay.slowLots > 100)
        #expect(try stored() == test.contents())
    }

    /// A repair of many samples and its undo, deletions, and an import that is undone.
    @Test(arguments: [0, 3]) func repairsGoOver(partitions: Int) throws {
        try create(partitions: partitions)
        var (counts, replaced): ([Int], [String?]) = ([], [])
        try test.repair(delivering: test.run(exporter())) {
            #expect(try stored() == test.contents())
            counts.append(try stored().count)
            replaced.append(try sql("SELECT count(*) FROM \(schema).deletion WHERE replaced_by IS NOT NULL")[0][0])
        }
        #expect(counts == [10_000, 10_000, 10_000, 9000, 0])
        #expect(replaced[1] == "10000")
    }

    /// Two hubs of one person that sometimes read the same strap: the database contains the samples of either, once.
    @Test(arguments: 0..<6 as Range<UInt64>) func twoHubs(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try create(partitions: seed % 2 == 0 ? 0 : 3)
        let other = try ExportedStore()
        let proofs = try [test, other].map { store in
            try ExportProof(store) { try exporter(of: store.store) }
        }
        for _ in 0..<12 { try proofs[Int.random(in: 0..<2, using: &random)].suffer(6, using: &random) { _ in } }
        for proof in proofs { try proof.finish() }
        let union = try test.contents().merging(other.contents()) { one, _ in one }
        #expect(try stored() == union)
        let rows = try sql("SELECT count(*), count(DISTINCT uuid) FROM \(schema).sample")[0]
        #expect(rows == ["\(union.count)", "\(union.count)"])
        for store in [test, other] {
            let stored = try sql(
                """
                SELECT uuid FROM \(schema).sample JOIN \(schema).hub ON hubs @> ARRAY[hub.id] WHERE store = '\(store.store.identifier)'
                """)
            #expect(try Set(stored.compactMap { $0[0] }) == Set(store.contents().keys.map(\.description)))
        }
    }

    /// Two hubs that write the same readings in the same moments: each row is there once, and both have it.
    @Test(arguments: [0, 3]) func atOnce(partitions: Int) throws {
        try create(partitions: partitions)
        let other = try ExportedStore()
        let stores = [test, other]
        for store in stores { try store.add(try (0..<2000).map { try store.sample(60 + $0 % 4, at: $0) }) }
        let runs = try stores.map { try $0.run(exporter(of: $0.store), TargetSettings(name: "other", batchSize: 50)) }
        try Together.run(stores.indices.map { index in { try stores[index].finish(runs[index]) } })
        #expect(try stored() == test.contents())
        #expect(
            try sql("SELECT count(*), min(cardinality(hubs)), max(cardinality(hubs)) FROM \(schema).sample") == [
                ["2000", "2", "2"]
            ])
    }

    /// A server with a wrong certificate receives nothing.
    @Test func certificatesAreChecked() throws {
        var certificate = ""
        let server = try PostgreSQLServer { folder in
            let made = try Certificate(in: folder)
            certificate = made.path
            return made
        }
        defer { server.stop() }
        func look(_ host: String, _ authority: String?) throws(DeliveryError) -> [[String?]] {
            let settings = PostgreSQLSettings(
                host: host, port: Int(server.port), database: "postgres", user: "vitalgate", tls: .verifyFull,
                certificateAuthority: authority)
            return try PostgreSQLConnection(settings).run("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        }
        #expect(try look("localhost", certificate) == [["t"]])
        for (host, authority) in [("localhost", nil), ("127.0.0.1", certificate)] {
            do throws(DeliveryError) {
                _ = try look(host, authority)
                Issue.record("it was trusted")
            } catch {
                #expect(error.kind == .unfit, "\(error)")
            }
        }
    }

    @Test(
        arguments: [
            ("{\"database\": \"d\"}", nil), ("{\"database\": \"d\", \"user\": \"u\", \"schema\": \"a b\"}", "schema"),
            ("{\"database\": \"d\", \"user\": \"u\", \"tls\": \"no\"}", "tls"),
            ("{\"database\": \"d\", \"user\": \"u\", \"port\": 0}", "port"),
            ("{\"database\": \"d\", \"user\": \"u\", \"host\": \"a,,b\"}", "host"),
            ("{\"database\": \"d\", \"user\": \"u\", \"host\": \"a, b\"}", "host"),
            ("{\"database\": \"d\", \"user\": \"u\", \"password\": \"secret\"}", nil),
        ] as [(String, String?)])
    func wrongSettings(text: String, key: String?) {
        do {
            _ = try Settings.read(PostgreSQLSettings.self, text)
            Issue.record("it was taken")
        } catch let fault as SettingsFault {
            #expect(fault.key == key)
        } catch {
            #expect(key == nil)
        }
    }

    @Test func remoteServerNeedsVerifiedTLS() throws {
        let here = try Settings.read(PostgreSQLSettings.self, "{\"database\": \"d\", \"user\": \"u\"}")
        let there = try Settings.read(PostgreSQLSettings.self, "{\"database\": \"d\", \"user\": \"u\", \"host\": \"db.example\"}")
        #expect(here.tls == .disable && there.tls == .verifyFull)
        let several = ["/a,localhost", "localhost,db.example"].map { PostgreSQLSettings(host: $0, database: "d", user: "u").tls }
        #expect(several == [.disable, .verifyFull])
    }
}
