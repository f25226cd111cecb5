import HealthModel

/// The source's description of an adopted device. The assembling target creates it from profiles.
///
///     var strap = DeviceDescription(address: address, profile: "sig-heart-rate")
///     strap.services = [BluetoothUUID(0x180D)]
///     strap.subscriptions = [CharacteristicName(0x180D, 0x2A37)]
///     strap.expectedInterval = .seconds(1)
package struct DeviceDescription: Hashable, Sendable {
    /// The rule for when to connect to the device.
    package enum Presence: Hashable, Sendable {
        /// Stay connected as long as the device allows.
        case stay
        /// Disconnect after `quiet` without data, and reconnect after `rest` at the earliest. Devices that are switched on for a
        /// measurement advertise for a while after they have sent everything.
        case leave(quiet: Duration, rest: Duration)
        /// Never connect, because the advertisements contain everything.
        case adverts
    }

    /// The address in BlueZ (org.bluez.Device1, Address).
    package var address: BluetoothAddress
    /// The profile's id, for the log.
    package var profile: String
    /// The adapter's address, if only one of several may be used.
    package var adapter: BluetoothAddress?
    /// The services that the device advertises. If empty, discovery cannot filter for it.
    package var services: [BluetoothUUID] = []
    /// Characteristics that are read after each connection and passed on as frames, if the device has them.
    package var reads: [CharacteristicName] = []
    /// Characteristics that are enabled after each connection, if the device has them.
    package var subscriptions: [CharacteristicName] = []
    /// Optional characteristics, such as the battery, that are read and enabled if the device has them.
    package var accompaniments: [CharacteristicName] = []
    /// The reads that describe the data of other characteristics, for example the sensor's location or the start of its session.
    package var descriptions: Set<CharacteristicName> = []
    /// Values that are written in this order after notifications are enabled, to make a device start.
    package var writes: [OpeningWrite] = []
    package var recordAccess: RecordAccessDescription?
    /// The dialogue with the device, or nil (for most devices).
    package var dialogue: DialogueDescription?
    /// The clock that is read, and set if allowed, or nil if the device has none.
    package var clock: DeviceClock?
    /// The rule for when to connect to the device.
    package var presence: Presence = .stay
    /// The usual time between two frames, or nil if they come irregularly.
    package var expectedInterval: Duration?
    /// Advertised data that is passed on as frames.
    package var adverts: [AdvertisedData] = []
    /// Whether the device is read only while BlueZ has a bond with it.
    package var needsBond = false

    /// Creates a description of a device that stays connected and is not asked for anything yet.
    package init(address: BluetoothAddress, profile: String) {
        self.address = address
        self.profile = profile
    }

    /// Whether measurements are lost if the hub does not receive them. Then notifications are enabled before Device Information is read. A
    /// device that stores readings keeps them until it is subscribed, and its clock must be read before that.
    package var isStream: Bool { presence == .stay && expectedInterval != nil && recordAccess == nil && clock == nil }

    /// All characteristics to enable: the listed ones and those that the record access needs.
    package var allSubscriptions: [CharacteristicName] {
        var names = subscriptions
        if let recordAccess {
            names += ([recordAccess.measurement, recordAccess.context].compactMap { $0 } + [recordAccess.controlPoint])
                .filter { !subscriptions.contains($0) }
        }
        return names
    }
}

/// Bytes that a device needs before it sends data.
package struct OpeningWrite: Hashable, Sendable {
    package var name: CharacteristicName
    package var bytes: [UInt8]

    /// - Parameter bytes: at most 512 bytes, the size of an attribute.
    package init(name: CharacteristicName, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

package struct DeviceClock: Hashable, Sendable {
    /// The byte layout of the time (GATT Specification Supplement).
    package enum Layout: Hashable, Sendable {
        /// 2A2B: date time, day of week, fractions, reason.
        case currentTime
        /// 2A08: date time.
        case dateTime
    }

    package var name: CharacteristicName
    package var layout: Layout
    /// Whether the profile allows setting it.
    package var isSet: Bool

    /// - Parameter name: the characteristic, by default 2A2B of the service 1805.
    package init(name: CharacteristicName = CharacteristicName(0x1805, 0x2A2B), layout: Layout = .currentTime, isSet: Bool) {
        self.name = name
        self.layout = layout
        self.isSet = isSet
    }
}

package enum AdvertisedData: Hashable, Sendable {
    /// `advert:FCD2`
    case service(BluetoothUUID)
    /// `advert:manufacturer:0157`
    case manufacturer(UInt16)
    /// `advert:manufacturer`: data of any company, after the company's number. For devices that send readings instead of that number.
    case anyManufacturer

    /// The name of the channel for its frames, as shown at each case. The digits are in upper case.
    package var channel: String {
        switch self {
        case .service(let uuid): return "advert:\(uuid)"
        case .anyManufacturer: return "advert:manufacturer"
        case .manufacturer(let company):
            let digits = String(company, radix: 16, uppercase: true)
            return "advert:manufacturer:" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    /// Parses a channel's name. Returns nil if the channel is not for advertisements.
    package init?(channel: String) {
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
    package static func frame(company: UInt16, _ data: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + data
    }

    package func frames(in data: [AdvertisedData: [UInt8]]) -> [[UInt8]] {
        guard self == .anyManufacturer else { return data[self].map { [$0] } ?? [] }
        return data.compactMap { part, bytes in
            if case .manufacturer(let company) = part { Self.frame(company: company, bytes) } else { nil }
        }
    }
}

/// The facts about a device that are needed the next time. The caller keeps them in the store, with the samples.
package struct DeviceMemory: Hashable, Sendable {
    /// The device, from Device Information (180A), read once.
    package var device: Device?
    /// The position up to which stored records were collected and committed.
    package var records: RecordCursor?
    /// Whether a session has delivered data. If so, a later authentication failure means a broken bond, not a missing one (story 8).
    package var hadGoodSession = false

    package init() {}
}

/// A comparison of the device's clock with the hub's, made before anything was set (DESIGN, promise 7).
package struct ClockEvidence: Hashable, Sendable {
    package var shown: WallTime
    /// The time of receipt, by the hub's clock.
    package var received: Instant
    /// The time that a correct clock in the local time zone would have shown.
    package var expected: WallTime

    /// Creates a comparison for one moment. `shown` and `expected` are equal if the clock was just set.
    package init(shown: WallTime, received: Instant, expected: WallTime) {
        self.shown = shown
        self.received = received
        self.expected = expected
    }

    /// The number of microseconds that the device is ahead.
    package var ahead: Int64 { shown.microseconds &- expected.microseconds }
}
