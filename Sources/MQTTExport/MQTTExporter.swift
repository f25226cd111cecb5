import Formats
import FoundationEssentials
import Glibc
import HealthModel
import Pipeline

/// Publishes each change to a broker as a JSON line, and the current state to Home Assistant.
///
/// The broker acknowledges each line before the next batch. A line whose acknowledgement was lost is published again, and
/// listeners recognise it by its UUID. MQTT states have no time of their own, so they are made from the latest samples in the
/// store and never from a change. A reading back-dated by a month appears only as a line, and a deleted one in no state.
package final class MQTTExporter: Exporter {
    /// The maximum number of changes, about half a megabyte.
    package let batchLimit = 1000
    /// All kinds, as lines. Home Assistant shows quantities, whether the person is asleep, and the last workout.
    package let kinds = Set(SampleKind.allCases)
    private let settings: MQTTSettings
    private let context: ExportContext
    private let topics: MQTTTopics
    private let line: ChangeLine
    private var session: Session?
    /// The mark that identifies at the broker which store feeds it, as last found or written.
    private var mark: MQTTMessage?

    private struct Session {
        var connection: MQTTConnection
        /// Our retained messages at the broker, by topic.
        var publishedMessages: [String: [UInt8]]
        /// When the state was last published.
        var time: Instant?
        /// When a meter was first published, at zero.
        var begun: [String: Instant] = [:]
    }

    /// The time in microseconds that Home Assistant needs to create a sensor before a meter leaves zero.
    private static let beginning: Int64 = 3_000_000

    /// Creates an exporter without connecting.
    package init(_ settings: MQTTSettings, context: ExportContext) {
        (self.settings, self.context) = (settings, context)
        topics = MQTTTopics(settings, context)
        line = ChangeLine(me: context.me)
    }

    /// Connects, and checks whether the broker retains messages, accepts our topics and those of Home Assistant, and accepts messages of the
    /// size that the states need.
    package func check() throws(DeliveryError) -> [Finding] {
        var shown = try retainedMessages()
        let connection = try MQTTConnection(.init(settings: settings, id: id + "-check", will: nil, birth: birth))
        try connection.demandRetention()
        var findings = [Finding(.good, settings.url, "accepts the connection, with MQTT 5")]
        // An empty retained message removes nothing, because no program publishes there.
        try connection.publish([MQTTMessage(topic: "\(topics.marks)/_check", payload: [], isRetained: true)], carefully: false)
        if !settings.discovery.isEmpty {
            let topic = topics.discovery("check")
            do throws(DeliveryError) {
                try connection.publish([MQTTMessage(topic: topic, payload: [], isRetained: true)], carefully: false)
            } catch {
                throw DeliveryError(
                    error.kind,
                    error.reason + ": allow the account to publish below \(settings.discovery)/device/, or set 'discovery: \"\"'")
            }
        }
        let tooLarge = shown.fit(connection.packetLimit)
        if !tooLarge.isEmpty {
            findings.append(
                Finding(
                    .warning, settings.url,
                    "too large for the broker, which accepts \(connection.packetLimit ?? 0) bytes: \(tooLarge.joined(separator: ", "))"
                ))
        }
        if !settings.isEncrypted, !["localhost", "127.0.0.1", "::1"].contains(settings.host) {
            findings.append(Finding(.warning, settings.url, "readings are sent unencrypted: use mqtts://"))
        }
        if settings.user == nil {
            findings.append(Finding(.warning, settings.url, "anyone who can reach the broker can read the readings (key 'user')"))
        }
        return findings
    }

    /// Publishes a message for each change.
    package func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        var tooLarge: [Int] = []
        var isShown = true
        try connected { (session: inout Session) throws(DeliveryError) in
            var messages: [MQTTMessage] = []
            let limit = session.connection.packetLimit
            messages.reserveCapacity(batch.changes.count)
            for (index, change) in batch.changes.enumerated() {
                var bytes: [UInt8] = []
                let anchor = batch.anchors.isEmpty ? "" : batch.anchors[index]
                line.append(change, anchor: anchor, in: context.wantedQuantity, to: &bytes)
                let message = MQTTMessage(topic: topics.changes, payload: bytes.dropLast(), isRetained: false)
                if message.fits(limit) { messages.append(message) } else { tooLarge.append(index) }
            }
            if let known = batch.mark {
                let message = markMessage(known)
                messages.append(message)
                mark = message
            }
            try session.connection.publish(messages, carefully: session.time == nil)
            // A long backlog must not delay today's states.
            if let time = session.time, context.now().microseconds - time.microseconds < 1_000_000 { return }
            // The changes are acknowledged, so an error of the states is not theirs. ``idle()`` publishes the states again.
            do throws(DeliveryError) { try show(&session) } catch { isShown = false }
        }
        if !isShown { session = nil }
        if !tooLarge.isEmpty { throw DeliveryError(.refusedSome(tooLarge), "the message is too large for the broker") }
        return 0
    }

    /// Publishes the current state.
    ///
    /// - Returns: the time until the next reading is no longer recent.
    package func idle() throws(DeliveryError) -> Duration? {
        var next: Instant?
        try connected { (session: inout Session) throws(DeliveryError) in next = try show(&session) }
        return next.map { .microseconds(max(0, $0.microseconds - context.now().microseconds) + 1000) }
    }

    /// Publishes that we are offline, and disconnects.
    package func finish() throws(DeliveryError) {
        guard var session else { return }
        self.session = nil
        if session.connection.isConnected, !session.begun.isEmpty { try show(&session, isLast: true) }
        guard session.connection.isConnected else { return }
        session.connection.remember([:])
        try session.connection.publish(
            [MQTTMessage(topic: topics.availability, payload: RetainedMessages.offline, isRetained: true)], carefully: false)
        session.connection.close()
    }

    // MARK: Marks

    package var address: String { "\(settings.url)/\(settings.topic)" }

    /// Lines contain their units, and states are always made from current samples.
    package let showsOnlyNow = true

    private var markTopic: String { "\(topics.marks)/\(context.name)" }

    private func markMessage(_ mark: TargetMark) -> MQTTMessage {
        var mark = mark
        // The broker's address identifies it, and readers of the topic need not know it.
        mark.identity = ""
        return MQTTMessage(topic: markTopic, payload: mark.json, isRetained: true)
    }

    /// Returns the mark at the broker. It uses a separate connection so that two copies of the store do not replace each other's
    /// connection.
    package func found() throws(DeliveryError) -> FoundMark? {
        FoundMark(identity: address, mark: try readMark(looking()), mayForget: true)
    }

    private func looking() throws(DeliveryError) -> MQTTConnection {
        let options = MQTTConnection.Options(
            settings: settings, id: "\(id)-\(UUIDText.random().prefix(8))", will: nil, birth: nil)
        return try MQTTConnection(options)
    }

    private func readMark(_ connection: MQTTConnection) throws(DeliveryError) -> TargetMark? {
        let echo = MQTTMessage(
            topic: "\(topics.marks)/_\(UUIDText.random())", payload: RetainedMessages.online, isRetained: false)
        let found = try connection.retained(below: ["\(topics.marks)/+"], echo: echo)[markTopic]
        if let found { mark = MQTTMessage(topic: markTopic, payload: found, isRetained: true) }
        guard let found, var mark = TargetMark(json: found) else { return nil }
        mark.identity = address
        return mark
    }

    /// Writes this store's mark. If two copies of a store start at the same moment, the one whose mark is there a moment later
    /// wins.
    package func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        let connection = try looking()
        try connection.demandRetention()
        try connection.publish([markMessage(mark)], carefully: false)
        if !mark.holder.id.isEmpty { usleep(300_000) }
        guard try readMark(connection)?.holder.id == mark.holder.id else {
            throw DeliveryError(.unreachable, "another program began to send to this broker at the same time")
        }
        return true
    }

    // MARK: The connection

    private var id: String { "vitalgate-\(context.store.prefix(8))-\(context.name)" }
    private var birth: String? { settings.discovery.isEmpty ? nil : "\(settings.discovery)/status" }

    /// Runs `body` with a connection. The connection is dropped after an error.
    private func connected(_ body: (inout Session) throws(DeliveryError) -> Void) throws(DeliveryError) {
        var current: Session
        if let session, session.connection.isConnected { current = session } else { current = try opened() }
        session = nil
        try body(&current)
        session = current
    }

    private func opened() throws(DeliveryError) -> Session {
        // The old one ends first because the broker would disconnect one with the same name.
        session = nil
        let will = MQTTMessage(topic: topics.availability, payload: RetainedMessages.offline, isRetained: true)
        let connection = try MQTTConnection(.init(settings: settings, id: id, will: will, birth: birth))
        try connection.demandRetention()
        let echo = MQTTMessage(topic: topics.availability, payload: RetainedMessages.online, isRetained: true)
        let discovery = settings.discovery.isEmpty ? [] : ["\(settings.discovery)/device/+/config"]
        let found = try connection.retained(below: ["\(topics.root)/#"] + discovery, echo: echo)
        var publishedMessages = found.filter {
            ($0.key.hasPrefix("\(topics.root)/") && !$0.key.hasPrefix("\(topics.marks)/")) || topics.isOurs($0.key)
        }
        publishedMessages[echo.topic] = echo.payload
        return Session(connection: connection, publishedMessages: publishedMessages)
    }

    // MARK: How things are

    private func retainedMessages() throws(DeliveryError) -> RetainedMessages {
        let present: [PresentSample]
        do { present = try context.present() } catch { throw DeliveryError(.unreachable, "the store: \(error)") }
        return try RetainedMessages(present, settings, context)
    }

    /// Publishes the differences from the broker's state.
    ///
    /// - Parameter isLast: whether nothing is published after it.
    @discardableResult private func show(_ session: inout Session, isLast: Bool = false) throws(DeliveryError) -> Instant? {
        var shown = try retainedMessages()
        _ = shown.fit(session.connection.packetLimit)
        let (payloads, again) = begin(shown, &session, isLast)
        session.connection.remember(mark.map { payloads.merging([$0.topic: $0.payload]) { one, _ in one } } ?? payloads)
        var messages: [MQTTMessage] = []
        func publish(_ topic: String, _ payload: [UInt8]) {
            messages.append(MQTTMessage(topic: topic, payload: payload, isRetained: true))
        }
        // A device comes before its readings.
        let changed = payloads.filter { session.publishedMessages[$0.key] != $0.value }
        for (topic, payload) in changed.sorted(by: {
            topics.isOurs($0.key) == topics.isOurs($1.key) ? $0.key < $1.key : topics.isOurs($0.key)
        }) {
            if let device = shown.devices[topic], let before = session.publishedMessages[topic] {
                let removed = Self.components(before).subtracting(device.components.map(\.type.id))
                if !removed.isEmpty { publish(topic, device.payload(without: removed.sorted())) }
            }
            publish(topic, payload)
        }
        for topic in session.publishedMessages.keys.sorted() where payloads[topic] == nil { publish(topic, []) }
        try session.connection.publish(messages, carefully: session.time == nil)
        session.publishedMessages = payloads
        session.time = context.now()
        return [shown.nextChange, again].compactMap { $0 }.min()
    }

    /// Returns the current messages. A new meter is published at zero first and with its sum a moment later, because Home
    /// Assistant counts from the first value that it receives.
    private func begin(
        _ shown: RetainedMessages, _ session: inout Session, _ isLast: Bool
    ) -> (payloads: [String: [UInt8]], again: Instant?) {
        let now = context.now()
        var payloads = shown.payloads
        var again: Instant?
        for (topic, zero) in shown.zeros {
            if session.publishedMessages[topic] == nil { session.begun[topic] = now }
            guard let begun = session.begun[topic] else { continue }
            let end = Instant(microseconds: begun.microseconds &+ Self.beginning)
            guard !isLast, now < end else {
                session.begun[topic] = nil
                continue
            }
            payloads[topic] = zero
            again = min(again ?? end, end)
        }
        return (payloads, again)
    }

    private struct DiscoveryMessage: Decodable {
        struct Component: Decodable {}
        var components: [String: Component]
    }

    /// Returns the sensors in a device's discovery message.
    private static func components(_ payload: [UInt8]) -> Set<String> {
        let publishedMessages = try? JSONDecoder().decode(DiscoveryMessage.self, from: Data(payload))
        return Set(publishedMessages?.components.keys.map { $0 } ?? [])
    }
}
