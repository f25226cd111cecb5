import CMosquitto
import Glibc
import Pipeline

/// The state that libmosquitto's thread receives from a broker, and the messages that it repeats by itself. A lock protects the
/// data that both threads use.
final class BrokerEvents: @unchecked Sendable {
    /// The maximum number of retained messages read below our topics. The rest are ignored.
    private static let maximum = 20_000
    /// The maximum number of bytes of these messages together, topics included.
    private static let maximumBytes = 8 << 20

    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let handle: OpaquePointer
    /// The topic on which `online` announces a restarted listener that needs everything again.
    private let birth: String?

    // Protected by the lock.
    /// The broker's first answer. 0 means that the connection was accepted.
    private(set) var answer: Int32?
    /// The maximum size of a packet in bytes that the broker accepts, or `nil` for no limit (MQTT 5, section 3.2.2.3.6).
    private(set) var packetLimit: Int?
    /// Whether the broker retains messages (section 3.2.2.3.5).
    private(set) var retains = true
    /// The reason why the connection has ended.
    private(set) var broken: DeliveryError?
    /// Result codes by message.
    var acknowledged: [Int32: Int32] = [:]
    /// Result codes by subscription, and 0 for one that was ended.
    private(set) var subscribed: [Int32: Int32] = [:]
    /// The retained messages found, by topic.
    var found: [String: [UInt8]] = [:] {
        didSet { if found.isEmpty { foundBytes = 0 } }
    }
    private var foundBytes = 0
    /// A topic on which we wait for our own message, and whether it has arrived.
    var echo = (topic: "", hasCome: false)
    /// Our messages that the broker has to retain, by topic.
    var retained: [String: [UInt8]] = [:]
    /// Decides when the retained messages are published again.
    private var repetition = Repetition()
    /// Calls back after a time in seconds, unless the connection has ended by then.
    var later: @Sendable (_ seconds: Int) -> Void = { _ in }
    /// The library's last complaint, such as about a certificate.
    private(set) var complaint = ""

    /// - Parameter handle: must outlive this object.
    init(_ handle: OpaquePointer, birth: String?) {
        (self.handle, self.birth) = (handle, birth)
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_v5_callback_set(handle) { _, context, code, _, properties in
            BrokerEvents.of(context)?.didReceiveLimits(properties)
            BrokerEvents.of(context)?.didReceiveConnectResult(code)
        }
        mosquitto_disconnect_v5_callback_set(handle) { _, context, code, _ in BrokerEvents.of(context)?.didDisconnect(code) }
        mosquitto_publish_v5_callback_set(handle) { _, context, id, code, _ in
            BrokerEvents.of(context)?.locked {
                $0.acknowledged[id] = code
                $0.repetition.acknowledge(id)
            }
        }
        mosquitto_subscribe_v5_callback_set(handle) { _, context, id, count, codes, _ in
            BrokerEvents.of(context)?.locked { $0.subscribed[id] = count > 0 ? codes?.pointee ?? 0 : 0 }
        }
        mosquitto_unsubscribe_v5_callback_set(handle) { _, context, id, _ in
            BrokerEvents.of(context)?.locked { $0.subscribed[id] = 0 }
        }
        mosquitto_message_v5_callback_set(handle) { _, context, message, _ in
            if let message = message?.pointee { BrokerEvents.of(context)?.didReceive(message) }
        }
        mosquitto_log_callback_set(handle) { _, context, level, text in
            guard level == MOSQ_LOG_ERR, let text else { return }
            let words = String(cString: text)
            BrokerEvents.of(context)?.locked { $0.complaint = String(words.prefix(200)) }
        }
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    /// Runs `body` with the lock held, and wakes the waiting threads.
    func locked<Result>(_ body: (BrokerEvents) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer {
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(lock)
        }
        return body(self)
    }

    /// Waits until a condition is true, which is checked with the lock held.
    ///
    /// - Throws: ``DeliveryError`` if the connection breaks or the time is over.
    func wait(seconds: Int, for event: String, until isSo: (BrokerEvents) -> Bool) throws(DeliveryError) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += seconds
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while !isSo(self) {
            if let broken { throw broken }
            guard pthread_cond_timedwait(changed, lock, &end) != ETIMEDOUT else {
                throw DeliveryError(.unreachable, "the broker did not \(event) within \(seconds) seconds")
            }
        }
    }

