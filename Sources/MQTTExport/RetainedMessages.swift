import Formats
import HealthModel
import Pipeline

/// All that a broker is to retain of us, by topic: it is made of how things are now, and of nothing else, so that nothing has to be remembered.
///
///     homeassistant/device/vitalgate_1a2b3c4d_…/config      a device with its sensors, for Home Assistant
///     vitalgate/1a2b3c4d/availability                       online, or offline
///     vitalgate/1a2b3c4d/…/bodyTemperature                  {"value":36.6,"unit":"°C","start":…,"end":…,"uuid":…}
///     vitalgate/1a2b3c4d/…/bodyTemperature/availability     online while it is recent
///     vitalgate/1a2b3c4d/…/sleepAnalysis                    {"value":"ON","stage":"asleepDeep","start":…,"end":…,"uuid":…}
///     vitalgate/1a2b3c4d/…/workout                          {"value":"running","duration":1740.0,"distance":5200.0,…}
struct RetainedMessages {
    private(set) var payloads: [String: [UInt8]] = [:]
    /// The devices with their sensors, by discovery topic.
    private(set) var devices: [String: Discovery] = [:]
    /// The zero payloads of meters, by topic. A listener takes the first value of a meter as its start.
    private(set) var zeros: [String: [UInt8]] = [:]
    /// The time when the next reading becomes stale or a day ends.
    private(set) var nextChange: Instant?

    /// The maximum number of sensors. Those with the latest readings are shown.
    private static let maximum = 1000
    static let online = Array("online".utf8)
    static let offline = Array("offline".utf8)

    /// - Throws: ``DeliveryError`` if a unit is requested that Home Assistant does not accept.
    init(_ present: [PresentSample], _ settings: MQTTSettings, _ context: ExportContext) throws(DeliveryError) {
        let topics = MQTTTopics(settings, context)
        let now = context.now()
        payloads[topics.availability] = Self.online
        var latest: [String: [SampleType: PresentSample]] = [:]
        let users = Self.users(of: present)
        for each in present {
            let device = topics.device(of: each.sample.origin, sharedBy: users)
            let known = latest[device]?[each.sample.origin.type]
            if let known, !Self.precedes(known.sample, each.sample) { continue }
            latest[device, default: [:]][each.sample.origin.type] = each
        }
        let all = latest.flatMap { device, sensors in sensors.values.map { (device: device, present: $0) } }
            .sorted { Self.precedes($1.present.sample, $0.present.sample) }
        for (device, each) in all.prefix(Self.maximum) {
            let sample = each.sample
            let type = sample.origin.type
            let topic = topics.state(device, type)
            let kind: Discovery.Component.Kind
            var becomesStale = true
            if type.kind == .quantity {
                let sensor = try SensorKind(type, context, settings.homeAssistant)
                kind = .quantity(sensor)
                if let total = try Self.today(sample, context) {
                    payloads[topic] = Self.state(sample, total, sensor)
                    zeros[topic] = Self.state(sample, DayTotal(sum: 0, start: total.start, end: total.end), sensor)
                    nextChange = min(nextChange ?? total.end, total.end)
                } else {
                    payloads[topic] = Self.state(sample, sensor)
                }
            } else {
                guard let object = ObjectKind(type) else { continue }
                let state = object.state(of: sample, now: now)
                payloads[topic] = state.bytes
                if let change = state.change { nextChange = min(nextChange ?? change, change) }
                becomesStale = object.becomesStale
                kind = .object(object)
            }
            let seconds = settings.staleAfter(type)
            becomesStale = becomesStale && seconds != nil
            if becomesStale, let seconds {
                let stale = Instant(microseconds: sample.end.microseconds &+ Int64(seconds) * 1_000_000)
                payloads["\(topic)/availability"] = now < stale ? Self.online : Self.offline
                if now < stale { nextChange = min(nextChange ?? stale, stale) }
            }
            guard !settings.discovery.isEmpty else { continue }
            let isShared = topics.isShared(sample.origin, by: users)
            let name = isShared ? each.deviceName : each.person.map { "\(each.deviceName) (\($0))" } ?? each.deviceName
            // The first sample is the latest, so its description of the device is used.
            devices[
                topics.discovery(device),
                default: Discovery(
                    id: topics.id(device), name: name, device: sample.origin.device, hub: topics.availability, components: [])
            ].components.append(
                .init(type: type, kind: kind, topic: topic, availability: becomesStale ? "\(topic)/availability" : nil))
        }
        for (topic, var device) in devices {
            device.components.sort { $0.type.id < $1.type.id }
            devices[topic] = device
            payloads[topic] = device.payload()
        }
    }

