import HealthModel

/// An adopted device as the source sees it: what to ask and how to stay. The assembling target fills it from profiles.
///
///     var strap = DeviceDescription(address: address, profile: "sig-heart-rate")
///     strap.services = [BluetoothUUID(0x180D)]
///     strap.subscriptions = [CharacteristicName(0x180D, 0x2A37)]
///     strap.expectedInterval = .seconds(1)
public struct DeviceDescription: Hashable, Sendable {
    /// When a link to the device is made and kept.
    public enum Presence: Hashable, Sendable {
        /// Connected as long as the device lets us.
        case stay
        /// Leaves when nothing came for `quiet`, and comes back no sooner than `rest` later: devices that are switched on to measure
        /// keep advertising for a while after they have told everything.
        case leave(quiet: Duration, rest: Duration)
        /// Never connected: everything is in its advertisements.
        case adverts
    }

    /// By which it is found among BlueZ's devices (org.bluez.Device1, Address).
    public var address: BluetoothAddress
    /// Of the profile, for the log.
    public var profile: String
    /// The adapter's address, where only one of several is meant.
    public var adapter: BluetoothAddress?
    /// What the device advertises; empty where it advertises no service, so that discovery cannot filter.
    public var services: [BluetoothUUID] = []
    /// Read after each connection and handed on as frames, where the device has them.
    public var reads: [CharacteristicName] = []
    /// Enabled after each connection, where the device has them.
    public var subscriptions: [CharacteristicName] = []
    /// Read and enabled where the device has them, whatever it advertises, and missed where it has not: its battery.
    public var accompaniments: [CharacteristicName] = []
    /// Of the reads, those that say something of what other characteristics send: where the sensor sits, when its session began.
    public var descriptions: Set<CharacteristicName> = []
    /// Written once what is wanted is enabled, in this order: what makes a device begin.
    public var writes: [OpeningWrite] = []
    /// Stored records.
    public var recordAccess: RecordAccessDescription?
    /// What is talked about with the device, where it wants more than to be asked; nil for most.
    public var dialogue: DialogueDescription?
    /// The clock that is read, and where allowed set; nil where there is none.
    public var clock: DeviceClock?
    /// When it is connected; as long as it lets us where nothing else is said.
    public var presence: Presence = .stay
    /// Frames come about this often while all is well; none where they come when they come.
    public var expectedInterval: Duration?
    /// Advertised data that is handed on as frames.
    public var adverts: [AdvertisedData] = []
    /// The device is read only while BlueZ keeps a bond with it.
    public var needsBond = false

    /// A device to stay connected with, of which nothing is asked yet.
    public init(address: BluetoothAddress, profile: String) {
        self.address = address
        self.profile = profile
    }

    /// Whether what it measures is gone when nobody hears it: it is heard before it is asked what it is. A device that keeps readings
    /// waits with them until it is subscribed; what its clock shows has to be known by then.
    public var isStream: Bool { presence == .stay && expectedInterval != nil && recordAccess == nil && clock == nil }

    /// Everything to be enabled: what was listed, and what the record access needs.
    public var allSubscriptions: [CharacteristicName] {
        var names = subscriptions
        if let recordAccess {
            names += ([recordAccess.measurement, recordAccess.context].compactMap { $0 } + [recordAccess.controlPoint])
                .filter { !subscriptions.contains($0) }
        }
        return names
    }
}

/// Octets that a device has to be told before it tells anything.
public struct OpeningWrite: Hashable, Sendable {
    /// Where they are written.
    public var name: CharacteristicName
    /// As they are written.
    public var octets: [UInt8]

    /// - Parameter octets: 512 at most, as an attribute has.
    public init(name: CharacteristicName, octets: [UInt8]) {
        self.name = name
        self.octets = octets
    }
}

/// Where a device keeps the time.
public struct DeviceClock: Hashable, Sendable {
    /// How the time is written in octets (GATT Specification Supplement).
    public enum Layout: Hashable, Sendable {
        /// 2A2B: date time, day of week, fractions, reason.
        case currentTime
        /// 2A08: date time.
        case dateTime
    }

    /// The characteristic that shows the time.
    public var name: CharacteristicName
    /// How its value is read and written.
    public var layout: Layout
    /// Whether the profile allows to set it.
    public var isSet: Bool

    /// - Parameter name: where nothing else is said, the characteristic 2A2B of the service 1805.
    public init(name: CharacteristicName = CharacteristicName(0x1805, 0x2A2B), layout: Layout = .currentTime, isSet: Bool) {
        self.name = name
        self.layout = layout
        self.isSet = isSet
    }
}

/// Data in an advertisement.
public enum AdvertisedData: Hashable, Sendable {
    /// `advert:FCD2`
    case service(BluetoothUUID)
    /// `advert:manufacturer:0157`
    case manufacturer(UInt16)
    /// `advert:manufacturer`: of whatever company, whose number stands in front; for devices that put readings where that number belongs.
    case anyManufacturer

    /// What its frames are called, as shown at each case; the digits are in upper case.
    public var channel: String {
        switch self {
        case .service(let uuid): return "advert:\(uuid)"
        case .anyManufacturer: return "advert:manufacturer"
        case .manufacturer(let company):
            let digits = String(company, radix: 16, uppercase: true)
            return "advert:manufacturer:" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    /// What a channel of this name hands on; nil for one of no advertisements.
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

    /// A frame of ``anyManufacturer``: the company's number, least significant octet first as it was sent, and its data.
    public static func frame(company: UInt16, _ data: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + data
    }

    /// The frames of this channel in what was advertised.
    public func frames(in data: [AdvertisedData: [UInt8]]) -> [[UInt8]] {
        guard self == .anyManufacturer else { return data[self].map { [$0] } ?? [] }
        return data.compactMap { part, octets in
            if case .manufacturer(let company) = part { Self.frame(company: company, octets) } else { nil }
        }
    }
}

/// What was learned about a device and has to be known the next time. The caller keeps it in the store, with the samples.
public struct DeviceMemory: Hashable, Sendable {
    /// From Device Information (180A), read once.
    public var device: Device?
    /// How far the stored records were collected and committed.
    public var records: RecordCursor?
    /// There was a session that delivered: later failures to authenticate are a broken bond, not a missing one (story 8).
    public var hadGoodSession = false

    /// Of a device that nothing was learned about yet.
    public init() {}
}

/// The device's clock, compared with ours before anything was set (DESIGN, promise 7).
public struct ClockEvidence: Hashable, Sendable {
    /// What the device showed.
    public var shown: WallTime
    /// When we heard it, by our clock.
    public var received: Instant
    /// What a right clock in our zone would have shown.
    public var expected: WallTime

    /// All three at the same moment; equal `shown` and `expected` where the clock has just been set.
    public init(shown: WallTime, received: Instant, expected: WallTime) {
        self.shown = shown
        self.received = received
        self.expected = expected
    }

    /// How far the device is ahead, in microseconds.
    public var ahead: Int64 { shown.microseconds &- expected.microseconds }
}
