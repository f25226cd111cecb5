import Formats
import FoundationEssentials
import Pipeline

/// Publishes each message about an alert, and the current states of all alerts as retained messages with Home Assistant's discovery.
///
///     vitalgate/alerts/1a2b3c4d/events              {"event":"began","alert":3,…}, retained for an hour
///     vitalgate/alerts/1a2b3c4d/3                   {"state":"ON","alert":3,…}
///     vitalgate/alerts/1a2b3c4d/availability        online, or offline
///     homeassistant/device/vitalgate-alerts_1a2b3c4d/config    a device with a binary sensor for each alert
///
/// The topics are not below those of the target that sends readings, which removes other messages there.
package final class MQTTAlertSender: AlertSender {
    private let settings: MQTTSettings
    private let name: String
    private let store: String
    private var session: (connection: MQTTConnection, published: [String: [UInt8]])?
    private var states: [AlertState] = []

    private static let (online, offline) = (RetainedMessages.online, RetainedMessages.offline)

    /// Creates a sender without connecting.
    ///
    /// - Parameters:
    ///   - name: The receiver's name in the configuration.
    ///   - store: The store's identifier.
    package init(_ settings: MQTTSettings, name: String, store: String) {
        (self.settings, self.name) = (settings, name)
        self.store = String(store.filter { $0 != "-" }.prefix(8))
    }

    private var id: String { "vitalgate-\(store)-alerts-\(name)" }
    private var root: String { "\(settings.topic)/alerts/\(store)" }
    private var availability: String { "\(root)/availability" }
    private var events: String { "\(root)/events" }
    /// How long the broker retains an event in seconds, for subscribers that connect a moment later. Home Assistant ignores retained events.
    private static let expiry: UInt32 = 3600
    private var device: String { "\(settings.topic)-alerts_\(store)" }
    private var discovery: String? { settings.discovery.isEmpty ? nil : "\(settings.discovery)/device/\(device)/config" }

    /// Publishes a message. A test uses its own connection, because the broker would end another one with the same name.
    package func send(_ message: AlertMessage) throws(DeliveryError) {
        var published = MQTTMessage(topic: events, payload: message.json, isRetained: true, expiry: Self.expiry)
        if message.event == .test { (published.isRetained, published.expiry) = (false, nil) }
        guard message.event != .test else {
            let options = MQTTConnection.Options(settings: settings, id: "\(id)-test", will: nil, birth: nil)
            let connection = try MQTTConnection(options)
            try connection.publish([published], carefully: false)
            return connection.close()
        }
        try connected { (connection, _) throws(DeliveryError) in try connection.publish([published], carefully: true) }
    }

    /// Publishes the differences from the broker's state, and removes alerts that no longer exist.
    package func show(_ states: [AlertState]) throws(DeliveryError) {
        self.states = states
        try connected { (connection, published) throws(DeliveryError) in try publish(connection, &published) }
    }

    private func publish(_ connection: MQTTConnection, _ published: inout [String: [UInt8]]) throws(DeliveryError) {
        let payloads = self.payloads
        connection.remember(payloads)
        var messages: [MQTTMessage] = []
        // A device comes before its states.
        let topics = (discovery.map { [$0] } ?? []) + payloads.keys.filter { $0 != discovery }.sorted()
        for topic in topics {
            guard let payload = payloads[topic], published[topic] != payload else { continue }
            if topic == discovery, let before = published[topic] {
                let removed = Self.components(before).subtracting(states.map(Self.component) + [Self.last]).sorted()
                if !removed.isEmpty {
                    messages.append(MQTTMessage(topic: topic, payload: config(states, without: removed), isRetained: true))
                }
            }
            messages.append(MQTTMessage(topic: topic, payload: payload, isRetained: true))
        }
        for topic in published.keys.sorted() where payloads[topic] == nil && topic != events {
            messages.append(MQTTMessage(topic: topic, payload: [], isRetained: true))
        }
        try connection.publish(messages, carefully: true)
        published = payloads
    }

    /// Publishes that we are offline, and disconnects.
    package func finish() {
        guard let session else { return }
        self.session = nil
        guard session.connection.isConnected else { return }
        session.connection.remember([:])
        let message = MQTTMessage(topic: availability, payload: Self.offline, isRetained: true)
        try? session.connection.publish([message], carefully: false)
        session.connection.close()
    }

    // MARK: The connection

    /// Runs `body` with a connection. The connection is dropped after an error.
    private func connected(
        _ body: (MQTTConnection, inout [String: [UInt8]]) throws(DeliveryError) -> Void
    ) throws(DeliveryError) {
        var current: (connection: MQTTConnection, published: [String: [UInt8]])
        if let session, session.connection.isConnected {
            current = session
        } else {
            current = try opened()
            try publish(current.connection, &current.published)
        }
        session = nil
        try body(current.connection, &current.published)
        session = current
    }

    private func opened() throws(DeliveryError) -> (connection: MQTTConnection, published: [String: [UInt8]]) {
        session = nil
        let will = MQTTMessage(topic: availability, payload: Self.offline, isRetained: true)
        let birth = settings.discovery.isEmpty ? nil : "\(settings.discovery)/status"
        let connection = try MQTTConnection(.init(settings: settings, id: id, will: will, birth: birth))
        let echo = MQTTMessage(topic: availability, payload: Self.online, isRetained: true)
        var published = try connection.retained(below: ["\(root)/#"] + (discovery.map { [$0] } ?? []), echo: echo)
        published[echo.topic] = echo.payload
        return (connection, published)
    }

    // MARK: What is retained

    private static let last = "event"
    private static func component(_ state: AlertState) -> String { "alert\(state.alert)" }

    private var payloads: [String: [UInt8]] {
        var payloads = [availability: Self.online]
        for state in states { payloads["\(root)/\(state.alert)"] = state.json }
        if let discovery { payloads[discovery] = config(states) }
        return payloads
    }

    /// Home Assistant's device discovery message.
    ///
    /// - Parameter removed: Alerts that no longer exist. An entry with only its platform removes the entity.
    func config(_ states: [AlertState], without removed: [String] = []) -> [UInt8] {
        var device = JSONObject()
        device.set("identifiers", [self.device])
        device.set("name", "Vitalgate alerts")
        let origin = JSONObject(["name": "Vitalgate"])
        var list = JSONObject([Self.last: event])
        for state in states { list.set(Self.component(state), sensor(state)) }
        for name in removed {
            let component = JSONObject(["platform": "binary_sensor"])
            list.set(name, component)
        }
        return JSONObject(["device": device, "origin": origin, "components": list, "qos": 1]).closed
    }

    /// An entity that is available while we are connected.
    private func entity(_ platform: String) -> JSONObject {
        let topic = JSONObject(["topic": availability])
        return ["platform": platform, "availability": [topic]]
    }

    private var event: JSONObject {
        var object = entity("event")
        object.set("unique_id", "\(device)_\(Self.last)")
        object.set("name", "Last alert")
        object.set("event_types", AlertMessage.Event.allCases.map(\.rawValue))
        object.set("state_topic", events)
        object.set("value_template", "{{ {'event_type': value_json.event, 'text': value_json.text} | tojson }}")
        return object
    }

    private func sensor(_ state: AlertState) -> JSONObject {
        var object = entity("binary_sensor")
        object.set([
            "unique_id": "\(device)_\(state.alert)", "name": state.title, "device_class": "problem",
            "state_topic": "\(root)/\(state.alert)", "value_template": "{{ value_json.state }}",
            "json_attributes_topic": "\(root)/\(state.alert)",
        ])
        return object
    }

    private struct AlertDiscovery: Decodable {
        struct Component: Decodable {}
        var components: [String: Component]
    }

    private static func components(_ payload: [UInt8]) -> Set<String> {
        let published = try? JSONDecoder().decode(AlertDiscovery.self, from: Data(payload))
        return Set(published?.components.keys.map { $0 } ?? [])
    }
}
