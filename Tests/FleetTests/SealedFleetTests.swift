import Dispatch
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

/// Hubs that seal their messages, with Debian's nats-server and PostgreSQL.
@Suite struct SealedFleetTests {
    private let test: ExportedStore
    private let broker: NATSServer
    private let database: PostgreSQLSettings
    private let subject: FleetSubject
    private let collectorsKey: SealingKey
    private let hub: NKey

    private static let device = "C0:01:02:03:04:99"

    init() throws {
        test = try ExportedStore()
        broker = try NATSServer()
        database = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "s" + test.store.identifier)
        subject = try #require(FleetSubject(fleet: "study"))
        (collectorsKey, hub) = (try #require(SealingKey.random()), try #require(NKey.random()))
        _ = try direct(of: test.store).create()
        _ = try FleetDatabase.create(database)
    }

    /// An exporter that writes into the database itself.
    private func direct(of store: SampleStore) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            database,
            context: try ExportContext(name: "other", store: store.identifier, me: store.owner, now: { ExportedStore.received })
        )
    }

    private func exporter(
        of test: ExportedStore? = nil, on broker: NATSServer? = nil, key: NKey? = nil, sealingKey: SealingKey? = nil,
        isSealed: Bool = true, timeout: Int = 20_000
    ) throws -> FleetExporter {
        let test = test ?? self.test
        var settings = FleetSettings(servers: [(broker ?? self.broker).url], subject: subject)
        if isSealed { settings.sealingKey = (sealingKey ?? collectorsKey).publicText }
        if let key {
            let path = test.folder.file("\(key.publicText).seed")
            try Data(key.seedText.utf8).write(to: URL(filePath: path))
            chmod(path, 0o600)
            settings.seedFile = path
        }
        return FleetExporter(
            settings,
            context: try ExportContext(
                name: "other", store: test.store.identifier, me: test.store.owner, now: { ExportedStore.received }),
            timeout: timeout)
    }

    /// Runs something while collectors run.
    private func withCollectors<Result>(
        _ keys: [SealingKey]? = nil, isRequired: Bool = false, _ body: () throws -> Result
    ) throws -> Result {
        let opener = RequestOpener(keys ?? [collectorsKey], isRequired: isRequired, fleet: subject)
        let service = try CollectorService(
            NATSSettings(servers: [broker.url], name: "collector"), subject, opener: opener, database: database, workers: 2,
            now: { ExportedStore.received }, onFailure: { _, _ in })
        defer { service.stop() }
        return try body()
    }

    private func stored(_ store: SampleStore) throws -> Set<String> {
        var stored: Set<String> = []
        try direct(of: store).contents { stored.formUnion($0.map(\.identity.description)) }
        return stored
    }

    private func expectEqual(_ test: ExportedStore) throws {
        #expect(try stored(test.store) == Set(test.contents().keys.map(\.description)))
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try direct(of: test.store), store: test.store,
            now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: test.contents().count))
    }

    private func enroll(_ key: NKey, _ test: ExportedStore, as name: String = "ward-3") throws {
        try PostgreSQLConnection(database).run(
            "INSERT INTO \(database.schema).fleet_hub(name, store, key) VALUES($1, $2, $3)",
            [name, test.store.identifier, key.publicText])
    }

    // MARK: The broker's view

    /// A reading of a device with a known address.
    private func reading() throws -> GatedSample {
        let start = Instant(seconds: 1_790_000_000)
        let origin = Origin(
            person: test.origin.person, type: .heartRate, source: test.origin.source, device: Device(key: Self.device))
        let reading = Reading(
            origin: origin, numeral: try Numeral("77.125"), unit: try Unit(ucum: "/min"),
            time: .instants(start: start, end: start, offset: .utc), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
    }

    /// Everything that a message reveals to a person who knows the formats.
    private func revealed(_ message: NATSMessage) -> String {
        var text = "\(message.subject) \(message.reply ?? "") " + String(decoding: message.bytes, as: UTF8.self)
        guard let request = try? FleetRequest(bytes: message.bytes) else { return text }
        text += request.target + request.me
        var task = request.task
        if case .once(_, let inner) = task { task = inner }
        switch task {
        case .deliver(let batch): text += "\(batch)\(batch.changes.map(\.sample.origin.source.id))"
        case .contents(let places, _): text += "\(places)"
        case .claim(let mark): text += "\(mark)"
        case .report(let report): text += "\(report)"
        case .erase(let person): text += person
        case .order(let orders): text += "\(orders)"
        case .find, .check, .digests, .count, .number, .once: break
        }
        return text
    }

    /// A subscriber to all subjects sees every word of a delivery, a report, a command, and a comparison, and none of them if they
    /// are sealed.
    @Test(arguments: [true, false]) func theBrokerSeesNothing(isSealed: Bool) throws {
        try enroll(hub, test)
        try PostgreSQLConnection(database).run(
            """
            INSERT INTO \(database.schema).fleet_order(hub, number, kind, arguments)
            SELECT id, 1, 'adopt', '{\(Self.device)}' FROM \(database.schema).fleet_hub
            """)
        let sniffer = try NATSConnection(NATSSettings(servers: [broker.url], name: "sniffer"), .once)
        let everything = try sniffer.subscription(">")
        try sniffer.flush(milliseconds: 5000)
        try test.add([try reading(), try test.object(.workout, 1, at: 5)])
        let sample = try reading().sample
        try withCollectors {
            let exporter = try exporter(key: hub, isSealed: isSealed)
            exporter.makeReport = {
                var report = HubReport(version: "9.9.9", lastChange: 2, waiting: 0, quarantined: 0, order: 0, result: nil)
                report.machine = HubReport.Machine(id: "m", name: "raspberry in ward 3:/var/lib/vitalgate")
                return report
            }
            try test.finish(try test.run(exporter))
            _ = try exporter.dayCounts(zone: "Europe/Vienna")
            try exporter.contents { _ in }
            try exporter.report()
        }
        try expectEqual(test)
        #expect(
            try PostgreSQLConnection(database).run("SELECT sealed FROM \(database.schema).fleet_hub") == [[isSealed ? "t" : "f"]])
        try sniffer.flush(milliseconds: 5000)
        var (seen, count) = ("", 0)
        while let message = everything.arrived() { (seen, count) = (seen + revealed(message), count + 1) }
        #expect(count >= 12)
        let words = [
            Self.device, "heartRate", test.origin.person, "77.125", "strap", "raspberry in ward 3", "adopt",
            "\(sample.identity)", "9.9.9", "2026-09-21", "leftOut",
        ]
        for word in words { #expect(seen.contains(word) == !isSealed, "\(word)") }
        #expect(seen.contains(test.store.identifier))
    }

    // MARK: Keys

    /// "found" for a hub with this key, or the words of an error after which it tries again.
    private func words(_ sealingKey: SealingKey? = nil, key: NKey? = nil, isSealed: Bool = true) throws -> String {
        let exporter = try exporter(key: key, sealingKey: sealingKey, isSealed: isSealed)
        do throws(DeliveryError) {
            _ = try exporter.found()
            return "found"
        } catch {
            #expect(error.kind == .unreachable, "\(error)")
            return "\(error)"
        }
    }

    /// Each wrong or missing key has its own words, and the hub tries again until the keys are right.
    @Test func wrongKeys() throws {
        let other = try #require(SealingKey.random())
        try withCollectors { () throws in #expect(try words(other) == SealFault.otherKey.words) }
        try withCollectors([]) { () throws in
            #expect(try words() == SealFault.noKey.words)
            #expect(try words(isSealed: false) == "found")
        }
        try withCollectors([other, collectorsKey]) { () throws in
            for key in [other, collectorsKey] { #expect(try words(key) == "found") }
            #expect(try words(isSealed: false) == "found")
        }
        try withCollectors(isRequired: true) { () throws in
            #expect(try words(isSealed: false) == SealFault.unsealed.words)
            // Only hubs that have joined may send.
            #expect {
                try exporter(key: hub).found()
            } throws: {
                ($0 as? DeliveryError)?.kind == .unauthorised && "\($0)".contains("accepts only hubs that have joined")
            }
            try enroll(hub, test)
            #expect(try words(key: hub) == "found")
            #expect { try exporter().found() } throws: { ($0 as? DeliveryError)?.kind == .unauthorised }
        }
        #expect(try words() == "the broker was reached, but no collector is running")
        // A seed file that does not contain a seed.
        let broken = try exporter(key: hub)
        try Data("hello".utf8).write(to: URL(filePath: test.folder.file("\(hub.publicText).seed")))
        #expect { try broken.found() } throws: { ($0 as? DeliveryError)?.kind == .unfit }
    }

    /// A collector without this version refuses sealed requests in its own words. The hub sets no reading aside because of them.
    @Test func aCollectorOfAnOlderVersion() throws {
        let connection = try NATSConnection(NATSSettings(servers: [broker.url], name: "old"), .once)
        let requests = try connection.subscription(subject.allRequests, group: FleetSubject.collectors)
        defer { requests.end() }
        try connection.flush(milliseconds: 5000)
        DispatchQueue(label: "old").async {
            while let message = requests.next() {
                guard let reply = message.reply else { continue }
                var words = ""
                do { _ = try FleetRequest(bytes: message.bytes) } catch { words = "\(error)" }
                try? connection.publish(reply, FleetReply.failure(DeliveryError(.refused, words)).bytes)
            }
        }
        try test.add([try test.sample(60, at: 0)])
        let run = try test.run(exporter())
        guard case .wait = try run.step() else {
            Issue.record("it did not wait")
            return
        }
        #expect(run.target.words?.contains("is not sealed for this hub: update the collector") == true)
    }

    /// A request under the name of an enrolled hub must be sealed by this hub, if it is sealed at all.
    @Test func sealedRequestsMustBeFromEnrolledHub() throws {
        try enroll(hub, test)
        try withCollectors {
            _ = try exporter(key: hub).found()
            for key in [NKey.random(), nil] {
                #expect { try exporter(key: key).found() } throws: {
                    ($0 as? DeliveryError)?.kind == .unauthorised && "\($0)".contains("not sealed with the key of this hub")
                }
            }
            try PostgreSQLConnection(database).run("UPDATE \(database.schema).fleet_hub SET revoked = now()")
            #expect { try exporter(key: hub).found() } throws: { "\($0)".contains("has revoked this hub") }
        }
    }

    // MARK: A hostile broker

    /// A broker that repeats recorded requests erases nothing, and sets no report or order back.
    @Test func recordedRequestsAreNotCarriedOutAgain() throws {
        try enroll(hub, test)
        var settings = NATSSettings(servers: [broker.url], name: "recorder")
        settings.replies = subject.replies(to: test.store.identifier)
        let recorder = try NATSConnection(settings, .once)
        let requests = try recorder.subscription(subject.allRequests)
        try recorder.flush(milliseconds: 5000)
        let connection = try PostgreSQLConnection(database)
        func last() throws -> [[String?]] {
            try connection.run(
                "SELECT last_change, (SELECT count(*) FROM \(database.schema).source_order) FROM \(database.schema).fleet_hub")
        }
        try withCollectors(isRequired: true) {
            let exporter = try exporter(key: hub)
            var number: Int64 = 1
            exporter.makeReport = {
                HubReport(version: "1", lastChange: number, waiting: 0, quarantined: 0, order: 0, result: nil)
            }
            try exporter.erase(person: test.store.owner)
            try exporter.set([SourceOrder(names: ["Watch"])])
            try exporter.report()
            #expect(try last() == [["1", "1"]])
            // Another process of the hub.
            number = 2
            try self.exporter(key: hub).set([])
            try test.add([try reading()])
            try test.finish(try test.run(exporter))
            try exporter.report()
            #expect(try last() == [["2", "0"]])
            try recorder.flush(milliseconds: 5000)
            var recorded: [NATSMessage] = []
            while let message = requests.arrived() { recorded.append(message) }
            #expect(recorded.count > 8)
            for _ in 0..<2 {
                for each in recorded { _ = try recorder.request(each.subject, each.bytes, milliseconds: 20_000) }
            }
            #expect(try last() == [["2", "0"]])
            try exporter.report()
        }
        try expectEqual(test)
    }

    /// The broker repeats, exchanges, changes, withholds, and invents messages of two hubs. Afterwards the database has the readings of
    /// both stores, row by row.
    @Test(arguments: 0..<3 as Range<UInt64>) func aHostileBroker(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let other = try ExportedStore()
        let keys = [hub, try #require(NKey.random())]
        for (index, one) in [test, other].enumerated() { try enroll(keys[index], one, as: "hub \(index)") }
        let front = try NATSServer()
        try withCollectors(isRequired: true) {
            let hostile = try HostileBroker(
                front, broker, subject, stores: [test, other].map(\.store.identifier), seed: seed)
            defer { hostile.end() }
            let proofs = try [test, other].enumerated().map { index, one in
                try ExportProof(one, objects: [.workout]) {
                    try exporter(of: one, on: front, key: keys[index], timeout: 400)
                }
            }
            for _ in 0..<8 { try proofs[Int.random(in: 0..<2, using: &random)].suffer(12, using: &random) { _ in } }
            #expect(hostile.attacks > 20)
            hostile.isHostile = false
            for proof in proofs { try proof.finish() }
        }
        for one in [test, other] { try expectEqual(one) }
    }
}

/// A broker between hubs and collectors that attacks their messages. Hubs connect to `front`, collectors to `back`.
private final class HostileBroker: Sendable {
    private let front: NATSConnection
    /// A connection for the requests of each store, because collectors reply only below the subject of the store.
    private let back: [String: NATSConnection]
    private let requests: NATSSubscription
    private let running = DispatchGroup()
    private let state = Mutex((isHostile: true, attacks: 0))

    var attacks: Int { state.withLock { $0.attacks } }
    var isHostile: Bool {
        get { state.withLock { $0.isHostile } }
        set { state.withLock { $0.isHostile = newValue } }
    }

    init(_ front: NATSServer, _ back: NATSServer, _ subject: FleetSubject, stores: [String], seed: UInt64) throws {
        self.front = try NATSConnection(NATSSettings(servers: [front.url], name: "front"), .once)
        var connections: [String: NATSConnection] = [:]
        for store in stores {
            var settings = NATSSettings(servers: [back.url], name: "back")
            settings.replies = subject.replies(to: store)
            connections[try #require(subject.requests(of: store))] = try NATSConnection(settings, .once)
        }
        self.back = connections
        requests = try self.front.subscription(subject.allRequests)
        try self.front.flush(milliseconds: 5000)
        let subjects = stores.compactMap { subject.requests(of: $0) }
        DispatchQueue(label: "hostile broker").async(group: running) { [self] in
            var random = SeededGenerator(seed: seed &+ 100)
            var past: [(subject: String, bytes: [UInt8], reply: [UInt8])] = []
            while let message = requests.next() {
                guard let reply = message.reply else { continue }
                let answer = attack(message, past, subjects, &random)
                if let answer { try? self.front.publish(reply, answer) }
                if let answer, past.count < 500 { past.append((message.subject, message.bytes, answer)) }
            }
        }
    }

    func end() {
        requests.end()
        running.wait()
    }

    private func ask(_ subject: String, _ bytes: [UInt8]) -> [UInt8]? {
        try? back[subject]?.request(subject, bytes, milliseconds: 20_000)
    }

    /// Replies that it can invent, because it knows the format.
    private static let inventions: [FleetReply] = [
        .receipt(leftOut: 0), .claimed(true), .contents([]), .digests([]), .found(nil), .failure(DeliveryError(.refused, "no")),
        .failure(DeliveryError(.tooLarge, "no")), .failure(DeliveryError(.refusedSome([0]), "no")),
        .failure(DeliveryError(.unfit, "no")), .failure(DeliveryError(.unauthorised, "no")),
        .failure(DeliveryError(.forbidden, "no")),
    ]

    private func flipped(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        var bytes = bytes
        bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        return bytes
    }

    /// The reply to the hub, or `nil` for none.
    private func attack(
        _ message: NATSMessage, _ past: [(subject: String, bytes: [UInt8], reply: [UInt8])], _ subjects: [String],
        _ random: inout SeededGenerator
    ) -> [UInt8]? {
        guard isHostile, Bool.random(using: &random) else { return ask(message.subject, message.bytes) }
        state.withLock { $0.attacks += 1 }
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            if let old = past.randomElement(using: &random) { _ = ask(old.subject, old.bytes) }
            return ask(message.subject, message.bytes)
        case 1:
            for subject in subjects where subject != message.subject { _ = ask(subject, message.bytes) }
            return ask(message.subject, message.bytes)
        case 2:
            let other = subjects.first { $0 != message.subject } ?? ""
            return ask(other, message.bytes)
        case 3: return ask(message.subject, flipped(message.bytes, &random))
        case 4: return past.randomElement(using: &random)?.reply
        case 5: return ask(message.subject, message.bytes).map { flipped($0, &random) }
        case 6: return Self.inventions.randomElement(using: &random)?.bytes
        case 7: return message.bytes
        default:
            _ = ask(message.subject, message.bytes)
            return ask(message.subject, message.bytes)
        }
    }
}
