import ExportEngine
import ExportTesting
import FleetProtocol
import FoundationEssentials
import Glibc
import HealthModel
import NATSKit
import Pipeline
import PipelineTesting
import SampleStore
import Synchronization
import Testing

@testable import FleetCollector
@testable import FleetExport
@testable import PostgreSQLExport

/// Hubs, a broker, collectors, and a database: Debian's nats-server and PostgreSQL.
@Suite struct FleetTests {
    private let test: ExportedStore
    private let broker: NATSServer
    private let database: PostgreSQLSettings
    private let subject: FleetSubject
    private let failures = Failures()

    private final class Failures: Sendable {
        private let words = Mutex<[String]>([])
        var all: [String] { words.withLock { $0 } }
        func add(_ more: String) { words.withLock { $0.append(more) } }
    }

    init() throws {
        test = try ExportedStore()
        broker = try NATSServer()
        let server = try PostgreSQLServer.shared.get()
        database = PostgreSQLSettings(
            host: server.folder, database: "postgres", user: "vitalgate", schema: "t" + test.store.identifier)
        subject = try #require(FleetSubject(fleet: "study"))
        _ = try direct().create()
        _ = try FleetDatabase.create(database)
    }

    /// Creates the tables again, with partitions.
    private func partition(_ count: Int) throws {
        guard count > 0 else { return }
        try PostgreSQLConnection(database).run("DROP SCHEMA \(database.schema) CASCADE")
        var partitioned = database
        partitioned.partitions = count
        let context = try ExportContext(name: "x", store: "x", me: Origin.unassigned, now: { ExportedStore.received })
        _ = try PostgreSQLExporter(partitioned, context: context).create()
        _ = try FleetDatabase.create(database)
    }

    /// An exporter that writes into the database itself.
    private func direct(of store: SampleStore? = nil) throws -> PostgreSQLExporter {
        let store = store ?? test.store
        return PostgreSQLExporter(
            database,
            context: try ExportContext(name: "other", store: store.identifier, me: store.owner, now: { ExportedStore.received })
        )
    }

    /// A hub's exporter. It waits for a receipt as long as the program does, or only `timeout` milliseconds.
    private func exporter(
        of store: SampleStore? = nil, port: UInt16? = nil, settings: FleetSettings? = nil, timeout: Int = 60_000
    ) throws
        -> FleetExporter
    {
        let store = store ?? test.store
        let own = FleetSettings(servers: ["nats://127.0.0.1:\(port ?? broker.port)"], subject: subject)
        return FleetExporter(
            settings ?? own,
            context: try ExportContext(
                name: "other", store: store.identifier, me: store.owner, now: { ExportedStore.received }),
            timeout: timeout)
    }

    /// Running collectors, once the broker knows them.
    private func collectors(_ count: Int = 2, on broker: NATSServer? = nil) throws -> CollectorService {
        let (broker, failures) = (broker ?? self.broker, failures)
        let service = try CollectorService(
            NATSSettings(servers: [broker.url], name: "collector"), subject, database: database, workers: count,
            now: { ExportedStore.received }, onFailure: { failures.add($1) })
        try until { (try? exporter(port: broker.port).check()) != nil }
        return service
    }

    /// The rows of all kinds, of all hubs.
    private func rows() throws -> Int {
        let connection = try PostgreSQLConnection(database)
        return try (["sample"] + ObjectTable.all.map(\.name)).reduce(0) { sum, table in
            sum + (try connection.run("SELECT count(*) FROM \(database.schema).\(table)")[0][0].flatMap { Int($0) } ?? 0)
        }
    }

    /// Writes a file that only its owner can read.
    private func secret(_ text: String, _ name: String) throws -> Secret {
        let path = test.folder.file(name)
        try Data("\(text)\n".utf8).write(to: URL(filePath: path))
        chmod(path, 0o600)
        return .file(path)
    }

    private func stored() throws -> Set<String> {
        var stored: Set<String> = []
        try direct().contents { stored.formUnion($0.map(\.identity.description)) }
        return stored
    }

    private func expected() throws -> Set<String> { Set(try test.contents().keys.map(\.description)) }

