import FoundationEssentials
import HealthModel
import Pipeline
import SampleStore

/// The first line of each part of a capture, which describes the lines after it.
///
///     {"capture":1,"demo":false,"holds":"…","id":"…","part":1,"subject":"…","zone":"Europe/Berlin"}
package struct CaptureHead: Codable, Hashable, Sendable {
    /// The format version. It increases when an old program could misread a new file. Additional keys do not change it.
    package static let version = 1
    /// The explanation for a person who finds the file.
    package static let sentence = "health readings as the devices sent them, with the devices' addresses and serial numbers"

    /// The format version of the file.
    package var capture: Int
    /// Identifies one run of a hub.
    package var id: String
    /// The number of the part, from 1. The older of two files has the lower number.
    package var part: Int
    /// The UUID of the store's own person.
    package var person: String
    /// The time zone of local times.
    package var zone: String
    /// Whether the store was made for simulated readings.
    package var demo: Bool
    /// ``sentence``.
    package var content: String

    private enum CodingKeys: String, CodingKey {
        case capture, id, part, zone, demo
        case person = "subject"
        case content = "holds"
    }

    /// Creates the head for traffic that another program recorded.
    init(person: String, zone: TimeZoneRules) {
        (capture, part, content) = (Self.version, 1, Self.sentence)
        (id, demo, self.person, self.zone) = ("", false, person, zone.identifier)
    }

    /// Creates the head for a capture of the readings that a store receives.
    package init(of store: SampleStore, zone: TimeZoneRules) {
        (capture, part, content) = (Self.version, 1, Self.sentence)
        (id, person, demo) = (UUIDText.random(), store.owner, store.isDemo)
        self.zone = zone.identifier
    }
}

/// A line after the first: one event at the hub's input. Its keys depend on the event; docs/how-to/report-a-device.md lists them all.
struct CaptureLine: Codable, Hashable, Sendable {
    enum Event: String, Codable, Sendable {
        /// A device that is read from here on, and new facts about a device.
        case device, known
        case frame
        case finish = "settle"
        case commit, records, clock, skip, refuse, step, boot, flush
        /// A line of the log, for a person.
        case notice
        /// The part ends here and is complete.
        case end
    }

    var event: Event
    /// Microseconds since 1970 by the hub's clock, which may be set during the capture.
    var time: Int64
    /// Nanoseconds by the clock that is never set.
    var uptime: Int64
    var device: Int?
    var about: CapturedDevice?
    /// The sender of a frame, if it differs from the previous frame's.
    var from: CapturedDescription?
    var channel: String?
    var bytes: String?
    var place: String?
    var number: Int?
    var ahead: Int64?
    var ofUTC: Int64?
    var by: Int64?
    var kind: String?
    var count: Int?
    var text: String?
    /// The receiver that passed a frame on, when the frame arrived, and whether it came from the receiver's memory.
    var receiver: String?
    var arrived: Int64?
    var replay: String?

    private enum CodingKeys: String, CodingKey {
        case event, time, uptime, device, about, from, channel, place, number, ahead, ofUTC, by, kind, count, text
        case receiver, arrived, replay
        case bytes = "octets"
    }

    init(_ event: Event, time: Int64, uptime: Int64, device: Int? = nil) {
        (self.event, self.time, self.uptime, self.device) = (event, time, uptime, device)
    }
}

/// A device's description of itself. Without a key there is none.
struct CapturedDescription: Codable, Hashable, Sendable {
    var key: String?
    var name: String?
    var manufacturer: String?
    var model: String?
    var serial: String?
    var hardware: String?
    var firmware: String?
    var software: String?
    var udi: String?

    init(_ device: Device?) {
        guard let device else { return }
        (key, name, manufacturer) = (device.key, device.name, device.manufacturer)
        (model, serial, hardware) = (device.model, device.serial, device.hardware)
        (firmware, software, udi) = (device.firmware, device.software, device.udi)
    }

    var device: Device? {
        key.map {
            Device(
                key: $0, name: name, manufacturer: manufacturer, model: model, serial: serial, hardware: hardware,
                firmware: firmware, software: software, udi: udi)
        }
    }
}

