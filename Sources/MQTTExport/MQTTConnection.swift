import CMosquitto
import Dispatch
import Glibc
import Pipeline

/// A connection to a broker in MQTT 5. Publishing waits until the broker has acknowledged.
///
/// libmosquitto runs its own thread for it. The thread keeps the connection alive, reconnects after a break while the connection
/// is idle, and then publishes the retained messages again.
final class MQTTConnection {
    /// The client's identity and options.
    struct Options {
        var settings: MQTTSettings
        var id: String
        /// The message that the broker publishes if we disappear unexpectedly. `nil` for a connection that only reads.
        var will: MQTTMessage?
        /// The topic on which `online` announces a restarted listener that needs everything again.
        var birth: String?
    }

    /// The maximum wait for an answer in seconds.
    private static let responseTimeout = 30
    /// The maximum number of unacknowledged messages. The broker may allow fewer.
    private static let window: Int32 = 1000
    /// The maximum number of bytes of a packet that the broker may send.
    private static let maximumPacketSize: UInt32 = 1 << 20
    private static let library: Void = { mosquitto_lib_init() }()

    private let options: Options
    private let handle: OpaquePointer
    private let events: BrokerEvents

    /// Connects, and waits until the broker has accepted the connection.
    init(_ options: Options) throws(DeliveryError) {
        _ = Self.library
        self.options = options
        guard let handle = mosquitto_new(options.id, options.will == nil, nil) else {
            throw DeliveryError(.unreachable, "no memory for a connection")
        }
        self.handle = handle
        events = BrokerEvents(handle, birth: options.birth)
        let connection = WeakConnection(connection: self)
        events.later = { seconds in
            // The connection outlives the call, and with it the library's handle.
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
                connection.connection?.events.resumeRepetition()
            }
        }
        try configure()
        try connect()
    }

    deinit {
        // After a regular disconnect this does nothing. Otherwise the broker publishes our will.
        mosquitto_disconnect_v5(handle, Int32(MQTT_RC_DISCONNECT_WITH_WILL_MSG.rawValue), nil)
        mosquitto_loop_stop(handle, false)
        mosquitto_destroy(handle)
    }

    // Only the events are used from another thread, and they have a lock.
    private struct WeakConnection: @unchecked Sendable { weak var connection: MQTTConnection? }

    // MARK: Beginning and end

    private func configure() throws(DeliveryError) {
        mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5)
        mosquitto_int_option(handle, MOSQ_OPT_SEND_MAXIMUM, Self.window)
        mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
        mosquitto_reconnect_delay_set(handle, 1, 60, true)
        let settings = options.settings
        if let user = settings.user {
            let password = try settings.password?.read()
            try demand(mosquitto_username_pw_set(handle, user, password), .unfit)
        }
        if settings.isEncrypted {
            if let authority = settings.certificateAuthority {
                guard access(authority, R_OK) == 0 else {
                    throw DeliveryError(.unfit, "\(authority): \(String(cString: strerror(errno)))")
                }
                try demand(mosquitto_tls_set(handle, authority, nil, nil, nil, nil), .unfit)
            } else {
                try demand(mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1), .unfit)
            }
        }
        if let will = options.will {
            let length = Int32(will.payload.count)
            try demand(mosquitto_will_set_v5(handle, will.topic, length, will.payload, 1, will.isRetained, nil), .unfit)
        }
    }

    private func connect() throws(DeliveryError) {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if options.will != nil {
            // The broker keeps our subscriptions during a short interruption.
            mosquitto_property_add_int32(&properties, Int32(MQTT_PROP_SESSION_EXPIRY_INTERVAL.rawValue), 3600)
        }
        // Nothing that we read from a broker is larger (MQTT 5, section 3.1.2.11.4).
        mosquitto_property_add_int32(&properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), Self.maximumPacketSize)
        let settings = options.settings
        let code = mosquitto_connect_bind_v5(handle, settings.host, Int32(settings.port), 60, nil, properties)
        try demand(code, code == MOSQ_ERR_TLS.rawValue ? .unfit : .unreachable)
        try demand(mosquitto_loop_start(handle), .unreachable)
        try wait("accept the connection") { $0.answer != nil || !$0.complaint.isEmpty }
        guard let answer = events.locked(\.answer) else { throw DeliveryError(.unfit, events.locked(\.complaint)) }
        if answer != 0 { throw MQTTReason.refusal(answer) }
        if let birth = options.birth { try subscribe(birth) }
    }

    /// Disconnects regularly, so that the will is not published.
    func close() { mosquitto_disconnect_v5(handle, 0, nil) }

    var isConnected: Bool { events.locked { $0.answer == 0 && $0.broken == nil } }

    /// The maximum size of a packet in bytes, or `nil` for no limit.
    var packetLimit: Int? { events.locked(\.packetLimit) }

    /// Whether the broker retains messages.
    var retains: Bool { events.locked(\.retains) }

    /// - Throws: ``DeliveryError`` of the kind `unfit` if the broker does not retain messages.
    func demandRetention() throws(DeliveryError) {
        guard retains else {
            throw DeliveryError(
                .unfit, "the broker does not retain messages: allow it there (Mosquitto: 'retain_available true')",
                isLasting: true)
        }
    }

    // MARK: Speaking

    /// Sets the messages that the broker has to retain, by topic. They are published again when the broker or a listener needs
    /// them.
    func remember(_ retained: [String: [UInt8]]) { events.locked { $0.retained = retained } }

    /// Publishes messages, and waits until all are acknowledged.
    ///
    /// - Parameter carefully: whether to publish the first message alone. Some brokers close the connection after a rejection,
    ///   which is lost if more messages are on the way.
    func publish(_ messages: [MQTTMessage], carefully: Bool) throws(DeliveryError) {
        guard carefully, messages.count > 1 else { return try publish(messages) }
        try publish([messages[0]])
        try publish(Array(messages.dropFirst()))
    }

    private func publish(_ messages: [MQTTMessage]) throws(DeliveryError) {
        guard !messages.isEmpty else { return }
        events.locked { $0.acknowledged.removeAll(keepingCapacity: true) }
        var ids: [Int32] = []
        ids.reserveCapacity(messages.count)
        func refusal(_ events: BrokerEvents) -> DeliveryError? {
            for (id, message) in zip(ids, messages) {
                if let code = events.acknowledged[id], code >= 0x80 { return MQTTReason.refusal(code, topic: message.topic) }
            }
            return nil
        }
        do throws(DeliveryError) {
            for message in messages { ids.append(try send(message)) }
            // Acknowledgements of other messages may be among them.
            try wait("acknowledge a message") { events in
                events.acknowledged.count >= ids.count && ids.allSatisfy { events.acknowledged[$0] != nil }
            }
        } catch {
            throw events.locked(refusal) ?? error
        }
        if let refusal = events.locked(refusal) { throw refusal }
    }

    private func send(_ message: MQTTMessage) throws(DeliveryError) -> Int32 {
        var id: Int32 = 0
        let length = Int32(message.payload.count)
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if let expiry = message.expiry {
            mosquitto_property_add_int32(&properties, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), expiry)
        }
        let code = mosquitto_publish_v5(handle, &id, message.topic, length, message.payload, 1, message.isRetained, properties)
        switch code {
        case MOSQ_ERR_SUCCESS.rawValue: return id
        case MOSQ_ERR_OVERSIZE_PACKET.rawValue, MOSQ_ERR_PAYLOAD_SIZE.rawValue:
            throw DeliveryError(.refused, "a message of \(length) bytes is too large for the broker")
        case MOSQ_ERR_QOS_NOT_SUPPORTED.rawValue, MOSQ_ERR_RETAIN_NOT_SUPPORTED.rawValue:
            throw DeliveryError(.unfit, "the broker does not acknowledge or retain messages")
        default: throw events.error(code, .unreachable)
        }
    }

    /// Returns the messages that the broker has retained below the topics.
    ///
    /// - Parameter echo: a message below one of them. The retained messages arrive before it comes back.
    func retained(below topics: [String], echo: MQTTMessage) throws(DeliveryError) -> [String: [UInt8]] {
        events.locked {
            $0.found.removeAll()
            $0.echo = (echo.topic, false)
        }
        for topic in topics { try subscribe(topic) }
        try publish([echo])
        try wait("send its retained messages") { $0.echo.hasCome }
        for topic in topics {
            var id: Int32 = 0
            try demand(mosquitto_unsubscribe(handle, &id, topic), .unreachable)
            try wait("end a subscription") { $0.subscribed[id] != nil }
        }
        return events.locked { events in
            defer { events.found.removeAll() }
            events.echo.topic = ""
            events.found[echo.topic] = nil
            return events.found
        }
    }

    /// - Throws: ``DeliveryError`` if the broker does not allow the subscription.
    private func subscribe(_ topic: String) throws(DeliveryError) {
        var id: Int32 = 0
        try demand(mosquitto_subscribe(handle, &id, topic, 1), .unreachable)
        try wait("take a subscription") { $0.subscribed[id] != nil }
        let code = events.locked { $0.subscribed[id] ?? 0 }
        if code >= 0x80 { throw DeliveryError(.unauthorised, "reading \(topic): \(MQTTReason.text(code))") }
    }

    private func wait(_ event: String, until isSo: (BrokerEvents) -> Bool) throws(DeliveryError) {
        try events.wait(seconds: Self.responseTimeout, for: event, until: isSo)
    }

    private func demand(_ code: Int32, _ kind: DeliveryError.Kind) throws(DeliveryError) {
        guard code != MOSQ_ERR_SUCCESS.rawValue else { return }
        throw events.error(code, kind)
    }
}
