import HealthModel

/// The source's description of an adopted device. The assembling target creates it from profiles.
///
///     var strap = DeviceDescription(address: address, profile: "sig-heart-rate")
///     strap.services = [BluetoothUUID(0x180D)]
///     strap.subscriptions = [CharacteristicName(0x180D, 0x2A37)]
///     strap.expectedInterval = .seconds(1)
public struct DeviceDescription: Hashable, Sendable {
    /// The rule for when to connect to the device.
    public enum Presence: Hashable, Sendable {
        /// Stay connected as long as the device allows.
        case stay
        /// Disconnect after `quiet` without data, and reconnect after `rest` at the earliest. Devices that are switched on for a
        /// measurement advertise for a while after they have sent everything.
        case leave(quiet: Duration, rest: Duration)
        /// Never connect, because the advertisements contain everything.
        case adverts
    }

    /// The address in BlueZ (org.bluez.Device1, Address).
    public var address: BluetoothAddress
    /// The profile's id, for the log.
    public var profile: String
    /// The adapter's address, if only one of several may be used.
    public var adapter: BluetoothAddress?
    /// The services that the device advertises. If empty, discovery cannot filter for it.
    public var services: [BluetoothUUID] = []
    /// Characteristics that are read after each connection and passed on as frames, if the device has them.
    public var reads: [CharacteristicName] = []
    /// Characteristics that are enabled after each connection, if the device has them.
    public var subscriptions: [CharacteristicName] = []
    /// Optional characteristics, such as the battery, that are read and enabled if the device has them.
    public var accompaniments: [CharacteristicName] = []
    /// The reads that describe the data of other characteristics, for example the sensor's location or the start of its session.
    public var descriptions: Set<CharacteristicName> = []
    /// Values that are written in this order after notifications are enabled, to make a device start.
    public var writes: [OpeningWrite] = []
    /// The access to stored records.
    public var recordAccess: RecordAccessDescription?
    /// The dialogue with the device, or nil (for most devices).
    public var dialogue: DialogueDescription?
    /// The clock that is read, and set if allowed, or nil if the device has none.
    public var clock: DeviceClock?
    /// The rule for when to connect to the device.
    public var presence: Presence = .stay
    /// The usual time between two frames, or nil if they come irregularly.
    public var expectedInterval: Duration?
    /// Advertised data that is passed on as frames.
    public var adverts: [AdvertisedData] = []
    /// Whether the device is read only while BlueZ has a bond with it.
    public var needsBond = false

    /// Creates a description of a device that stays connected and is not asked for anything yet.
    public init(address: BluetoothAddress, profile: String) {
        self.address = address
        self.profile = profile
    }

    /// Whether measurements are lost if the hub does not receive them. Then notifications are enabled before Device Information is read. A
    /// device that stores readings keeps them until it is subscribed, and its clock must be read before that.
    public var isStream: Bool { presence == .stay && expectedInterval != nil && recordAccess == nil && clock == nil }

    /// All characteristics to enable: the listed ones and those that the record access needs.
    public var allSubscriptions: [CharacteristicName] {
        var names = subscriptions
        if let recordAccess {
            names += ([recordAccess.measurement, recordAccess.context].compactMap { $0 } + [recordAccess.controlPoint])
                .filter { !subscriptions.contains($0) }
        }
        return names
    }
}

/// Bytes that a device needs before it sends data.
public struct OpeningWrite: Hashable, Sendable {
    /// The characteristic to write.
    public var name: CharacteristicName
    /// The bytes to write.
    public var bytes: [UInt8]

    /// - Parameter bytes: at most 512 bytes, the size of an attribute.
    public init(name: CharacteristicName, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// The clock of a device.
public struct DeviceClock: Hashable, Sendable {
    /// The byte layout of the time (GATT Specification Supplement).
    public enum Layout: Hashable, Sendable {
        /// 2A2B: date time, day of week, fractions, reason.
        case currentTime
        /// 2A08: date time.
        case dateTime
    }

    /// The characteristic with the time.
    public var name: CharacteristicName
    /// The layout of its value.
    public var layout: Layout
    /// Whether the profile allows setting it.
    public var isSet: Bool

    /// - Parameter name: the characteristic, by default 2A2B of the service 1805.
    public init(name: CharacteristicName = CharacteristicName(0x1805, 0x2A2B), layout: Layout = .currentTime, isSet: Bool) {
        self.name = name
        self.layout = layout
        self.isSet = isSet
    }
}

/// A kind of data in an advertisement.
public enum AdvertisedData: Hashable, Sendable {
    /// `advert:FCD2`
    case service(BluetoothUUID)
    /// `advert:manufacturer:0157`
    case manufacturer(UInt16)
    /// `advert:manufacturer`: data of any company, after the company's number. For devices that send readings instead of that number.
    case anyManufacturer

    /// The name of the channel for its frames, as shown at each case. The digits are in upper case.
    public var channel: String {
        switch self {
        case .service(let uuid): return "advert:\(uuid)"
        case .anyManufacturer: return "advert:manufacturer"
        case .manufacturer(let company):
            let digits = String(company, radix: 16, uppercase: true)
            return "advert:manufacturer:" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    /// Parses a channel's name. Returns nil if the channel is not for advertisements.
    public init?(channel: String) {
        guard channel.hasPrefix("advert:") else { return nil }
        let name = channel.dropFirst(7)
        if name == "manufacturer" {
            self = .anyManufacturer
        } else if name.hasPrefix("manufacturer:") {
            guard let company = UInt16(name.dropFirst(13), radix: 16) else { return nil }
            self = .manufacturer(company)
        } else {
            guard let uuid = BluetoothUUID(name) else { return nil }
            self = .service(uuid)
        }
    }

    /// Returns a frame of ``anyManufacturer``: the company's number, least significant byte first as sent, and the data.
    public static func frame(company: UInt16, _ data: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + data
    }

    /// Returns the frames of this channel in the advertised data.
    public func frames(in data: [AdvertisedData: [UInt8]]) -> [[UInt8]] {
        guard self == .anyManufacturer else { return data[self].map { [$0] } ?? [] }
        return data.compactMap { part, bytes in
            if case .manufacturer(let company) = part { Self.frame(company: company, bytes) } else { nil }
        }
    }
}

/// The facts about a device that are needed the next time. The caller keeps them in the store, with the samples.
public struct DeviceMemory: Hashable, Sendable {
    /// The device, from Device Information (180A), read once.
    public var device: Device?
    /// The position up to which stored records were collected and committed.
    public var records: RecordCursor?
    /// Whether a session has delivered data. If so, a later authentication failure means a broken bond, not a missing one (story 8).
    public var hadGoodSession = false

    /// Creates the memory of an unknown device.
    public init() {}
}

/// A comparison of the device's clock with the hub's, made before anything was set (DESIGN, promise 7).
public struct ClockEvidence: Hashable, Sendable {
    /// The time on the device's clock.
    public var shown: WallTime
    /// The time of receipt, by the hub's clock.
    public var received: Instant
    /// The time that a correct clock in the local time zone would have shown.
    public var expected: WallTime

    /// Creates a comparison for one moment. `shown` and `expected` are equal if the clock was just set.
    public init(shown: WallTime, received: Instant, expected: WallTime) {
        self.shown = shown
        self.received = received
        self.expected = expected
    }

    /// The number of microseconds that the device is ahead.
    public var ahead: Int64 { shown.microseconds &- expected.microseconds }
}