    // MARK: On libmosquitto's thread

    private static func of(_ context: UnsafeMutableRawPointer?) -> BrokerEvents? {
        context.map { Unmanaged<BrokerEvents>.fromOpaque($0).takeUnretainedValue() }
    }

    private func didReceiveLimits(_ properties: OpaquePointer?) {
        var (limit, retains): (UInt32, UInt8) = (0, 1)
        let hasLimit =
            mosquitto_property_read_int32(properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), &limit, false) != nil
        let hasRetain =
            mosquitto_property_read_byte(properties, Int32(MQTT_PROP_RETAIN_AVAILABLE.rawValue), &retains, false) != nil
        locked { _ in
            packetLimit = hasLimit ? Int(limit) : nil
            self.retains = !hasRetain || retains == 1
        }
    }

    private func didReceiveConnectResult(_ code: Int32) {
        let isAgain = locked { _ in
            let isFirst = answer == nil
            answer = code
            if code == 0 { broken = nil }
            return !isFirst && code == 0
        }
        guard isAgain else { return }
        // A broker that was away may have lost our retained messages and subscriptions.
        if let birth { mosquitto_subscribe(handle, nil, birth, 1) }
        requestRepetition()
    }

    private func didDisconnect(_ code: Int32) {
        locked { _ in
            // An unexpected certificate needs the user.
            let isTLS = code == MOSQ_ERR_TLS.rawValue
            broken = DeliveryError(
                isTLS ? .unfit : .unreachable, isTLS && !complaint.isEmpty ? complaint : MQTTReason.text(code))
        }
    }

    private func didReceive(_ message: mosquitto_message) {
        let topic = String(cString: message.topic)
        let payload = [UInt8](UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen)))
        if topic == birth {
            guard payload == Array("online".utf8), !message.retain else { return }
            return requestRepetition()
        }
        locked { _ in
            let size = topic.utf8.count + payload.count
            if message.retain, found.count < Self.maximum, size <= Self.maximumBytes - foundBytes {
                found[topic] = payload
                foundBytes += size
            }
            if topic == echo.topic, !message.retain { echo.hasCome = true }
        }
    }

    // MARK: Repetition

    /// Publishes the retained messages again, now or later.
    private func requestRepetition() {
        let step = locked { $0.repetition.request(at: .now) }
        perform(step)
    }

    /// Continues after the time that was requested with `later`.
    func resumeRepetition() {
        let step = locked { $0.repetition.resume(at: .now) }
        perform(step)
    }

    private func perform(_ step: Repetition.Step) {
        switch step {
        case .none: return
        case .wait: later(Repetition.interval)
        case .publish: publishRetained()
        }
    }

    /// Publishes the retained messages without waiting.
    private func publishRetained() {
        var ids: Set<Int32> = []
        let (retained, limit) = locked { ($0.retained, packetLimit) }
        for (topic, payload) in retained.sorted(by: { $0.key < $1.key })
        where MQTTMessage(topic: topic, payload: payload, isRetained: true).fits(limit) {
            var id: Int32 = 0
            let code = mosquitto_publish_v5(handle, &id, topic, Int32(payload.count), payload, 1, true, nil)
            if code == MOSQ_ERR_SUCCESS.rawValue { ids.insert(id) }
        }
        locked { $0.repetition.hasPublished(ids) }
    }

    /// Returns an error of the library, with its own complaint if there is one.
    func error(_ code: Int32, _ kind: DeliveryError.Kind) -> DeliveryError {
        let message = locked { _ in complaint }
        return DeliveryError(kind, code == MOSQ_ERR_TLS.rawValue && !message.isEmpty ? message : MQTTReason.text(code))
    }
}
