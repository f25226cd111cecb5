import CMosquitto
import Glibc
import Pipeline

/// What libmosquitto's thread hears from a broker, and what it tells the broker by itself: what both threads need is behind one lock.
final class BrokerNews: @unchecked Sendable {
    /// Messages that a broker may have retained below what is ours; more are none of ours.
    private static let most = 20_000

    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let handle: OpaquePointer
    /// Where it is told that somebody has started who has to be told everything again, with `online`.
    private let birth: String?

    // Behind the lock.
    /// The broker's first answer; 0 where it has let us in.
    private(set) var answer: Int32?
    /// Why there is no connection any more.
    private(set) var broken: DeliveryError?
    /// Codes by message.
    var acknowledged: [Int32: Int32] = [:]
    /// Codes by subscription, and 0 by one that was ended.
    private(set) var subscribed: [Int32: Int32] = [:]
    /// What was found retained, by topic.
    var found: [String: [UInt8]] = [:]
    /// A topic on which we wait for a message of our own, and whether it has come.
    var echo = (topic: "", hasCome: false)
    /// What the broker is to retain of us, by topic.
    var retained: [String: [UInt8]] = [:]
    /// The library's last complaint, such as of a certificate.
    private(set) var complaint = ""

    /// - Parameter handle: it lives longer.
    init(_ handle: OpaquePointer, birth: String?) {
        (self.handle, self.birth) = (handle, birth)
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_v5_callback_set(handle) { _, context, code, _, _ in BrokerNews.of(context)?.heardAnswer(code) }
        mosquitto_disconnect_v5_callback_set(handle) { _, context, code, _ in BrokerNews.of(context)?.heardEnd(code) }
        mosquitto_publish_v5_callback_set(handle) { _, context, id, code, _ in
            BrokerNews.of(context)?.locked { $0.acknowledged[id] = code }
        }
        mosquitto_subscribe_v5_callback_set(handle) { _, context, id, count, codes, _ in
            BrokerNews.of(context)?.locked { $0.subscribed[id] = count > 0 ? codes?.pointee ?? 0 : 0 }
        }
        mosquitto_unsubscribe_v5_callback_set(handle) { _, context, id, _ in
            BrokerNews.of(context)?.locked { $0.subscribed[id] = 0 }
        }
        mosquitto_message_v5_callback_set(handle) { _, context, message, _ in
            if let message = message?.pointee { BrokerNews.of(context)?.heard(message) }
        }
        mosquitto_log_callback_set(handle) { _, context, level, text in
            guard level == MOSQ_LOG_ERR, let text else { return }
            let words = String(cString: text)
            BrokerNews.of(context)?.locked { $0.complaint = String(words.prefix(200)) }
        }
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    /// Does something behind the lock, and wakes who waits.
    func locked<Result>(_ body: (BrokerNews) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer {
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(lock)
        }
        return body(self)
    }

    /// Waits until something is so, looked at behind the lock.
    ///
    /// - Throws: ``DeliveryError`` where the connection breaks, or it takes too long.
    func wait(seconds: Int, for what: String, until isSo: (BrokerNews) -> Bool) throws(DeliveryError) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += seconds
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while !isSo(self) {
            if let broken { throw broken }
            guard pthread_cond_timedwait(changed, lock, &end) != ETIMEDOUT else {
                throw DeliveryError(.unreachable, "the broker did not \(what) within \(seconds) seconds")
            }
        }
    }

    // MARK: On libmosquitto's thread

    private static func of(_ context: UnsafeMutableRawPointer?) -> BrokerNews? {
        context.map { Unmanaged<BrokerNews>.fromOpaque($0).takeUnretainedValue() }
    }

    private func heardAnswer(_ code: Int32) {
        let again: [String: [UInt8]]? = locked { _ in
            let isFirst = answer == nil
            answer = code
            if code == 0 { broken = nil }
            return isFirst || code != 0 ? nil : retained
        }
        guard let again else { return }
        // A broker that was away may have forgotten what it had retained, and what we had subscribed to.
        if let birth { mosquitto_subscribe(handle, nil, birth, 1) }
        tell(again)
    }

    private func heardEnd(_ code: Int32) {
        locked { _ in
            // Who shows another certificate than it should is for a person.
            let isTLS = code == MOSQ_ERR_TLS.rawValue
            broken = DeliveryError(
                isTLS ? .unfit : .unreachable, isTLS && !complaint.isEmpty ? complaint : MQTTReason.text(code))
        }
    }

    private func heard(_ message: mosquitto_message) {
        let topic = String(cString: message.topic)
        let payload = [UInt8](UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen)))
        if topic == birth {
            guard payload == Array("online".utf8), !message.retain else { return }
            return tell(locked { _ in retained })
        }
        locked { _ in
            if message.retain, found.count < Self.most { found[topic] = payload }
            if topic == echo.topic, !message.retain { echo.hasCome = true }
        }
    }

    /// Tells what is retained once more, without waiting.
    private func tell(_ messages: [String: [UInt8]]) {
        for (topic, payload) in messages.sorted(by: { $0.key < $1.key }) {
            mosquitto_publish_v5(handle, nil, topic, Int32(payload.count), payload, 1, true, nil)
        }
    }

    /// An error of the library's, in its own words where it has complained.
    func error(_ code: Int32, _ kind: DeliveryError.Kind) -> DeliveryError {
        let said = locked { _ in complaint }
        return DeliveryError(kind, code == MOSQ_ERR_TLS.rawValue && !said.isEmpty ? said : MQTTReason.text(code))
    }
}
