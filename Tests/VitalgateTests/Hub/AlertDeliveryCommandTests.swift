import ExportTesting
import FoundationEssentials
import Glibc
import HealthModel
import SampleStore
import Synchronization
import Testing

/// Alerts reach a real HTTP receiver, Mosquitto and a command from a running hub, and after kills.
@Suite struct AlertDeliveryCommandTests {
    private let folder: TestFolder
    private let receiver = Receiver()
    private let stub: HTTPStub
    /// Readings are after the alert and within a day of the clock.
    private let start = Int64(time(nil)) + 10

    /// The messages that arrived at a webhook, which can be away.
    private final class Receiver: Sendable {
        private let state = Mutex((bodies: [String](), status: 200))
        var bodies: [String] { state.withLock { $0.bodies } }
        func set(_ status: Int) { state.withLock { $0.status = status } }
        func answer(_ request: HTTPStub.Request) -> HTTPStub.Answer {
            state.withLock {
                if $0.status == 200 { $0.bodies.append(String(decoding: request.body, as: UTF8.self)) }
                return HTTPStub.Answer($0.status)
            }
        }
    }

    init() throws {
        folder = try TestFolder()
        stub = HTTPStub { [receiver] in receiver.answer($0) }
    }

    private func configure(_ more: String = "", api: String = "") throws {
        try folder.write("config.json5", "{ \(api) alerts: { phone: { kind: 'webhook', url: '\(stub.url)/a' }, \(more) } }\n")
    }

    private func addAlert() throws {
        let run = try folder.vitalgate("alerts", "add", "heartRate", "above", "100", "--hold", "0")
        try #require(run.status == 0, "\(run.errors)")
    }

    @Test(arguments: [("100", "100"), ("36.5", "36.5"), ("9223372036854775808", "9.223372036854776e+18")])
    func listsAnyLimit(limit: String, shown: String) throws {
        let added = try folder.vitalgate("alerts", "add", "heartRate", "below", limit)
        #expect(added.status == 0, "\(added)")
        let listed = try folder.vitalgate("alerts", "list")
        #expect(listed.status == 0 && listed.output.contains(" \(shown) "), "\(listed)")
    }

    private func add(_ value: Int, at second: Int) throws {
        let line = "\(Instant(seconds: start + Int64(second))),heartRate,\(value),/min"
        let run = try folder.vitalgate("import", folder.write("\(second).csv", "time,type,value,unit\n\(line)\n"))
        try #require(run.status == 0, "\(run.errors)")
    }

    private func events(_ lines: [String]) throws -> [String] { try lines.compactMap { try JSON($0)["event"].text } }

    private func eventually(_ description: String, _ isSo: () throws -> Bool) throws {
        for _ in 0..<60_000 {
            if try isSo() { return }
            usleep(5000)
        }
        throw POSIXFailure(description, ETIMEDOUT)
    }

    private func received() -> [String] { folder.text("heard").split(separator: "\n").map(String.init) }

