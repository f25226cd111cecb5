/// A device that was heard, adopted or not.
public struct NearbyDevice: Hashable, Sendable {
    /// As it advertises now (org.bluez.Device1, Address); it may change, see ``addressIsDurable``.
    public var address: BluetoothAddress
    /// Whether the address will be the same tomorrow; others need a bond before they can be adopted.
    public var addressIsDurable: Bool
    /// What BlueZ knows as its name (org.bluez.Device1, Name); nil where it has none.
    public var name: String?
    /// In dBm.
    public var strength: Int?
    /// What BlueZ lists of its services (org.bluez.Device1, UUIDs); what is not a UUID is left out.
    public var services: [BluetoothUUID]
    /// Which data it advertises.
    public var adverts: Set<AdvertisedData>
    /// The octets of those data, as far as they are known; to tell by which profile it can be read.
    public var data: [AdvertisedData: [UInt8]] = [:]
    /// Whether BlueZ keeps a bond with it; where BlueZ does not tell, whether it is paired.
    public var isBonded: Bool
    /// Whether BlueZ has a link to it now.
    public var isConnected: Bool
    /// BlueZ's name of the adapter that heard it, such as `hci0`.
    public var adapter: String

    /// Describes one as somebody heard it.
    public init(
        address: BluetoothAddress, addressIsDurable: Bool, name: String?, strength: Int?, services: [BluetoothUUID],
        adverts: Set<AdvertisedData>, isBonded: Bool, isConnected: Bool, adapter: String
    ) {
        (self.address, self.addressIsDurable, self.name, self.strength) = (address, addressIsDurable, name, strength)
        (self.services, self.adverts, self.isBonded) = (services, adverts, isBonded)
        (self.isConnected, self.adapter) = (isConnected, adapter)
    }
}

extension BlueZSource {
    /// Lists what is near, strongest first, after listening for that long. Reads nothing of it but its advertisement.
    public func scan(_ duration: Duration, completion: @escaping ([NearbyDevice]) -> Void) {
        beginScan()
        bus.loop.after(duration) { [weak self] in
            guard let self else { return completion([]) }
            // What was found is told whatever becomes of stopping the discovery (story 3).
            let found = nearby
            endScan()
            completion(found)
        }
    }

    /// Listens until something near is what is wanted, at most that long.
    public func find(
        within limit: Duration, where isWanted: @escaping (NearbyDevice) -> Bool, completion: @escaping (NearbyDevice?) -> Void
    ) {
        beginScan()
        look(until: bus.loop.clock.uptime + limit, where: isWanted) { [weak self] device in
            self?.endScan()
            completion(device)
        }
    }

    private func look(
        until end: Duration, where isWanted: @escaping (NearbyDevice) -> Bool, completion: @escaping (NearbyDevice?) -> Void
    ) {
        if let device = nearby.first(where: isWanted) { return completion(device) }
        guard bus.loop.clock.uptime < end else { return completion(nil) }
        // Only a person who waits calls this: some looks a second are no polling that anybody notices.
        bus.loop.after(.milliseconds(250)) { [weak self] in
            self?.look(until: end, where: isWanted, completion: completion)
        }
    }

    /// What was heard since the last scan began.
    public var nearby: [NearbyDevice] {
        let found = tree.objects.compactMap { path, interfaces -> NearbyDevice? in
            guard let properties = interfaces[BlueZ.device],
                let address = properties["Address"]?.text.flatMap({ BluetoothAddress($0) }),
                properties["RSSI"] != nil || properties["Connected"]?.truth == true || scanned.contains(path)
            else { return nil }
            let bonded = properties["Bonded"]?.truth ?? properties["Paired"]?.truth ?? false
            let data = AdvertisedData.all(in: properties)
            var device = NearbyDevice(
                address: address,
                addressIsDurable: DeviceInformation.isDurable(address, type: properties["AddressType"]?.text, bonded: bonded),
                name: properties["Name"]?.text, strength: properties["RSSI"]?.integer.map { Int($0) },
                services: (properties["UUIDs"]?.texts ?? []).compactMap { BluetoothUUID($0) },
                adverts: Set(data.keys), isBonded: bonded,
                isConnected: properties["Connected"]?.truth ?? false,
                adapter: String((properties["Adapter"]?.text ?? "").split(separator: "/").last ?? ""))
            device.data = data
            return device
        }
        return found.sorted { ($0.strength ?? .min, $1.address) > ($1.strength ?? .min, $0.address) }
    }

    func path(of address: BluetoothAddress) -> String? {
        tree.objects.first { $0.value[BlueZ.device]?["Address"]?.text == address.description }?.key
    }
}
