import Formats
import FoundationEssentials
import Glibc
import HealthModel
import Pipeline

/// Tells a broker every change, as a line of JSON, and Home Assistant how things are now.
///
/// A line is acknowledged by the broker before the next batch; one whose acknowledgement was lost is told again, and who listens knows it by its
/// UUID. States carry no time of their own in MQTT, so they are never made of a change, but of what the store has last: a reading that is back-dated
/// by a month shows in the lines only, and a deleted one shows nowhere.
public final class MQTTExporter: Exporter {
    /// About half a megabyte.
    public let batchLimit = 1000
    /// As lines; Home Assistant is shown quantities, whether somebody is asleep, and the last workout.
    public let kinds = Set(SampleKind.allCases)
    private let settings: MQTTSettings
    private let context: ExportContext
    private let topics: MQTTTopics
    private let line: ChangeLine
    private var session: Session?
    /// What says at the broker who feeds it, as it was found or written last.
    private var mark: MQTTMessage?

    private struct Session {
        var connection: MQTTConnection
        /// What the broker has retained of us, by topic.
        var told: [String: [UInt8]]
        /// When it was last told how things are.
        var time: Instant?
        /// Meters that were told for the first time, at zero, and when.
        var begun: [String: Instant] = [:]
    }

    /// Microseconds that Home Assistant has to make a sensor of what it was told, before a meter leaves zero.
    private static let beginning: Int64 = 3_000_000

    /// Connects to nothing yet.
    public init(_ settings: MQTTSettings, context: ExportContext) {
        (self.settings, self.context) = (settings, context)
        topics = MQTTTopics(settings, context)
        line = ChangeLine(me: context.me)
    }

    /// Connects, and looks whether what Home Assistant says of itself can be heard.
    public func check() throws(DeliveryError) -> [Finding] {
        _ = try shown()
        _ = try MQTTConnection(.init(settings: settings, id: id + "-check", will: nil, birth: birth))
        var findings = [Finding(.good, settings.url, "lets us in, with MQTT 5")]
        if !settings.isEncrypted, !["localhost", "127.0.0.1", "::1"].contains(settings.host) {
            findings.append(Finding(.warning, settings.url, "readings go there in the open; mqtts:// hides them"))
        }
        if settings.user == nil {
            findings.append(Finding(.warning, settings.url, "whoever reaches it reads what is told there (key 'user')"))
        }
        return findings
    }