    @Test func aHubDeliversToEachReceiver() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        try configure(
            "lamp: { kind: 'command', command: ['/bin/sh', '-c', 'tee -a \"$0\"', '\(folder.path("heard"))'] }, "
                + "home: { kind: 'mqtt', url: 'mqtt://127.0.0.1:\(broker.port)' }")
        let hub = try RunningHub.started(folder)
        try addAlert()
        try add(117, at: 0)
        try hub.waits("began") { try events(receiver.bodies) == ["began"] && events(received()) == ["began"] }
        try hub.waits("MQTT") { try events(published(listener)) == ["began"] }
        try add(83, at: 1)
        try hub.waits("ended") { try events(receiver.bodies) == ["began", "ended"] && events(received()) == ["began", "ended"] }
        #expect(receiver.bodies == received())
        let message = try JSON(receiver.bodies[0])
        #expect(message["value"].integer == 117 && message["limit"].integer == 100 && message["type"].text == "heartRate")
        try hub.waits("MQTT") { try events(published(listener)) == ["began", "ended"] }
        #expect(try published(listener) == receiver.bodies)
        let states = try listener.received().filter { $0.topic.hasPrefix("vitalgate/alerts/") && $0.topic.hasSuffix("/1") }
        // If the reading comes soon after the alert, the first state is on.
        #expect(try states.map { try JSON($0.payload)["state"].text }.suffix(2) == ["ON", "OFF"])
        let run = try hub.stop()
        #expect(run.status == 0 && !run.errors.contains("117") && !run.errors.contains("83"), "\(run.errors)")
        #expect(
            try listener.last().first { $0.key.hasPrefix("vitalgate/alerts/") && $0.key.hasSuffix("/availability") }?.value
                == "offline")
    }

    /// A message is in the language of the configuration's locale, or in English.
    @Test(arguments: [
        ("de-AT", "Dies ist ein Test"), ("en-US", "This is a test"), ("fr-FR", "This is a test"), ("DE", "This is a test"),
    ])
    func aMessageIsInTheUsersLanguage(_ locale: String, _ text: String) throws {
        let receiver = "phone: { kind: 'webhook', url: '\(stub.url)/a' }"
        try folder.write("config.json5", "{ locale: '\(locale)', alerts: { \(receiver) } }\n")
        try addAlert()
        let run = try folder.vitalgate("alerts", "test", "phone")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try JSON(try #require(self.receiver.bodies.first))["text"].text?.hasPrefix(text) == true)
    }

    private func published(_ listener: Listener) throws -> [String] {
        try listener.received().filter { $0.topic.hasPrefix("vitalgate/alerts/") && $0.topic.hasSuffix("/events") }.map(\.payload)
    }

    /// The page's service, the hub's process and another one are on one store.
    @Test func severalProcessesDeliverOnce() throws {
        try configure(api: "api: { listen: '127.0.0.1:\(FreePort.find())' },")
        let hub = try RunningHub.started(folder)
        let other = try folder.start("alerts", "watch")
        let service = try folder.start("alerts", "watch")
        try addAlert()
        for round in 0..<4 {
            try add(120, at: 2 * round)
            try hub.waits("began \(round)") { receiver.bodies.count >= 2 * round + 1 }
            try add(80, at: 2 * round + 1)
            try hub.waits("ended \(round)") { receiver.bodies.count >= 2 * round + 2 }
        }
        for program in [other, service] {
            program.signal(SIGTERM)
            #expect(try program.wait().status == 0)
        }
        try hub.stop()
        #expect(try events(receiver.bodies) == (0..<4).flatMap { _ in ["began", "ended"] })
        #expect(try Set(receiver.bodies.map { try JSON($0)["id"].text }).count == 8)
    }

    /// Killed again and again between the check, the delivery and its record.
    @Test func killsLoseNoEvent() throws {
        try configure()
        try add(60, at: -20)
        try addAlert()
        for round in 0..<20 {
            let process = try folder.start("alerts", "watch")
            // The receiver is away in each third round, so that the kill comes between the check and the delivery.
            receiver.set(round % 3 == 2 ? 500 : 200)
            try add(round % 2 == 0 ? 120 : 80, at: round)
            usleep(UInt32(400_000 + round * 20_000))
            process.signal(SIGKILL)
            _ = try process.wait()
        }
        receiver.set(200)
        let process = try folder.start("alerts", "watch")
        let waiting = { try JSON(folder.vitalgate("alerts", "receivers", "--format", "ndjson").last)["waiting"].integer }
        try eventually("the rest") {
            try events(receiver.bodies).last == "ended" && waiting() == 0
                && JSON(folder.vitalgate("alerts", "list", "--format", "ndjson").last)["raised"] == .null
        }
        process.signal(SIGTERM)
        #expect(try process.wait().status == 0)
        var numbers: [Int] = []
        for body in receiver.bodies {
            let id = try #require(try JSON(body)["id"].text)
            numbers.append(try #require(Int(id.split(separator: "-").last ?? "")))
        }
        // Every event arrived, in order. One whose acknowledgement was not recorded may arrive again.
        #expect(Set(numbers) == Set(1...(numbers.max() ?? 0)), "\(numbers)")
        #expect(numbers == numbers.sorted(), "\(numbers)")
    }

    /// An alert about one adopted sensor, in all its commands.
    @Test func aSilentDeviceIsNamed() throws {
        #expect(try folder.vitalgate("alerts", "add", "bodyTemperature", "missing", "24", "--device", "bedroom").status != 0)
        let store = try SampleStore(path: folder.store, access: .write)
        try store.devices.save(
            AdoptedDevice(
                address: "bluetooth:C0:01:02:03:04:02", key: "k", profiles: ["sig-health-thermometer"], name: "bedroom",
                person: store.owner, adopted: 0))
        let above = try folder.vitalgate("alerts", "add", "bodyTemperature", "above", "38", "--device", "bedroom")
        #expect(above.status == 64 && above.errors.contains("missing, not above or below"))
        let run = try folder.vitalgate("alerts", "add", "bodyTemperature", "missing", "0.0001", "--device", "bedroom")
        #expect(run.status == 0, "\(run.errors)")
        let listed = try JSON(folder.vitalgate("alerts", "list", "--format", "ndjson").last)
        #expect(listed["device"].text == "bedroom" && listed["address"].text == "bluetooth:C0:01:02:03:04:02")
        #expect(try store.alerts.check(at: Instant(seconds: Int64(time(nil)) + 60)).events.count == 1)
        #expect(
            try folder.vitalgate("doctor").output.contains("device bedroom: no reading of bodyTemperature for 0.0001 h (alert 1)")
        )
        #expect(try folder.vitalgate("alerts", "history").output.contains("bedroom"))
        #expect(try JSON(folder.vitalgate("alerts", "history", "--format", "ndjson").last)["device"].text == "bedroom")
    }

    @Test func theHubWatchesOnceThereIsAnAlert() throws {
        let hub = try RunningHub.started(folder)
        func isWatching() -> Bool {
            let children = "/proc/\(hub.program.process)/task/\(hub.program.process)/children"
            let text = (try? String(decoding: Data(contentsOf: URL(filePath: children)), as: UTF8.self)) ?? ""
            return text.split(separator: " ").contains { child in
                let line = (try? Data(contentsOf: URL(filePath: "/proc/\(child)/cmdline"))) ?? Data()
                return String(decoding: line, as: UTF8.self).contains("alerts\0watch")
            }
        }
        try add(90, at: 0)
        usleep(500_000)
        #expect(!isWatching())
        try addAlert()
        try hub.waits("the process") { isWatching() }
        try add(120, at: 1)
        try hub.waits("it is checked") {
            try JSON(folder.vitalgate("alerts", "list", "--format", "ndjson").last)["raised"].text != nil
        }
        try hub.stop()
    }

    @Test func aFailingDeliveryIsShown() throws {
        try configure()
        try add(60, at: 0)
        try addAlert()
        #expect(try folder.vitalgate("alerts", "receivers").output.contains("new"))
        receiver.set(500)
        let process = try folder.start("alerts", "watch")
        try add(120, at: 1)
        let report = { try JSON(folder.vitalgate("alerts", "receivers", "--format", "ndjson").last) }
        try eventually("the failure") { try report()["state"].text == "waiting" }
        #expect(try report()["said"].text == "HTTP 500" && report()["waiting"].integer == 1)
        let doctor = try folder.vitalgate("doctor")
        #expect(doctor.output.contains("alerts phone: cannot be delivered since ") && doctor.output.contains("HTTP 500"))
        #expect(doctor.output.contains("vitalgate alerts test phone"))
        #expect(try folder.vitalgate("status").errors.contains("alerts phone: cannot be delivered: HTTP 500"))
        receiver.set(200)
        try eventually("it works again") { try report()["state"].text == "delivering" }
        process.signal(SIGTERM)
        let run = try process.wait()
        #expect(run.errors.contains("alerts phone: delivery will be retried, nothing is lost: HTTP 500"))
        #expect(run.errors.contains("alerts phone: delivery resumed"))
        #expect(try !folder.vitalgate("status").errors.contains("alerts phone"))
    }

    @Test func aTestArrivesMarked() throws {
        try configure()
        try add(60, at: 0)
        var run = try folder.vitalgate("alerts", "test", "phone")
        #expect(run.status == 0 && run.errors.contains("phone: the test was delivered"))
        #expect(try events(receiver.bodies) == ["test"])
        #expect(try JSON(receiver.bodies[0])["text"].text?.contains("test") == true)
        receiver.set(500)
        run = try folder.vitalgate("alerts", "test", "phone")
        #expect(run.status == 69 && run.errors.contains("phone: the test was not delivered: HTTP 500"))
        run = try folder.vitalgate("alerts", "test", "other")
        #expect(run.status == 64 && run.errors.contains("one of phone"), "\(run.errors)")
    }
}
