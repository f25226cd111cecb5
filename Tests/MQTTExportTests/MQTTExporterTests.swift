import ExportEngine
import ExportTesting
import FoundationEssentials
import Glibc
import HealthAnswers
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import MQTTExport

/// Tests against Debian's Mosquitto, received by its own client.
@Suite struct MQTTExporterTests {
    private let test: ExportedStore
    private let settings = TargetSettings(name: "home", batchSize: 7)
    private let clock = Clock()

    /// The exporter's clock.
    private final class Clock {
        var time = Instant(seconds: 1_790_000_100)
    }

    init() throws { test = try ExportedStore() }

    private func exporter(
        _ port: UInt16, _ change: (inout MQTTSettings) -> Void = { _ in }, units: [SampleType: Unit] = [:]
    ) throws -> MQTTExporter {
        var settings = MQTTSettings(host: "127.0.0.1", port: Int(port))
        change(&settings)
        return MQTTExporter(
            settings,
            context: try ExportContext(
                name: "home", store: test.store.identifier, me: test.store.owner, units: units,
                present: PresentSamples(test.store, self.settings).all,
                today: { [clock, test, settings = self.settings] in
                    try DailyFigures(test.store, zone: TimeZoneRules(fixed: .utc), priority: []).today(
                        of: $0, at: clock.time, where: settings.filter)
                }, now: { [clock] in clock.time }))
    }

    private var root: String { "vitalgate/\(test.store.identifier.filter { $0 != "-" }.prefix(8))" }

    private struct Line: Decodable {
        var uuid: String?
        var deleted: String?
        var value: Double?
    }