/// An adopted device as it was at its first event in a part. It never contains the device's encryption key.
struct CapturedDevice: Codable, Hashable, Sendable {
    struct ProfileName: Codable, Hashable, Sendable {
        var id: String
        var version: String
    }

    struct Share: Codable, Hashable, Sendable {
        var person: String
        /// The lower bound in kilograms.
        var from: Double
        var to: Double

        private enum CodingKeys: String, CodingKey {
            case person = "subject"
            case from, to
        }
    }

    /// A user that the device numbers, without the consent code.
    struct User: Codable, Hashable, Sendable {
        var number: Int
        var person: String

        private enum CodingKeys: String, CodingKey {
            case number
            case person = "subject"
        }
    }

    /// The services and characteristics of a device that is not adopted.
    var services: [String]?
    var offers: [String]?
    var address: String
    var key: String
    var name: String
    var profiles: [ProfileName]
    var person: String
    var adopted: Int64
    var description: CapturedDescription?
    var ownKey: String?
    var shared: [Share]?
    var users: [User]?
    var aliases: [String: String]?
    var zone: String
    /// Whether its advertisements are encrypted.
    var sealed: Bool
    var counter: Int64?
    var hasRecords: Bool
    var readingsPerSecond: Int
    /// Whether its heartbeats are gathered into series. `nil` means no.
    var heartbeatSeries: Bool?
    /// Whether its clock was compared with ours, and the comparisons that count: the time it showed and how far it was ahead.
    var clockKnown: Bool
    var clock: [[Int64]]?
    var clockFromStamps: Bool
    /// The boot with whose unconfirmed clock the device's was compared.
    var comparedIn: String?

    private enum CodingKeys: String, CodingKey {
        case services, offers, address, key, name, profiles, adopted, ownKey, shared, users, aliases, zone, sealed, counter,
            hasRecords
        case readingsPerSecond, heartbeatSeries, clockKnown, clock, clockFromStamps, comparedIn
        case person = "subject"
        case description = "said"
    }

    init(_ device: LiveDevice) {
        let adopted = device.adopted
        (address, key, name, person) = (adopted.address, adopted.key, adopted.name, adopted.person)
        profiles = device.profiles.map { ProfileName(id: $0.id, version: $0.version) }
        self.adopted = adopted.adopted
        description = adopted.device.map { CapturedDescription($0) }
        ownKey = adopted.ownKey
        let shares = adopted.sharedBy.map {
            Share(person: $0.person, from: $0.weights.lowerBound, to: $0.weights.upperBound)
        }
        shared = shares.isEmpty ? nil : shares
        users = adopted.users.isEmpty ? nil : adopted.users.map { User(number: $0.number, person: $0.person) }
        aliases = device.aliases.isEmpty ? nil : device.aliases
        zone = device.zone.identifier
        sealed = adopted.bindKey != nil
        counter = adopted.counter
        hasRecords = device.hasRecords
        readingsPerSecond = device.readingsPerSecond
        heartbeatSeries = device.gathersHeartbeats ? true : nil
        let facts = device.clockFacts
        (clockKnown, clockFromStamps) = (facts.isKnown, facts.isLearnedFromStamps)
        comparedIn = facts.learnedIn
        clock = facts.learned.map { clock in clock.points.map { [$0.shown, $0.ahead] + (clock.followsZone ? [1] : []) } }
    }
}

/// Converts lines to bytes and back.
enum CaptureText {
    /// The maximum length of a line. A byte takes two characters, and no source sends frames of more than a few thousand bytes.
    static let maximumLineLength = 1 << 20
    /// The start of each part.
    static let mark = Array(#"{"capture":"#.utf8)

    static func line(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(value) else { return [] }
        var line: [UInt8] = []
        JSONText.append(json: text, to: &line)
        return line + "\n".utf8
    }

    /// Decodes a line, or returns `nil`. Invalid UTF-8 is rejected first because the decoder does not expect it in a key.
    static func value<Value: Decodable>(_ type: Value.Type, _ line: some Collection<UInt8>) -> Value? {
        guard String(validating: line, as: UTF8.self) != nil else { return nil }
        return try? JSONDecoder().decode(type, from: Data(line))
    }
}
