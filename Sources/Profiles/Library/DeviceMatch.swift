/// How a device is known to be one of a profile's: by what it advertises, or by its plug. Any of these is enough, unless all are asked for.
public struct DeviceMatch: Hashable, Sendable {
    /// GATT services, as the profile writes them: `180D`, or 36 characters.
    public var services: [String] = []
    /// Services whose data are advertised.
    public var advertisedServiceData: [String] = []
    /// Companies whose data are advertised.
    public var manufacturers: [UInt16] = []
    /// What the device's name begins with.
    public var names: [String] = []
    /// Whole names, for those that are too short to begin one.
    public var wholeNames: [String] = []
    /// What the name of a device begins with that is another one, whatever else fits.
    public var otherNames: [String] = []
    /// What is advertised under whatever company's number is a frame that the profile reads, its own address inside.
    public var readable = false
    /// Of every kind that is given, one has to fit: a company's number alone says too little.
    public var needsAll = false

    /// USB plugs.
    public var usb: [USBMatch] = []

    /// Nothing is known by it.
    public init() {}

    /// Whether no device can be known by it.
    public var isEmpty: Bool {
        services.isEmpty && advertisedServiceData.isEmpty && manufacturers.isEmpty && names.isEmpty
            && wholeNames.isEmpty && usb.isEmpty && !readable
    }
}

extension DeviceMatch {
    /// Whether a device of this name is meant.
    public func fits(name: String) -> Bool { wholeNames.contains(name) || names.contains { name.hasPrefix($0) } }

    /// Whether a device of this name is another one that advertises the same.
    public func excludes(name: String) -> Bool {
        let name = name.lowercased()
        return otherNames.contains { name.hasPrefix($0.lowercased()) }
    }
}

/// A USB plug by its numbers.
public struct USBMatch: Hashable, Sendable {
    /// Four small hexadecimal digits.
    public var vendor: String
    /// Four small hexadecimal digits.
    public var product: String
    /// Devices of all kinds have this adapter, so that it says nothing of what is behind it.
    public var isShared: Bool
}

/// A characteristic of a service: `180D/2A37` in a profile.
public struct ProfileCharacteristic: Hashable, Sendable {
    /// The service's UUID, as the profile writes it.
    public var service: String
    /// The characteristic's UUID, as the profile writes it.
    public var characteristic: String

    /// - Parameter service: in four hexadecimal digits, or 36 characters.
    public init(service: String, characteristic: String) {
        self.service = service
        self.characteristic = characteristic
    }
}

/// What is asked of a device and how the hub stays with it: the profile's `connection`.
public struct DeviceConnection: Hashable, Sendable {
    /// Which service's stored records are collected, with its own dialogue.
    public enum RecordAccess: String, Hashable, Sendable, CaseIterable {
        /// Of the service's own records and control point.
        case glucose, pulseOximeter, continuousGlucose
    }

    /// A conversation that the hub leads with the device.
    public enum Dialogue: String, Hashable, Sendable, CaseIterable {
        /// The User Data service: users consent in turn, by the numbers that a person gave.
        case userData = "user-data"
        /// Of QN's scales.
        case qnScale = "qn-scale"
        /// Of Omron's cuffs, whose ``memory`` is read.
        case omronCuff = "omron-cuff"
        /// Of Viatom's and Wellue's rings: the nights that they stored.
        case o2Ring = "o2ring"
        /// Of Beurer's BF710 and Sanitas' SBF70.
        case beurerBF710 = "beurer-bf710"
        /// Of Beurer's BF700 and BF800.
        case beurerBF700 = "beurer-bf700"
    }

    /// Where a device keeps what it measured, for a dialogue that reads a memory.
    public struct Memory: Hashable, Sendable {
        /// How records are packed.
        public enum Form: String, Hashable, Sendable, CaseIterable {
            case big, little
        }

        /// Two octets that stand in front of each record that is handed on.
        public var mark: [UInt8]
        public var form: Form
        /// Where the records of each user begin.
        public var users: [Int]
        /// How many each user has.
        public var records: Int
        /// How many octets are read at once.
        public var block: Int
        /// Where it stands which record was written last.
        public var index: Int?
        /// Where the clock stands.
        public var clock: Int?
    }

    /// What is done with the clock of the Current Time Service.
    public enum Clock: String, Hashable, Sendable, CaseIterable {
        /// Compared with the hub's, so that the device's times are corrected.
        case read
        /// Read, and set where it is wrong, once the records are collected.
        case set
    }

    /// How long the hub stays.
    public enum Presence: Hashable, Sendable {
        /// As long as the device lets it.
        case stay
        /// In seconds.
        case leave(quiet: Int, rest: Int)
        /// Never connected.
        case adverts
    }

    /// Read after each connection.
    public var reads: [ProfileCharacteristic] = []
    /// Enabled after each connection.
    public var subscriptions: [ProfileCharacteristic] = []
    /// Written, in this order, once that is done: what makes a device begin.
    public var writes: [ProfileWrite] = []
    /// Nil where the device stores none, or is not asked.
    public var recordAccess: RecordAccess?
    /// Nil where the device is only asked, or told what `writes` says.
    public var dialogue: Dialogue?
    /// Nil where the dialogue reads none.
    public var memory: Memory?
    /// It is read on every device that is connected for another profile and has its characteristics.
    public var accompanies = false
    /// Nil where it is left alone.
    public var clock: Clock?
    /// How long the hub stays.
    public var presence = Presence.stay
    /// Frames come about this often while all is well, in seconds.
    public var expectedInterval: Int?
    /// The device is read only while the hub has a bond with it.
    public var needsBond = false
    /// What is said to a device on a serial line.
    public var serial = SerialConversation()

    /// Nothing is asked, and the hub stays.
    public init() {}
}

/// Octets that a device has to be told before it tells anything.
public struct ProfileWrite: Hashable, Sendable {
    /// Where they are written.
    public var characteristic: ProfileCharacteristic
    /// As they are written.
    public var octets: [UInt8]
}

/// What is said to a device on a serial line; most say what they have without being asked.
public struct SerialConversation: Hashable, Sendable {
    /// How a meter is asked for its memory.
    public enum Dialogue: String, Hashable, Sendable, CaseIterable {
        /// LifeScan's.
        case oneTouchUltra2 = "onetouch-ultra-2"
        /// Abbott's.
        case freeStyleOptium = "freestyle-optium"
    }

    /// What has to be said again and again, lest the device stop.
    public struct KeepAlive: Hashable, Sendable {
        /// As they are written.
        public var octets: [UInt8]
        /// In seconds.
        public var every: Int
    }

    /// Written when the line is open, one after the other.
    public var opening: [[UInt8]] = []
    /// Nil for a device that goes on by itself.
    public var keepAlive: KeepAlive?
    /// Written before the line is closed.
    public var closing: [[UInt8]] = []
    /// Nil for a device that is not asked.
    public var dialogue: Dialogue?

    public init() {}
}
