import BlueZSource
import HealthModel
import Profiles
import SampleStore

/// Puts devices and profiles together.
public struct DeviceAssembly: Sendable {
    /// The profiles that devices are matched with.
    public let library: ProfileLibrary

    /// - Parameter library: the profiles that devices are matched with.
    public init(library: ProfileLibrary) { self.library = library }

    /// The profiles that a device is adopted with, by what it advertises: those that make readings. The first one names the device
    /// where nothing else does, so what nearly every device has comes last.
    public func profiles(for device: NearbyDevice) -> [Profile] {
        let matches = library.profiles.filter { $0.hasBinaryReadings && Self.matches($0.match, device) }
        return matches.filter { !$0.tellsOnlyOfDevice } + matches.filter(\.tellsOnlyOfDevice)
    }

    package static func matches(_ match: DeviceMatch, _ device: NearbyDevice) -> Bool {
        if match.services.contains(where: { BluetoothUUID($0).map(device.services.contains) ?? false }) { return true }
        if match.advertisedServiceData.contains(where: {
            BluetoothUUID($0).map { device.adverts.contains(.service($0)) } ?? false
        }) {
            return true
        }
        if match.manufacturers.contains(where: { device.adverts.contains(.manufacturer($0)) }) { return true }
        return device.name.map { name in match.names.contains { name.hasPrefix($0) } } ?? false
    }

    /// What the source has to know of an adopted device; none where its address is no Bluetooth address or no profile of it is there.
    public func description(of device: AdoptedDevice) -> DeviceDescription? {
        let profiles = device.profiles.compactMap { library[$0] }
        guard let address = Self.address(of: device), let first = profiles.first else { return nil }
        var description = DeviceDescription(address: address, profile: first.id)
        let connected = profiles.filter { $0.connection.presence != .adverts }
        for profile in profiles {
            if profile.connection.presence != .adverts {
                description.services += profile.match.services.compactMap { BluetoothUUID($0) }
            }
            description.adverts += Self.adverts(of: profile).filter { !description.adverts.contains($0) }
        }
        for connection in connected.map(\.connection) {
            description.reads += Self.names(connection.reads).filter { !description.reads.contains($0) }
            description.subscriptions += Self.names(connection.subscriptions).filter { !description.subscriptions.contains($0) }
            if description.recordAccess == nil { description.recordAccess = Self.recordAccess(connection.recordAccess) }
            if let clock = connection.clock {
                description.clock = DeviceClock(isSet: clock == .set && description.clock?.isSet != false)
            }
            description.needsBond = description.needsBond || connection.needsBond
        }
        let intervals = connected.compactMap(\.connection.expectedInterval)
        description.expectedInterval = intervals.min().map { .seconds($0) }
        description.presence = Self.presence(of: connected)
        return description
    }

    /// The device is left only where all that connect to it leave; a battery alone keeps nobody connected.
    private static func presence(of profiles: [Profile]) -> DeviceDescription.Presence {
        guard !profiles.isEmpty else { return .adverts }
        var longest: (quiet: Int, rest: Int)?
        var stays = false
        for profile in profiles {
            switch profile.connection.presence {
            case .leave(let quiet, let rest): longest = (max(quiet, longest?.quiet ?? 0), max(rest, longest?.rest ?? 0))
            case .stay: stays = stays || !profile.tellsOnlyOfDevice
            case .adverts: break
            }
        }
        guard let longest, !stays else { return .stay }
        return .leave(quiet: .seconds(longest.quiet), rest: .seconds(longest.rest))
    }

    private static func adverts(of profile: Profile) -> [AdvertisedData] {
        profile.binaryChannels.compactMap { channel in
            guard channel.hasPrefix("advert:") else { return nil }
            let name = channel.dropFirst(7)
            if name.hasPrefix("manufacturer:") { return UInt16(name.dropFirst(13), radix: 16).map { .manufacturer($0) } }
            return BluetoothUUID(name).map { .service($0) }
        }
    }

    private static func names(_ list: [ProfileCharacteristic]) -> [CharacteristicName] {
        list.compactMap { item in
            guard let service = BluetoothUUID(item.service), let characteristic = BluetoothUUID(item.characteristic) else {
                return nil
            }
            return CharacteristicName(service, characteristic)
        }
    }

    private static func recordAccess(_ access: DeviceConnection.RecordAccess?) -> RecordAccessDescription? {
        switch access {
        case .glucose: .glucose
        case .pulseOximeter: .pulseOximeter
        case .continuousGlucose: .continuousGlucose
        case nil: nil
        }
    }

    // MARK: Addresses

    /// `bluetooth:C0:01:02:03:04:01`, as the store has it.
    public static func storedAddress(_ address: BluetoothAddress) -> String { AdoptedDevice.bluetooth + address.description }

    /// The address for the source; nil where the device has none of Bluetooth.
    public static func address(of device: AdoptedDevice) -> BluetoothAddress? {
        device.bluetoothAddress.flatMap { BluetoothAddress($0) }
    }
}

extension AdoptedDevice {
    /// What the source knew of it when it was last here.
    package var memory: DeviceMemory {
        var memory = DeviceMemory()
        memory.device = device
        memory.records = lastRecord.flatMap { record in
            UInt16(exactly: record.number).map {
                RecordCursor(number: $0, fingerprint: UInt64(bitPattern: record.fingerprint), count: record.count.map { Int($0) })
            }
        }
        memory.hadGoodSession = hasDelivered
        return memory
    }

    /// Takes over what the source learned. Returns whether that was anything new.
    package mutating func learn(_ memory: DeviceMemory) -> Bool {
        let before = self
        if let device = memory.device {
            self.device = device
            key = device.key
        }
        lastRecord = memory.records.map {
            LastRecord(
                number: Int64($0.number), fingerprint: Int64(bitPattern: $0.fingerprint), count: $0.count.map { Int64($0) })
        }
        hasDelivered = memory.hadGoodSession
        return self != before
    }
}