    /// Divides or removes the messages that are too large for a broker.
    ///
    /// - Returns: The names of the messages that the broker cannot receive.
    mutating func fit(_ limit: Int?) -> [String] {
        guard limit != nil else { return [] }
        var tooLarge: [String] = []
        for (topic, device) in devices {
            let ending = "/config"
            func part(_ number: Int) -> String { number == 1 ? topic : "\(topic.dropLast(ending.count))-\(number)\(ending)" }
            func message(_ device: Discovery) -> MQTTMessage {
                // The topics of later parts are longer, and a former sensor adds a short entry.
                MQTTMessage(topic: part(1000), payload: device.payload(), isRetained: true)
            }
            let (parts, left) = device.divided { message($0).fits(limit) }
            guard parts.count != 1 || !left.isEmpty else { continue }
            tooLarge += left.map { "the discovery of \($0.id)" }
            (devices[topic], payloads[topic]) = (nil, nil)
            for (index, each) in parts.enumerated() {
                devices[part(index + 1)] = each
                payloads[part(index + 1)] = each.payload()
            }
        }
        for (topic, payload) in payloads where !MQTTMessage(topic: topic, payload: payload, isRetained: true).fits(limit) {
            tooLarge.append(topic)
            (payloads[topic], zeros[topic], devices[topic]) = (nil, nil, nil)
        }
        return tooLarge.sorted()
    }

    /// Compares by end time. Equal ends have an arbitrary but constant order.
    private static func precedes(_ one: Sample, _ other: Sample) -> Bool {
        (one.end, one.start, one.identity.description) < (other.end, other.start, other.identity.description)
    }

    /// Returns the people who use each device, by its key. A battery level does not count.
    private static func users(of present: [PresentSample]) -> [String: Set<String>] {
        var users: [String: Set<String>] = [:]
        for each in present where each.sample.origin.type != .batteryLevel {
            if let key = each.sample.origin.device?.key { users[key, default: []].insert(each.sample.origin.person) }
        }
        return users
    }

    private static func today(_ sample: Sample, _ context: ExportContext) throws(DeliveryError) -> DayTotal? {
        do { return try context.today(sample) } catch { throw DeliveryError(.unreachable, "the store: \(error)") }
    }

    /// A day's total: it began at midnight, and changed last with the sample.
    private static func state(_ sample: Sample, _ total: DayTotal, _ kind: SensorKind) -> [UInt8] {
        var summed = sample
        summed.value = total.sum
        // Not in the digits of one sample that was added.
        summed.unit = sample.origin.type.canonicalUnit
        return state(sample, value(of: summed, in: kind.unit?.code), from: total.start, kind)
    }

    private static func state(_ sample: Sample, _ kind: SensorKind) -> [UInt8] {
        state(sample, value(of: sample, in: kind.unit?.code), from: sample.start, kind)
    }

    private static func state(_ sample: Sample, _ value: Double, from start: Instant, _ kind: SensorKind) -> [UInt8] {
        JSONObject([
            "value": value, "unit": kind.unit?.text, "start": start.description, "end": sample.end.description,
            "uuid": sample.identity.description, "source": sample.origin.source.id,
        ]).closed
    }

    private static func value(of sample: Sample, in code: String?) -> Double {
        let type = sample.origin.type
        guard let code, code != type.canonicalUnit.code else { return sample.value }
        // In the unit that was measured in, the digits that were measured.
        if sample.unit.code == code { return sample.numeral.doubleValue }
        guard let unit = try? Unit(ucum: code),
            let conversion = try? type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)
        else { return sample.value }
        return conversion(sample.value)
    }
}

/// The names of everything, made of what stays: a device's key, a person's UUID.
struct MQTTTopics {
    private let settings: MQTTSettings
    private let store: String

    init(_ settings: MQTTSettings, _ context: ExportContext) {
        self.settings = settings
        store = String(context.store.filter { $0 != "-" }.prefix(8))
    }

    /// What is below it is ours alone.
    var root: String { "\(settings.topic)/\(store)" }
    var availability: String { "\(root)/availability" }
    var changes: String { "\(root)/changes" }
    /// What devices' ids begin with.
    var prefix: String { "\(settings.topic)_\(store)_" }

    func id(_ device: String) -> String { prefix + device }
    func state(_ device: String, _ type: SampleType) -> String { "\(root)/\(device)/\(type.id)" }
    func discovery(_ device: String) -> String { "\(settings.discovery)/device/\(id(device))/config" }

    /// Whether a topic of discovery is of one of our devices.
    func isOurs(_ topic: String) -> Bool { topic.hasPrefix("\(settings.discovery)/device/\(prefix)") }

    /// The topic with the machine that feeds the broker and its position. Nothing below it is shown.
    var marks: String { "\(root)/mark" }

    /// Whether a device reports its own state and several people use it, so that the state is shown once.
    func isShared(_ origin: Origin, by users: [String: Set<String>]) -> Bool {
        guard origin.type == .batteryLevel, let key = origin.device?.key, let people = users[key] else { return false }
        return people.count > 1
    }

    /// A person's device, or source where there is none: 16 digits that nothing can be read from. What a device tells of itself is with the only person who
    /// measures with it, else nobody's.
    func device(of origin: Origin, sharedBy users: [String: Set<String>] = [:]) -> String {
        var person = origin.person
        if origin.type == .batteryLevel, let key = origin.device?.key, let people = users[key] {
            person = people.count == 1 ? people.first ?? person : ""
        }
        let text = Array(
            "\(person)\n\(origin.device.map { "device\n\($0.key)" } ?? "source\n\(origin.source.id)")\n".utf8)
        return Digest.sha256(text).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
