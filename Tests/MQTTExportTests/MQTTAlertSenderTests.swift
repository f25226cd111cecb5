import ExportTesting
import FoundationEssentials
import Glibc
import Pipeline
import PipelineTesting
import Testing

@testable import MQTTExport

/// Alerts at Debian's Mosquitto, received by its own client.
@Suite struct MQTTAlertSenderTests {
    private static let store = "1a2b3c4d-0000-4000-8000-000000000000"
    private let root = "vitalgate/alerts/1a2b3c4d"
    private let device = "homeassistant/device/vitalgate-alerts_1a2b3c4d/config"

    private func sender(_ broker: Broker, discovery: String = "homeassistant") -> MQTTAlertSender {
        MQTTAlertSender(
            MQTTSettings(host: "127.0.0.1", port: Int(broker.port), discovery: discovery), name: "home", store: Self.store)
    }

    private func state(_ alert: Int64, _ state: String) -> AlertState {
        AlertState(alert: alert, title: "Heart Rate above 100 /min", json: Array("{\"state\":\"\(state)\"}".utf8))
    }

    private let began = AlertMessage(id: "1a2b3c4d-1", event: .began, json: Array(#"{"event":"began"}"#.utf8))

    private struct Device: Decodable {
        struct Component: Decodable {
            var platform: String
            var name: String?
            var deviceClass: String?
            var topic: String?
            var types: [String]?
            enum CodingKeys: String, CodingKey {
                case platform, name
                case deviceClass = "device_class"
                case topic = "state_topic"
                case types = "event_types"
            }
        }
        var components: [String: Component]
    }

    private func components(_ payload: String?) throws -> [String: Device.Component] {
        try JSONDecoder().decode(Device.self, from: Data(try #require(payload).utf8)).components
    }

    @Test func statesAndEventsArePublished() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        let sender = sender(broker)
        try sender.show([state(3, "OFF"), state(4, "OFF")])
        try sender.show([state(3, "ON"), state(4, "OFF")])
        try sender.send(began)
        var last = try listener.last()
        #expect(last["\(root)/3"] == #"{"state":"ON"}"# && last["\(root)/4"] == #"{"state":"OFF"}"#)
        #expect(last["\(root)/availability"] == "online" && last["\(root)/events"] == #"{"event":"began"}"#)
        var shown = try components(last[device])
        #expect(shown.keys.sorted() == ["alert3", "alert4", "event"])
        #expect(shown["alert3"]?.platform == "binary_sensor" && shown["alert3"]?.deviceClass == "problem")
        #expect(shown["alert3"]?.topic == "\(root)/3" && shown["alert3"]?.name == "Heart Rate above 100 /min")
        #expect(shown["event"]?.platform == "event" && shown["event"]?.types == AlertMessage.Event.allCases.map(\.rawValue))
        // A subscriber that comes later gets the last event.
        let later = try Listener(broker)
        #expect(try later.last()["\(root)/events"] == #"{"event":"began"}"# && later.last()["\(root)/3"] == #"{"state":"ON"}"#)
        // A removed alert disappears, also one that another process published.
        sender.finish()
        #expect(try listener.last()["\(root)/availability"] == "offline")
        let next = self.sender(broker)
        try next.show([state(4, "ON")])
        last = try listener.last()
        #expect(last["\(root)/3"] == nil && last["\(root)/4"] == #"{"state":"ON"}"#)
        shown = try components(last[device])
        #expect(shown.keys.sorted() == ["alert4", "event"])
        let reported = try listener.received().filter { $0.topic == device }.map { try components($0.payload) }
        #expect(reported.contains { $0["alert3"]?.platform == "binary_sensor" && $0["alert3"]?.topic == nil })
    }

    @Test func republishesStatesAfterReconnection() throws {
        let broker = try Broker()
        let sender = sender(broker, discovery: "")
        try sender.show([state(3, "ON")])
        broker.crash()
        #expect(throws: DeliveryError.self) { try sender.send(began) }
        try broker.start()
        let listener = try Listener(broker)
        try sender.send(began)
        let last = try listener.last()
        #expect(last["\(root)/3"] == #"{"state":"ON"}"# && last["\(root)/events"] == #"{"event":"began"}"#)
        #expect(!last.keys.contains { $0.hasPrefix("homeassistant/") })
    }

    /// scripts/check-home-assistant reads the recorded message with Home Assistant's own schemas.
    @Test func theDeviceIsRecorded() throws {
        let sender = MQTTAlertSender(MQTTSettings(), name: "home", store: Self.store)
        let payload = sender.config([state(3, "ON"), state(4, "OFF")]) + [0x0A]
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots/discovery-alerts.json")
        if getenv("VITALGATE_RECORD") != nil { try Data(payload).write(to: file) }
        #expect(try Data(contentsOf: file) == Data(payload))
    }

    /// A test of the delivery neither ends the hub's connection nor shows an alert as met.
    @Test func aTestIsOnlyAnEvent() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        let sender = sender(broker)
        try sender.show([state(3, "OFF")])
        let test = AlertMessage(id: "1a2b3c4d-test", event: .test, json: Array(#"{"event":"test"}"#.utf8))
        try self.sender(broker).send(test)
        let last = try listener.last()
        #expect(last["\(root)/events"] == #"{"event":"test"}"# && last["\(root)/3"] == #"{"state":"OFF"}"#)
        #expect(last["\(root)/availability"] == "online")
        try sender.send(began)
        #expect(try listener.received().filter { $0.topic == "\(root)/availability" }.map(\.payload).contains("offline") == false)
    }
}