    /// The content of a receiver that applies lines by UUID as they arrive.
    private func copied(_ listener: Listener) throws -> [SampleIdentity: Double] {
        var copy: [SampleIdentity: Double] = [:]
        for message in try listener.received() where message.topic == root + "/changes" {
            let line = try JSONDecoder().decode(Line.self, from: Data(message.payload.utf8))
            if let uuid = line.uuid { copy[try #require(SampleIdentity(uuid))] = line.value }
            if let uuid = line.deleted { copy[try #require(SampleIdentity(uuid))] = nil }
        }
        return copy
    }

    private struct State: Decodable, Equatable {
        var value: Double
        var unit: String
        var uuid: String
    }

    private func states(_ last: [String: String]) throws -> [State] {
        try last.filter { $0.key.hasPrefix(root) && $0.key.hasSuffix("/heartRate") }
            .map { try JSONDecoder().decode(State.self, from: Data($0.value.utf8)) }
    }

    private func last() throws -> State? {
        let cursor = try test.store.samples.cursor(matching: SampleQuery(descending: true, limit: 1))
        return try cursor.next().map { State(value: $0.sample.value, unit: "bpm", uuid: $0.uuid.description) }
    }

    @Test func sensorStateEqualsStore() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        let samples = try (0..<50).map { try test.sample(60 + $0 % 3, at: $0) }
        try test.add(samples)
        let exporter = try exporter(broker.port)
        #expect(try exporter.check().map(\.weight) == [.good, .warning])
        // The check tries its topics with empty messages, which contain nothing and leave nothing.
        #expect(try listener.received().allSatisfy { $0.payload.isEmpty })
        let run = try test.run(exporter, settings)
        try test.finish(run)
        #expect(try copied(listener) == test.contents())
        var reported = try listener.last()
        #expect(try states(reported) == [try #require(try last())])
        #expect(reported[root + "/availability"] == "online")
        let discovery = reported.filter { $0.key.hasPrefix("homeassistant/device/vitalgate_") }
        #expect(discovery.count == 1)
        #expect(discovery.values.first?.contains(#""unit_of_measurement":"bpm","state_class":"measurement""#) == true)
        // A back-dated sample is published as a change, and not shown as a state.
        let count = try listener.received().count
        try test.add([try test.sample(99, at: -3_000_000)])
        try test.finish(run)
        #expect(try listener.received().count == count + 1)
        #expect(try copied(listener) == test.contents())
        // The last one is deleted: the one before it is how it is.
        try test.delete(samples[49])
        try test.finish(run)
        reported = try listener.last()
        #expect(try states(reported) == [try #require(try last())])
        #expect(try states(reported).first?.uuid == samples[48].sample.identity.description)
        // Without readings, nothing is shown.
        _ = try test.store.samples.delete(try test.contents().keys.map { $0 }, description: test.description(.delete))
        try test.finish(run)
        #expect(try copied(listener).isEmpty)
        #expect(try listener.last().keys.filter { $0 != root + "/changes" } == [root + "/availability"])
        try exporter.finish()
        #expect(try listener.last()[root + "/availability"] == "offline")
    }

    @Test func repairsGoOver() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        var counts: [Int] = []
        try test.repair(delivering: test.run(exporter(broker.port))) {
            let copied = try copied(listener)
            #expect(try copied == test.contents())
            counts.append(copied.count)
            #expect(try states(listener.last()) == (try last().map { [$0] } ?? []))
        }
        #expect(counts == [10_000, 10_000, 10_000, 9000, 0])
    }

    /// Whatever is added and deleted, and wherever the connection breaks, a receiver of the lines has the content of the store, and the
    /// state is the latest sample.
    @Test(arguments: 0..<6 as Range<UInt64>) func survivesRandomFailures(seed: UInt64) throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        let relay = CuttingRelay(.tcp(0), server: .tcp(broker.port))
        defer { relay.close() }
        let proof = try ExportProof(test, settings) { try exporter(relay.port) }
        var random = SeededGenerator(seed: seed)
        try proof.suffer(40, using: &random) { random in
            guard Bool.random(using: &random) else { return }
            relay.cut(Bool.random(using: &random) ? .toServer : .toClient, after: Int.random(in: 0...4000, using: &random))
        }
        relay.mend()
        try proof.finish()
        #expect(try copied(listener) == test.contents())
        #expect(try states(listener.last()) == (try last().map { [$0] } ?? []))
    }

    /// Each answer arrives one byte at a time.
    @Test func answersSlowly() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        let relay = CuttingRelay(.tcp(0), server: .tcp(broker.port))
        defer { relay.close() }
        relay.slow(to: 1)
        let proof = try ExportProof(test, settings) { try exporter(relay.port) }
        var random = SeededGenerator(seed: 3)
        try proof.suffer(20, using: &random) { _ in }
        try proof.finish()
        #expect(relay.slowLots > 100)
        #expect(try copied(listener) == test.contents())
        #expect(try states(listener.last()) == (try last().map { [$0] } ?? []))
    }

