/// The rules that identify a profile's devices by their advertisements or their USB plug. One matching rule is enough, unless all are
/// required.
package struct DeviceMatch: Hashable, Sendable {
    /// GATT services in the profile's form: `180D`, or 36 characters.
    package var services: [String] = []
    package var advertisedServiceData: [String] = []
    /// Companies whose data are advertised.
    package var manufacturers: [UInt16] = []
    package var names: [String] = []
    /// Whole names, for names that are too short to be a prefix.
    package var wholeNames: [String] = []
    /// Prefixes of names of other devices. They exclude a device even if other rules fit.
    package var otherNames: [String] = []
    /// Whether a device matches if its manufacturer data is a frame that the profile reads and that contains the device's own address. The
    /// company's number does not matter.
    package var readable = false
    /// Whether each kind of rule that is given must fit. Set if a company's number alone is not specific enough.
    package var needsAll = false

    package var usb: [USBMatch] = []

    /// Creates rules that match no device.
    package init() {}
}

extension DeviceMatch {
    package func fits(name: String) -> Bool { wholeNames.contains(name) || names.contains { name.hasPrefix($0) } }

    /// Whether a name belongs to another device with the same advertisements.
    package func excludes(name: String) -> Bool {
        let name = name.lowercased()
        return otherNames.contains { name.hasPrefix($0.lowercased()) }
    }
}

/// A USB plug, identified by its numbers.
package struct USBMatch: Hashable, Sendable {
    /// The vendor in four lowercase hexadecimal digits.
    package var vendor: String
    /// The product in four lowercase hexadecimal digits.
    package var product: String
    /// Whether devices of all kinds use this adapter, so that it does not identify the device.
    package var isShared: Bool
}

/// A characteristic of a service: `180D/2A37` in a profile.
package struct ProfileCharacteristic: Hashable, Sendable {
    /// The service's UUID in the profile's form: four hexadecimal digits, or 36 characters.
    package var service: String
    /// The characteristic's UUID in the profile's form.
    package var characteristic: String
}

/// The actions on a device and the duration of its connection: the profile's `connection`.
package struct DeviceConnection: Hashable, Sendable {
    /// The services whose stored records are collected, each with its own dialogue.
    package enum RecordAccess: String, Hashable, Sendable, CaseIterable {
        /// A service with its own records and control point.
        case glucose, pulseOximeter, continuousGlucose
    }

    /// The conversations that the hub can have with a device.
    package enum Dialogue: String, Hashable, Sendable, CaseIterable {
        /// The User Data service. Users consent in turn, with the numbers that the operator gave.
        case userData = "user-data"
        case qnScale = "qn-scale"
        /// Omron's cuffs, whose ``memory`` is read.
        case omronCuff = "omron-cuff"
        /// Viatom's and Wellue's rings, for the nights they stored.
        case o2Ring = "o2ring"
        /// Beurer's BF710 and Sanitas' SBF70.
        case beurerBF710 = "beurer-bf710"
        /// Beurer's BF700 and BF800.
        case beurerBF700 = "beurer-bf700"
    }

    /// The layout of a device's memory, for a dialogue that reads one.
    package struct Memory: Hashable, Sendable {
        /// The byte order in records.
        package enum Form: String, Hashable, Sendable, CaseIterable {
            case big, little
        }

        /// Two bytes that are added before each record.
        package var mark: [UInt8]
        package var form: Form
        /// The address of each user's records.
        package var users: [Int]
        /// The number of records for each user.
        package var records: Int
        /// The number of bytes in one read.
        package var block: Int
        /// The address of the index of the last written record.
        package var index: Int?
        package var clock: Int?
    }

    /// The handling of the clock in the Current Time Service.
    package enum Clock: String, Hashable, Sendable, CaseIterable {
        /// Compares the clock with the hub's, so that the device's times are corrected.
        case read
        /// Reads the clock, and sets it if it is wrong, after the records are collected.
        case set
    }

    package enum Presence: Hashable, Sendable {
        /// As long as the device allows.
        case stay
        /// Until the device is silent for `quiet` seconds. The hub reconnects after `rest` seconds at the earliest.
        case leave(quiet: Int, rest: Int)
        /// Never connected.
        case adverts
    }

    package var reads: [ProfileCharacteristic] = []
    /// Characteristics whose notifications are enabled after each connection.
    package var subscriptions: [ProfileCharacteristic] = []
    /// Values that are written after that, in this order, to make a device start.
    package var writes: [ProfileWrite] = []
    /// The service of stored records, or nil if none are collected.
    package var recordAccess: RecordAccess?
    /// The dialogue, or nil if reads, subscriptions and writes are enough.
    package var dialogue: Dialogue?
    /// The device's memory, or nil if the dialogue reads none.
    package var memory: Memory?
    /// Whether the profile also reads devices that are connected for another profile and have its characteristics.
    package var accompanies = false
    /// The handling of the clock, or nil to ignore it.
    package var clock: Clock?
    package var presence = Presence.stay
    /// The usual time between two frames, in seconds.
    package var expectedInterval: Int?
    /// Whether the device is read only while the hub has a bond with it.
    package var needsBond = false
    package var serial = SerialConversation()

    /// Creates a connection that stays open and requests nothing.
    package init() {}
}

/// Bytes that a device needs before it sends data.
package struct ProfileWrite: Hashable, Sendable {
    package var characteristic: ProfileCharacteristic
    package var bytes: [UInt8]
}

/// The conversation with a device on a serial line. Most devices send without a request.
package struct SerialConversation: Hashable, Sendable {
    /// The protocols for reading a meter's memory.
    package enum Dialogue: String, Hashable, Sendable, CaseIterable {
        /// LifeScan's protocol.
        case oneTouchUltra2 = "onetouch-ultra-2"
        /// Abbott's protocol.
        case freeStyleOptium = "freestyle-optium"
    }

    /// Bytes that are sent repeatedly to keep the device sending.
    package struct KeepAlive: Hashable, Sendable {
        package var bytes: [UInt8]
        /// The interval in seconds.
        package var every: Int
    }

    /// Commands that are written in order when the line is open.
    package var opening: [[UInt8]] = []
    /// The keep-alive, or nil if the device needs none.
    package var keepAlive: KeepAlive?
    /// Commands that are written before the line is closed.
    package var closing: [[UInt8]] = []
    /// The protocol, or nil if the device needs no requests.
    package var dialogue: Dialogue?

    package init() {}
}