    @Test func aRowForEachSample() throws {
        let collectors = try collectors()
        defer { collectors.stop() }
        let exporter = try exporter()
        #expect(try exporter.check().allSatisfy { $0.weight == .good })
        try test.add(try (0..<1200).map { try test.sample(60 + $0 % 3, at: $0) })
        for kind in SampleKind.allCases where kind != .quantity { try test.add([try test.object(kind, 1, at: 0)]) }
        try test.delete(try test.sample(60, at: 0))
        try test.finish(try test.run(exporter))
        #expect(try stored() == expected())
        // The rows are those that the hub would have written itself.
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try direct(), store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: test.contents().count))
        #expect(failures.all.isEmpty)
    }

    /// A comparison over the broker finds rows that are missing, changed, or too many, and mends them.
    @Test(arguments: [0, 3]) func aComparisonMends(partitions: Int) throws {
        try partition(partitions)
        let collectors = try collectors(1)
        defer { collectors.stop() }
        try test.add(try (0..<6000).map { try test.sample(60 + $0 % 3, at: $0) })
        try test.add(try (0..<3).map { try test.object(.workout, $0, at: 100 * $0) })
        try test.finish(try test.run(exporter()))
        let connection = try PostgreSQLConnection(database)
        try connection.run("DELETE FROM \(database.schema).sample WHERE extract(epoch FROM start_time)::bigint % 10 = 3")
        try connection.run(
            "UPDATE \(database.schema).sample SET value = 1 WHERE extract(epoch FROM start_time)::bigint % 100 = 7")
        let surplus = try test.sample(99, at: 7000)
        try test.add([surplus])
        try test.finish(try test.run(exporter()))
        _ = try test.store.samples.delete([surplus.sample.identity], description: test.description(.delete))
        func comparison() throws -> TargetComparison {
            TargetComparison(
                TargetSettings(name: "other"), exporter: try exporter(), store: test.store, now: { ExportedStore.received })
        }
        var expected = TargetDifferences(equal: 6003 - 600 - 60)
        (expected.missing, expected.differing, expected.surplus) = (600, 60, 1)
        #expect(try comparison().compare() == expected)
        _ = try comparison().repair()
        #expect(try comparison().compare() == TargetDifferences(equal: 6003))
        #expect(try stored() == self.expected())
    }

    /// The center counts the samples of one hub by type and day in the zone of the hub.
    @Test(arguments: [0, 3]) func countsByTypeAndDay(partitions: Int) throws {
        try partition(partitions)
        let collectors = try collectors(1)
        defer { collectors.stop() }
        try test.add(try (0..<100).map { try test.sample(60 + $0 % 3, at: 3600 * $0) })
        try test.add(try (0..<3).map { try test.object(.workout, $0, at: 100 * $0) })
        try test.finish(try test.run(exporter()))
        let days = { (zone: String) throws in try self.exporter().dayCounts(zone: zone) }
        for (zone, offset) in [("UTC", 0), ("+05:30", 19_800), ("-03:00", -10_800), ("Asia/Kolkata", 19_800)] {
            var expected: [String: Int] = [:]
            let cursor = try test.store.samples.cursor(matching: SampleQuery())
            while let sample = try cursor.next()?.sample {
                expected[
                    sample.origin.type.id + " \((sample.start.microseconds / 1_000_000 + Int64(offset)) / 86_400)", default: 0] +=
                    1
            }
            let found = try days(zone)
            #expect(found.map(\.count).reduce(0, +) == 103 && found.count == expected.count, "\(zone)")
            #expect(found.map(\.count).sorted() == expected.values.sorted(), "\(zone)")
        }
        #expect(throws: DeliveryError.self) { try days("Middle/Earth") }
        // It continues after a failure, and in parts.
        let fleet = try FleetDatabase(database)
        let all = try fleet.counts(of: test.store.identifier, zone: "UTC", after: nil, limit: 1000)
        var parts: [DayCount] = []
        while true {
            let some = try fleet.counts(of: test.store.identifier, zone: "UTC", after: parts.last, limit: 2)
            parts += some
            if some.count < 2 { break }
        }
        #expect(parts == all && all.count > 4)
        #expect(try fleet.counts(of: "another", zone: "UTC", after: nil, limit: 10).isEmpty)
    }

    /// A request that the database refuses costs no session, and neither does a delivery with a row that it refuses.
    @Test func aRefusalKeepsTheSession() throws {
        let collector = Collector(database, now: { ExportedStore.received })
        func reply(_ task: FleetRequest.Task) -> FleetReply? {
            var found: FleetReply?
            let request = FleetRequest(target: "other", me: test.store.owner, task: task)
            collector.carryOut([ReceivedRequest(bytes: request.bytes, store: test.store.identifier)]) { found = $1 }
            return found
        }
        func isRefused(_ task: FleetRequest.Task) -> Bool {
            if case .failure(let error)? = reply(task) { error.kind == .refused } else { false }
        }
        let sample = try test.sample(60, at: 0).sample
        var late = try test.sample(61, at: 1).sample
        late.start = Instant(microseconds: .max - 1)
        late.end = late.start
        func batch(_ some: [Sample]) -> ExportBatch {
            ExportBatch(changes: some.map { .added(StoredSample(sample: $0, ingest: 0, seq: 0)) })
        }
        _ = reply(.deliver(batch([sample])))
        let before = try #require(collector.session.connection)
        #expect(isRefused(.count(zone: "Middle/Earth", after: nil)))
        #expect(isRefused(.deliver(batch([late]))))
        #expect(isRefused(.deliver(batch([sample, late]))))
        guard case .receipt = reply(.deliver(batch([sample, try test.sample(62, at: 2).sample]))) else {
            Issue.record("the session is of no use")
            return
        }
        #expect(try collector.session.connection === before && rows() == 2)
    }

    /// Without a collector the broker replies at once, and the hub tries again later.
    @Test func withoutACollector() throws {
        try test.add([try test.sample(60, at: 0)])
        let run = try test.run(exporter())
        guard case .wait = try run.step() else {
            Issue.record("it did not wait")
            return
        }
        #expect(run.target.words == "the broker was reached, but no collector is running")
        let collectors = try collectors()
        defer { collectors.stop() }
        try test.finish(run)
        #expect(try stored() == expected())
    }

    /// Receipts get lost, brokers and collectors end, hubs are killed: afterwards the database equals the store.
    @Test(arguments: 0..<4 as Range<UInt64>) func databaseEqualsStoreAfterFailures(seed: UInt64) throws {
        try partition(seed % 2 == 0 ? 0 : 3)
        var random = SeededGenerator(seed: seed)
        let relay = CuttingRelay(.tcp(0), server: .tcp(broker.port))
        defer { relay.close() }
        var collectors: CollectorService? = try collectors()
        defer { collectors?.stop() }
        let proof = try ExportProof(test, objects: [.category, .workout, .document]) {
            try exporter(port: relay.port, timeout: 500)
        }
        for _ in 0..<4 {
            try proof.suffer(12, using: &random) { random in
                guard Bool.random(using: &random) else { return }
                let direction = CuttingRelay.Direction.allCases[Int.random(in: 0..<2, using: &random)]
                // The first answer of a broker has about 400 bytes.
                relay.cut(direction, after: Int.random(in: 1..<(direction == .toServer ? 2500 : 900), using: &random))
            }
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                collectors?.stop()
                collectors = nil
                try proof.suffer(4, using: &random) { _ in }
                collectors = try self.collectors()
            case 1:
                broker.crash()
                try proof.suffer(4, using: &random) { _ in }
                try broker.start()
            default: break
            }
        }
        #expect(relay.count > 0)
        relay.mend()
        try until { (try? exporter().check()) != nil }
        try proof.finish()
        #expect(try stored() == expected())
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try direct(), store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: test.contents().count))
    }

    /// The same readings from two hubs are one row each, which stays while one of them has it.
    @Test(arguments: 0..<3 as Range<UInt64>) func twoHubs(seed: UInt64) throws {
        try partition(seed % 2 == 0 ? 0 : 3)
        var random = SeededGenerator(seed: seed)
        let collectors = try collectors(3)
        defer { collectors.stop() }
        let other = try ExportedStore()
        let proofs = try [test, other].map { store in
            try ExportProof(store, objects: [.workout]) { try exporter(of: store.store) }
        }
        for _ in 0..<8 { try proofs[Int.random(in: 0..<2, using: &random)].suffer(6, using: &random) { _ in } }
        for proof in proofs { try proof.finish() }
        for store in [test, other] {
            var own: Set<String> = []
            try direct(of: store.store).contents { own.formUnion($0.map(\.identity.description)) }
            #expect(try own == Set(store.contents().keys.map(\.description)))
        }
        let rows = try rows()
        #expect(try rows == Set(test.contents().keys).union(other.contents().keys).count)
    }

    /// The broker lets a hub send only as itself.
    @Test func brokerLimitsHubToOwnName() throws {
        let other = try ExportedStore()
        let own = try #require(subject.requests(of: test.store.identifier))
        let strict = try NATSServer([
            """
            authorization { users: [
                { user: hub, password: secret, permissions: { publish: "\(own)", subscribe: "\(subject.replies(to: test.store.identifier)).>" } }
                { user: collector, password: secret }
            ] }
            """
        ])
        let failures = failures
        let service = try CollectorService(
            NATSSettings(servers: [strict.url], credentials: .password(user: "collector", password: "secret"), name: "collector"),
            subject,
            database: database, workers: 1, now: { ExportedStore.received }, onFailure: { failures.add($1) })
        defer { service.stop() }
        var settings = FleetSettings(servers: [strict.url], subject: subject)
        (settings.user, settings.password) = ("hub", try secret("secret", "password"))
        try test.add([try test.sample(60, at: 0)])
        try other.add([try other.sample(61, at: 1)])
        try test.finish(try test.run(exporter(settings: settings)))
        #expect(try stored() == expected())
        guard case .wait = try other.run(exporter(of: other.store, settings: settings, timeout: 500)).step() else {
            Issue.record("it did not wait")
            return
        }
        #expect(try rows() == 1)
        settings.password = try secret("wrong", "wrong")
        #expect { try exporter(settings: settings).check() } throws: { ($0 as? DeliveryError)?.kind == .unauthorised }
    }

    /// Random bytes get an answer that refuses them, and nothing is stored.
    @Test func refusesRandomBytes() throws {
        let collectors = try collectors(1)
        defer { collectors.stop() }
        var settings = NATSSettings(servers: [broker.url], name: "stranger")
        settings.replies = subject.replies(to: "stranger")
        let connection = try NATSConnection(settings, .once)
        let own = try #require(subject.requests(of: "stranger"))
        var random = SeededGenerator(seed: 3)
        for length in [0, 1, 2, 30, 5000] {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let reply = try #require(FleetReply(bytes: try connection.request(own, bytes, milliseconds: 20_000)))
            guard case .failure(let error) = reply else {
                Issue.record("it was accepted")
                return
            }
            #expect(error.kind == .refused)
        }
        #expect(failures.all.count == 5)
    }

    /// A hub withdraws everything that it has sent about a person, also what its store no longer knows. The reports of other hubs stay.
    @Test func aHubWithdrawsAPerson() throws {
        let collectors = try collectors(1)
        defer { collectors.stop() }
        let other = try ExportedStore()
        let shared = try (0..<5).map { try test.sample(60 + $0, at: $0) }
        let own = try test.sample(70, at: 10)
        try test.add(shared + [own, try test.object(.workout, 1, at: 20), try test.sample(80, at: 30)])
        try other.add(shared)
        for store in [test, other] { try store.finish(try store.run(exporter(of: store.store))) }
        try test.delete(own)
        try test.finish(try test.run(exporter()))
        try exporter().erase(person: test.origin.person)
        #expect(try stored().isEmpty && rows() == 5)
        let connection = try PostgreSQLConnection(database)
        #expect(try connection.run("SELECT 1 FROM \(database.schema).deletion").isEmpty)
        #expect(try connection.run("SELECT DISTINCT cardinality(hubs) FROM \(database.schema).sample") == [["1"]])
        #expect(try connection.run("SELECT count(*) FROM \(database.schema).participant") == [["1"]])
    }

    /// A collector may publish to all hubs. It replies only below the subject of the store that has asked, so no request makes it send
    /// something to another hub, to itself, or to every subscriber.
    @Test func repliesGoOnlyToTheRequester() throws {
        let collectors = try collectors(1)
        defer { collectors.stop() }
        let find = FleetRequest(target: "center", me: test.store.owner, task: .find).bytes
        let own = try #require(subject.requests(of: "stranger"))
        func reply(below prefix: String?) throws -> FleetReply? {
            var settings = NATSSettings(servers: [broker.url], name: "stranger")
            settings.replies = prefix
            return FleetReply(bytes: try NATSConnection(settings, .once).request(own, find, milliseconds: 1000))
        }
        for prefix in [nil, subject.replies(to: "another"), "elsewhere"] {
            #expect(throws: NATSError.self) { try reply(below: prefix) }
        }
        guard case .found = try reply(below: subject.replies(to: "stranger")) else {
            Issue.record("there was no reply")
            return
        }
        let foreign = [subject.replies(to: "another") + ".1", own, subject.changed, "elsewhere", subject.replies(to: "stranger")]
        for wrong in foreign + ["vitalgate.study.reply.stranger.*", "vitalgate.study.reply.stranger.>"] {
            #expect(!subject.isReply(wrong, to: "stranger"))
        }
    }

    /// A block that is longer than the broker allows is sent in parts. A single change that is longer is set aside, and the rest goes on.
    @Test func longBlocks() throws {
        let narrow = try NATSServer(["max_payload: 3000"])
        let collectors = try collectors(1, on: narrow)
        defer { collectors.stop() }
        try test.add(try (0..<400).map { try test.sample(60 + $0 % 3, at: $0 * $0) })
        let text = (0..<20_000).map { _ in "\(UInt64.random(in: 0...UInt64.max))" }.joined()
        let body = try SampleBody(
            encoding: ClinicalDocument(title: "long", patient: "", custodian: "", author: "", valid: true),
            content: PackedContent(text.utf8))
        var long = try test.object(.document, 1, at: 5)
        long.sample.body = body
        let run = try test.run(exporter(port: narrow.port))
        try test.add([long])
        try test.add([try test.sample(60, at: 500_000)])
        try test.finish(run)
        var expected = try expected()
        expected.remove(long.sample.identity.description)
        #expect(try stored() == expected)
    }

    private func until(_ isSo: () -> Bool) throws {
        for _ in 0..<6000 {
            if isSo() { return }
            usleep(50_000)
        }
        Issue.record("it never came")
    }
}