    /// After a lost connection the exporter reconnects. In the meantime, the readings are not shown as current.
    @Test func availabilityReflectsConnection() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        let relay = CuttingRelay(.tcp(0), server: .tcp(broker.port))
        defer { relay.close() }
        try test.add([try test.sample(60, at: 0)])
        let exporter = try exporter(relay.port)
        let run = try test.run(exporter, settings)
        try test.finish(run)
        relay.cut(.toServer, after: 0)
        // The next message breaks the connection.
        try test.add([try test.sample(61, at: 1)])
        #expect(try run.step() == .wait(.zero) || run.target.state == .waiting)
        func reported() throws -> [String] {
            try listener.received().filter { $0.topic == root + "/availability" }.map(\.payload)
        }
        try listener.until("our will") { try reported().last == "offline" }
        try test.finish(run)
        let sequence = try reported()
        #expect(sequence == ["online", "offline", "online"])
        #expect(try states(listener.last()) == [try #require(try last())])
        // Gone without a word, as by kill -9.
        relay.cut(.toServer, after: 0)
        try listener.publish("homeassistant/status", "online")
        try listener.until("our will") { try reported().last == "offline" }
    }

    /// A broker that keeps nothing has all again once it is back, though nothing has changed.
    @Test func republishesAfterBrokerLosesMessages() throws {
        let broker = try Broker()
        try test.add([try test.sample(60, at: 0)])
        let exporter = try exporter(broker.port)
        try test.finish(try test.run(exporter, settings))
        var listener = try Listener(broker)
        let before = try listener.last()
        #expect(before.count == 4)
        broker.crash()
        try broker.start()
        listener = try Listener(broker)
        try listener.until("what was retained") { try listener.last() == before }
        withExtendedLifetime(exporter) {}
    }

    /// A new process finds all messages in place and sends nothing. It must send them if the broker loses them later.
    @Test func republishesMessagesOfEarlierProcess() throws {
        let broker = try Broker()
        try test.add([try test.sample(60, at: 0)])
        var exporter: MQTTExporter? = try exporter(broker.port)
        try test.finish(try test.run(try #require(exporter), settings))
        exporter = try self.exporter(broker.port)
        _ = try exporter?.idle()
        var listener = try Listener(broker)
        let before = try listener.last()
        #expect(before.count == 4)
        broker.crash()
        try broker.start()
        listener = try Listener(broker)
        try listener.until("what was retained") { try listener.last() == before }
        withExtendedLifetime(exporter) {}
    }

    @Test func homeAssistantStarts() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        try test.add([try test.sample(60, at: 0)])
        let exporter = try exporter(broker.port)
        try test.finish(try test.run(exporter, settings))
        let before = try listener.received()
        try listener.publish("homeassistant/status", "offline")
        try listener.publish("homeassistant/status", "online")
        let topics = Set(before.map(\.topic)).subtracting([root + "/changes"])
        try listener.until("all of it once more") {
            let again = try listener.received().dropFirst(before.count)
            return Set(again.map(\.topic)) == topics.union(["homeassistant/status"]) && again.count == topics.count + 2
        }
        withExtendedLifetime(exporter) {}
    }

    @Test func staleReadingIsUnavailable() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        try test.add([try test.sample(60, at: 0)])
        let exporter = try exporter(broker.port) { $0.staleAfter = ["heartRate": 300, "other": 5] }
        #expect(try exporter.idle() == .microseconds(200_001_000))
        func availability() throws -> String? {
            try listener.last().first { $0.key.hasSuffix("/heartRate/availability") }?.value
        }
        #expect(try availability() == "online")
        clock.time = Instant(seconds: 1_790_000_300)
        #expect(try exporter.idle() == nil)
        #expect(try availability() == "offline")
        try test.add([try test.sample(61, at: 299)])
        #expect(try exporter.idle() != nil)
        #expect(try availability() == "online")
    }

    /// Messages of an earlier process are cleared, and those of others are not changed.
    @Test func leftovers() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        let device = "homeassistant/device/vitalgate_\(root.dropFirst(10))_0011223344556677/config"
        let foreign = "homeassistant/device/other_1/config"
        for topic in [device, foreign, root + "/0011223344556677/bodyMass"] {
            try listener.publish(topic, "{}", isRetained: true)
        }
        try test.add([try test.sample(60, at: 0)])
        var exporter = try exporter(broker.port)
        try test.finish(try test.run(exporter, settings))
        try exporter.finish()
        var reported = try listener.last()
        #expect(reported[device] == nil && reported[foreign] == "{}" && reported[root + "/0011223344556677/bodyMass"] == nil)
        // If a device loses a sensor, the sensor is first marked as removed and then left out.
        let topic = try #require(reported.keys.first { $0.contains("/device/vitalgate_") })
        let more = try #require(reported[topic]).replacing(
            #""components":{"#, with: #""components":{"bodyMass":{"platform":"sensor"},"#)
        try listener.publish(topic, more, isRetained: true)
        let before = try listener.received().count
        exporter = try self.exporter(broker.port)
        _ = try exporter.idle()
        let payloads = try listener.received().dropFirst(before).filter { $0.topic == topic }.map(\.payload)
        #expect(payloads.count == 2)
        #expect(payloads.first?.contains(#""bodyMass":{"platform":"sensor"}"#) == true)
        reported = try listener.last()
        #expect(reported[topic]?.contains("bodyMass") == false)
    }

    @Test func stopsWhenUnauthorized() throws {
        let broker = try Broker { folder in
            try ServerProcess.run(["/usr/bin/mosquitto_passwd", "-b", "-c", folder + "/passwords", "hub", "right"])
            try Data("user hub\ntopic write vitalgate/#\ntopic read #\ntopic write test/#\n".utf8)
                .write(to: URL(filePath: folder + "/acl"))
            for file in ["passwords", "acl"] { chmod(folder + "/" + file, 0o644) }
            return ["password_file \(folder)/passwords", "acl_file \(folder)/acl"]
        }
        let secret = broker.folder + "/secret"
        try Data("wrong\n".utf8).write(to: URL(filePath: secret))
        chmod(secret, 0o600)
        try test.add([try test.sample(60, at: 0)])
        func entered() throws -> MQTTExporter {
            try exporter(broker.port) { ($0.user, $0.password) = ("hub", .file(secret)) }
        }
        var run = try test.run(entered(), settings)
        #expect(try run.step() == .stopped)
        #expect(run.target.words == "the broker reports: Not authorized")
        try Data("right\n".utf8).write(to: URL(filePath: secret))
        // In, but Home Assistant's topics are not ours to write. The changes are published, and the check names the topic.
        run = try test.run(entered(), settings)
        var outcome = try run.step()
        #expect(outcome == .more)
        // One more step ends the backlog.
        while outcome == .more { outcome = try run.step() }
        guard case .wait = outcome else {
            Issue.record("it does not wait: \(outcome)")
            return
        }
        #expect(run.target.words?.hasPrefix("the broker reports: Not authorized (publishing homeassistant/") == true)
        #expect(throws: DeliveryError.self) { try entered().check() }
        try Data("user hub\ntopic readwrite #\n".utf8).write(to: URL(filePath: broker.folder + "/acl"))
        broker.crash()
        try broker.start()
        try test.finish(try test.run(entered(), settings))
        let listener = try Listener(broker, entry: ["-u", "hub", "-P", "right"])
        #expect(try states(listener.last()) == [try #require(try last())])
    }

    @Test func aCertificateOfAnotherIsRefused() throws {
        var authority = ""
        let broker = try Broker { folder in
            let certificate = try Certificate(in: folder)
            authority = certificate.path
            return ["allow_anonymous true", "certfile \(certificate.path)", "keyfile \(certificate.key)"]
        }
        func look(_ host: String, _ authority: String?) throws {
            _ = try exporter(broker.port) {
                ($0.isEncrypted, $0.host, $0.certificateAuthority) = (true, host, authority)
            }.check()
        }
        try look("localhost", authority)
        #expect(throws: DeliveryError.self) { try look("localhost", nil) }
        #expect(throws: DeliveryError.self) { try look("127.0.0.1", authority) }
    }

    @Test func setsAsideOversizedMessages() throws {
        let broker = try Broker { _ in ["allow_anonymous true", "max_packet_size 2000"] }
        let listener = try Listener(broker)
        try test.add(try (0..<20).map { try test.sample(60, at: $0) })
        var metadata = try test.sample(61, at: 21)
        metadata.sample.metadata = try Metadata(json: #"{"note":"\#(String(repeating: "x", count: 3000))"}"#)
        try test.add([metadata])
        let run = try test.run(exporter(broker.port), settings)
        try test.finish(run)
        #expect(try test.store.targets.setAside(by: "home").map(\.uuid) == [metadata.sample.identity])
        #expect(try copied(listener).count == 20)
    }

    @Test func waitsWithoutBroker() throws {
        try test.add([try test.sample(60, at: 0)])
        let run = try test.run(exporter(FreePort.find()), settings)
        guard case .wait = try run.step() else {
            Issue.record("it does not wait")
            return
        }
        #expect(run.target.words == "Connection refused")
    }

    /// Four hours of steps in one file are one state, which Home Assistant adds up to the store's total, because it has received zero
    /// before.
    @Test func hoursInOneFile() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        let steps = try #require(SampleType("stepCount"))
        let noon = Instant(seconds: 1_790_000_000)
        clock.time = Instant(seconds: 1_790_020_000)
        let readings = try [(4, 800), (3, 1200), (2, 300), (1, 950)].map { hours, count in
            let start = Instant(microseconds: noon.microseconds - Int64(hours) * 3_600_000_000)
            return Reading(
                origin: Origin(person: test.store.owner, type: steps, source: SourceRevision(id: "file.steps", name: "Steps")),
                numeral: try Numeral("\(count)"), unit: steps.canonicalUnit,
                time: .instants(start: start, end: Instant(microseconds: start.microseconds + 3_600_000_000), offset: .utc),
                place: Place(.line, 1))
        }
        try test.add(
            try readings.flatMap {
                try ReadingPath.samples(of: [$0], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received)
            })
        let exporter = try exporter(broker.port)
        let run = try test.run(exporter, settings)
        try test.finish(run)
        func values() throws -> [Double] {
            struct StateMessage: Decodable {
                var value: Double
            }
            return try listener.received().filter { $0.topic.hasSuffix("/stepCount") }
                .map { try JSONDecoder().decode(StateMessage.self, from: Data($0.payload.utf8)).value }
        }
        #expect(try values() == [0])
        clock.time = Instant(seconds: 1_790_020_004)
        #expect(try run.step() != .stopped)
        #expect(try values() == [0, 3250])
        // The next day begins at zero by itself.
        clock.time = Instant(seconds: 1_790_035_201)
        _ = try exporter.idle()
        #expect(try values() == [0, 3250, 0])
    }

    /// A process that ends at once leaves the total, not the zero.
    @Test func onceIsWhole() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        let steps = try #require(SampleType("stepCount"))
        let reading = Reading(
            origin: Origin(person: test.store.owner, type: steps, source: SourceRevision(id: "file.steps", name: "Steps")),
            numeral: try Numeral("40"), unit: steps.canonicalUnit,
            time: .instants(start: Instant(seconds: 1_790_000_000), end: Instant(seconds: 1_790_000_060), offset: .utc),
            place: Place(.line, 1))
        try test.add(try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received))
        let exporter = try exporter(broker.port)
        try test.finish(try test.run(exporter, settings))
        try exporter.finish()
        let last = try listener.last().first { $0.key.hasSuffix("/stepCount") }?.value
        #expect(last?.hasPrefix(#"{"value":40.0,"#) == true)
    }

    /// A copy of the store at the same broker is stopped with a message that names both, and does not disconnect the first one.
    @Test func aCopyOfTheStore() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        try test.add([try test.sample(60, at: 0)])
        func holding(_ name: String) -> TargetSettings {
            TargetSettings(name: "home", holder: StoreHolder(id: name, name: "'\(name)'"), batchSize: 7)
        }
        let first = try test.run(exporter(broker.port), holding("one"))
        try test.finish(first)
        let count = try listener.received().count
        let second = try test.run(exporter(broker.port), holding("two"))
        #expect(try second.step() == .stopped)
        #expect(second.target.words?.contains("from 'one', and this is 'two'") == true)
        #expect(try listener.received().count == count, "it shows nothing")
        var known = try #require(try test.store.targets.target("home"))
        (known.state, known.words) = (.delivering, nil)
        try test.store.targets.save(known)
        try test.add([try test.sample(61, at: 1)])
        try test.finish(first)
        #expect(try copied(listener) == test.contents())
    }
}
