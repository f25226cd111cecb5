import BlueZSource
import HealthModel
import Profiles
import SampleStore
import Wire

/// Matches devices with profiles.
package struct DeviceAssembly: Sendable {
    package let library: ProfileLibrary

    /// - Parameter library: the profiles to match with.
    package init(library: ProfileLibrary) { self.library = library }

    /// Returns the profiles that match a device's advertisements and produce readings. The first one names the device if nothing
    /// else does, so profiles for common services such as the battery come last.
    package func profiles(for device: NearbyDevice) -> [Profile] {
        let matches = library.profiles.filter { profile in
            guard profile.hasBinaryReadings || profile.connection.dialogue != nil else { return false }
            if profile.match.readable, Self.reads(profile, device) == true { return true }
            return Self.matches(profile.match, device) && Self.agrees(profile, device)
        }
        return matches.filter { !$0.describesOnlyDevice } + matches.filter(\.describesOnlyDevice)
    }

    package static func matches(_ match: DeviceMatch, _ device: NearbyDevice) -> Bool {
        if let name = device.name, match.excludes(name: name) { return false }
        var kinds: [Bool] = []
        if !match.services.isEmpty { kinds.append(hasService(match, device)) }
        if !match.advertisedServiceData.isEmpty {
            kinds.append(
                match.advertisedServiceData.contains { uuid in
                    BluetoothUUID(uuid).map { device.adverts.contains(.service($0)) } ?? false
                })
        }
        if !match.manufacturers.isEmpty {
            kinds.append(match.manufacturers.contains { device.adverts.contains(.manufacturer($0)) })
        }
        if !(match.names.isEmpty && match.wholeNames.isEmpty) {
            kinds.append(device.name.map { match.fits(name: $0) } ?? false)
        }
        return match.needsAll ? !kinds.isEmpty && !kinds.contains(false) : kinds.contains(true)
    }

    private static func hasService(_ match: DeviceMatch, _ device: NearbyDevice) -> Bool {
        match.services.contains { BluetoothUUID($0).map(device.services.contains) ?? false }
    }

    /// Whether the advertised data confirms the match. Many devices share a company number or a service, so the profile must be
    /// able to read some of the data. A match by name or by an offered service needs no confirmation.
    private static func agrees(_ profile: Profile, _ device: NearbyDevice) -> Bool {
        if hasService(profile.match, device) || device.name.map({ profile.match.fits(name: $0) }) == true { return true }
        return reads(profile, device) ?? true
    }

    /// Whether the profile can read any of the advertised data, or `nil` if there is none in its channels.
    private static func reads(_ profile: Profile, _ device: NearbyDevice) -> Bool? {
        let received = profile.binaryChannels.flatMap { channel -> [(match: BinaryMatch, bytes: [UInt8])] in
            guard let part = AdvertisedData(channel: channel), let match = profile.match(channel: channel) else { return [] }
            return part.frames(in: device.data).map { (match, $0) }
        }
        let address = HexadecimalText.bytes(device.address.description)
        return received.isEmpty ? nil : received.contains { $0.match.mayRead($0.bytes, address: address) }
    }

    /// Returns the source's description of an adopted device. `nil` if it has no Bluetooth address or none of its profiles
    /// exists.
    package func description(of device: AdoptedDevice) -> DeviceDescription? {
        let all = readers(of: device)
        let profiles = all.filter { !Self.isAccompaniment($0, all) }
        guard let address = Self.address(of: device), let first = device.profiles.lazy.compactMap({ library[$0] }).first else {
            return nil
        }
        var description = DeviceDescription(address: address, profile: first.id)
        for profile in all where Self.isAccompaniment(profile, all) {
            let names = Self.names(profile.connection.reads) + Self.names(profile.connection.subscriptions)
            for name in names where !description.accompaniments.contains(name) { description.accompaniments.append(name) }
        }
        description.descriptions = Set(profiles.flatMap(Self.descriptions))
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
            for write in connection.writes {
                guard let name = Self.names([write.characteristic]).first else { continue }
                let opening = OpeningWrite(name: name, bytes: write.bytes)
                if !description.writes.contains(opening) { description.writes.append(opening) }
            }
            if description.dialogue == nil { description.dialogue = Self.dialogue(connection, of: device) }
            if description.recordAccess == nil { description.recordAccess = Self.recordAccess(connection.recordAccess) }
            if let clock = connection.clock {
                description.clock = DeviceClock(isSet: clock == .set && description.clock?.isSet != false)
            }
            description.needsBond = description.needsBond || connection.needsBond
        }
        let asked = description.reads + description.allSubscriptions
        description.accompaniments.removeAll(where: asked.contains)
        let intervals = connected.compactMap(\.connection.expectedInterval)
        description.expectedInterval = intervals.min().map { .seconds($0) }
        description.presence = Self.presence(of: connected)
        return description
    }

    /// Disconnects only if all profiles that connect allow it. A battery alone does not keep a connection open.
    private static func presence(of profiles: [Profile]) -> DeviceDescription.Presence {
        guard !profiles.isEmpty else { return .adverts }
        var maximumWaits: (quiet: Int, rest: Int)?
        var stays = false
        for profile in profiles {
            switch profile.connection.presence {
            case .leave(let quiet, let rest):
                maximumWaits = (max(quiet, maximumWaits?.quiet ?? 0), max(rest, maximumWaits?.rest ?? 0))
            case .stay: stays = stays || !profile.describesOnlyDevice
            case .adverts: break
            }
        }
        guard let maximumWaits, !stays else { return .stay }
        return .leave(quiet: .seconds(maximumWaits.quiet), rest: .seconds(maximumWaits.rest))
    }

    private static func adverts(of profile: Profile) -> [AdvertisedData] {
        profile.binaryChannels.compactMap { AdvertisedData(channel: $0) }
    }

    static func names(_ list: [ProfileCharacteristic]) -> [CharacteristicName] {
        list.compactMap { item in
            guard let service = BluetoothUUID(item.service), let characteristic = BluetoothUUID(item.characteristic) else {
                return nil
            }
            return CharacteristicName(service, characteristic)
        }
    }

    private static func dialogue(_ connection: DeviceConnection, of device: AdoptedDevice) -> DialogueDescription? {
        switch connection.dialogue {
        case .userData:
            .userData(
                device.users.compactMap { user in
                    guard let number = UInt8(exactly: user.number), let code = user.consent.flatMap({ UInt16(exactly: $0) })
                    else {
                        return nil
                    }
                    return ConsentingUser(number: number, code: code)
                })
        case .qnScale: .qnScale
        case .o2Ring: .o2Ring
        case .beurerBF710: .beurerSanitas(high: 0xE0)
        case .beurerBF700: .beurerSanitas(high: 0xF0)
        case .omronCuff:
            connection.memory.map {
                .omronCuff(
                    CuffMemory(
                        mark: $0.mark, form: $0.form == .big ? .big : .little, users: $0.users.map { UInt16($0) },
                        records: $0.records,
                        block: $0.block,
                        index: $0.index.map { UInt16($0) }, clock: $0.clock.map { UInt16($0) }),
                    key: device.bindKey.flatMap(HexadecimalText.bytes) ?? DialogueDescription.defaultKey)
            }
        case nil: nil
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

    /// Returns the address in the store's form, `bluetooth:C0:01:02:03:04:01`.
    package static func storedAddress(_ address: BluetoothAddress) -> String { AdoptedDevice.bluetooth + address.description }

    /// Returns the Bluetooth address for the source, or `nil` if the device has none.
    package static func address(of device: AdoptedDevice) -> BluetoothAddress? {
        device.bluetoothAddress.flatMap { BluetoothAddress($0) }
    }
}

extension AdoptedDevice {
    /// The facts that the source learned in earlier sessions.
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

    /// Stores the facts that the source learned. Returns whether anything changed.
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