    /// A message for each change.
    public func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        try connected { (session: inout Session) throws(DeliveryError) in
            var messages: [MQTTMessage] = []
            messages.reserveCapacity(batch.changes.count)
            for (index, change) in batch.changes.enumerated() {
                var octets: [UInt8] = []
                let anchor = batch.anchors.isEmpty ? "" : batch.anchors[index]
                line.append(change, anchor: anchor, in: context.wantedQuantity, to: &octets)
                messages.append(MQTTMessage(topic: topics.changes, payload: octets.dropLast(), isRetained: false))
            }
            if let known = batch.mark {
                let message = markMessage(known)
                messages.append(message)
                mark = message
            }
            try session.connection.publish(messages, carefully: session.time == nil)
            // While years are told, today's states are not to wait for their end.
            if let time = session.time, context.now().microseconds - time.microseconds < 1_000_000 { return }
            try show(&session)
        }
        return 0
    }

    /// Tells how things are now.
    ///
    /// - Returns: when the next reading is no longer recent.
    public func idle() throws(DeliveryError) -> Duration? {
        var next: Instant?
        try connected { (session: inout Session) throws(DeliveryError) in next = try show(&session) }
        return next.map { .microseconds(max(0, $0.microseconds - context.now().microseconds) + 1000) }
    }

    /// Says that we are gone, and goes.
    public func finish() throws(DeliveryError) {
        guard var session else { return }
        self.session = nil
        if session.connection.isConnected, !session.begun.isEmpty { try show(&session, isLast: true) }
        guard session.connection.isConnected else { return }
        session.connection.remember([:])
        try session.connection.publish(
            [MQTTMessage(topic: topics.availability, payload: Shown.offline, isRetained: true)], carefully: false)
        session.connection.close()
    }

    // MARK: Marks

    public var address: String { "\(settings.url)/\(settings.topic)" }

    /// Lines name their units, and states are made anew.
    public let showsOnlyNow = true

    private struct MarkText: Codable {
        var count: Int64
        var anchor: String
        var holder: String
        var holderName: String
        /// Microseconds; none in marks of earlier versions.
        var told: Int64?
    }

    private var markTopic: String { "\(topics.marks)/\(context.name)" }

    private func markMessage(_ mark: TargetMark) -> MQTTMessage {
        var object = JSONObject()
        object.set("count", Int(mark.count))
        object.set("anchor", mark.anchor)
        object.set("holder", mark.holder.id)
        object.set("holderName", mark.holder.name)
        if let time = mark.time { object.set("told", Int(time.microseconds)) }
        return MQTTMessage(topic: markTopic, payload: object.closed, isRetained: true)
    }

    /// By a connection that shows nothing: where a copy of the store is at it, neither takes the other's place.
    public func found() throws(DeliveryError) -> FoundMark? {
        FoundMark(identity: address, mark: try readMark(looking()), mayForget: true)
    }

    private func looking() throws(DeliveryError) -> MQTTConnection {
        let options = MQTTConnection.Options(
            settings: settings, id: "\(id)-\(UUIDText.random().prefix(8))", will: nil, birth: nil)
        return try MQTTConnection(options)
    }

    private func readMark(_ connection: MQTTConnection) throws(DeliveryError) -> TargetMark? {
        let echo = MQTTMessage(topic: "\(topics.marks)/_\(UUIDText.random())", payload: Shown.online, isRetained: false)
        let found = try connection.retained(below: ["\(topics.marks)/+"], echo: echo)[markTopic]
        if let found { mark = MQTTMessage(topic: markTopic, payload: found, isRetained: true) }
        guard let found, let text = try? JSONDecoder().decode(MarkText.self, from: Data(found)) else { return nil }
        return TargetMark(
            identity: address, count: text.count, anchor: text.anchor,
            holder: StoreHolder(id: text.holder, name: text.holderName),
            time: text.told.map { Instant(microseconds: $0) })
    }

    /// Where two copies of a store begin in the same moment, the one whose claim is there a moment later has it.
    public func claim(_ mark: TargetMark) throws(DeliveryError) {
        let connection = try looking()
        try connection.publish([markMessage(mark)], carefully: false)
        if !mark.holder.id.isEmpty { usleep(300_000) }
        guard try readMark(connection)?.holder.id == mark.holder.id else {
            throw DeliveryError(.unreachable, "somebody else has begun to tell this broker at the same time")
        }
    }

    // MARK: The connection

    private var id: String { "vitalgate-\(context.store.prefix(8))-\(context.name)" }
    private var birth: String? { settings.discovery.isEmpty ? nil : "\(settings.discovery)/status" }

    /// Does something with a connection; one in which something failed is given up.
    private func connected(_ body: (inout Session) throws(DeliveryError) -> Void) throws(DeliveryError) {
        var current: Session
        if let session, session.connection.isConnected { current = session } else { current = try opened() }
        session = nil
        try body(&current)
        session = current
    }

    private func opened() throws(DeliveryError) -> Session {
        // The old one first: one of the same name would be thrown out by the broker.
        session = nil
        let will = MQTTMessage(topic: topics.availability, payload: Shown.offline, isRetained: true)
        let connection = try MQTTConnection(.init(settings: settings, id: id, will: will, birth: birth))
        let echo = MQTTMessage(topic: topics.availability, payload: Shown.online, isRetained: true)
        let discovery = settings.discovery.isEmpty ? [] : ["\(settings.discovery)/device/+/config"]
        let found = try connection.retained(below: ["\(topics.root)/#"] + discovery, echo: echo)
        var told = found.filter {
            ($0.key.hasPrefix("\(topics.root)/") && !$0.key.hasPrefix("\(topics.marks)/")) || topics.isOurs($0.key)
        }
        told[echo.topic] = echo.payload
        return Session(connection: connection, told: told)
    }

    // MARK: How things are

    private func shown() throws(DeliveryError) -> Shown {
        let present: [PresentSample]
        do { present = try context.present() } catch { throw DeliveryError(.unreachable, "the store: \(error)") }
        return try Shown(present, settings, context)
    }

    /// Tells what differs from what the broker has.
    ///
    /// - Parameter isLast: whether nothing is told after it.
    @discardableResult private func show(_ session: inout Session, isLast: Bool = false) throws(DeliveryError) -> Instant? {
        let shown = try shown()
        let (payloads, again) = begin(shown, &session, isLast)
        session.connection.remember(mark.map { payloads.merging([$0.topic: $0.payload]) { one, _ in one } } ?? payloads)
        var messages: [MQTTMessage] = []
        func tell(_ topic: String, _ payload: [UInt8]) {
            messages.append(MQTTMessage(topic: topic, payload: payload, isRetained: true))
        }
        // A device before what it measures.
        let changed = payloads.filter { session.told[$0.key] != $0.value }
        for (topic, payload) in changed.sorted(by: {
            topics.isOurs($0.key) == topics.isOurs($1.key) ? $0.key < $1.key : topics.isOurs($0.key)
        }) {
            if let device = shown.devices[topic], let before = session.told[topic] {
                let gone = Self.components(before).subtracting(device.components.map(\.type.id))
                if !gone.isEmpty { tell(topic, device.payload(without: gone.sorted())) }
            }
            tell(topic, payload)
        }
        for topic in session.told.keys.sorted() where payloads[topic] == nil { tell(topic, []) }
        try session.connection.publish(messages, carefully: session.time == nil)
        session.told = payloads
        session.time = context.now()
        return [shown.nextChange, again].compactMap { $0 }.min()
    }

    /// What is told now: a meter that nobody knows yet stands at zero first, and at what has added up a moment later. Home Assistant counts from the first
    /// value that it sees.
    private func begin(
        _ shown: Shown, _ session: inout Session, _ isLast: Bool
    ) -> (payloads: [String: [UInt8]], again: Instant?) {
        let now = context.now()
        var payloads = shown.payloads
        var again: Instant?
        for (topic, zero) in shown.zeros {
            if session.told[topic] == nil { session.begun[topic] = now }
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

    private struct Told: Decodable {
        struct Component: Decodable {}
        var components: [String: Component]
    }

    /// The sensors that a device's discovery names.
    private static func components(_ payload: [UInt8]) -> Set<String> {
        let told = try? JSONDecoder().decode(Told.self, from: Data(payload))
        return Set(told?.components.keys.map { $0 } ?? [])
    }
}
