/// A device in range, adopted or not.
package struct NearbyDevice: Hashable, Sendable {
    /// The current address (org.bluez.Device1, Address). It may change, see ``addressIsDurable``.
    package var address: BluetoothAddress
    /// Whether the address stays the same. Devices with other addresses need a bond before they can be adopted.
    package var addressIsDurable: Bool
    /// The name in BlueZ (org.bluez.Device1, Name), or nil.
    package var name: String?
    /// The signal strength in dBm.
    package var strength: Int?
    /// The services in BlueZ (org.bluez.Device1, UUIDs). Entries that are not UUIDs are omitted.
    package var services: [BluetoothUUID]
    package var adverts: Set<AdvertisedData>
    /// The bytes of that data, as far as they are known. They determine which profile can read the device.
    package var data: [AdvertisedData: [UInt8]] = [:]
    /// Whether BlueZ has a bond with it, or whether it is paired if BlueZ does not report bonds.
    package var isBonded: Bool
    /// Whether BlueZ has a link to it now.
    package var isConnected: Bool
    /// BlueZ's name of the adapter that heard it, such as `hci0`.
    package var adapter: String

    /// Creates a description of a device that was heard.
    package init(
        address: BluetoothAddress, addressIsDurable: Bool, name: String?, strength: Int?, services: [BluetoothUUID],
        adverts: Set<AdvertisedData>, isBonded: Bool, isConnected: Bool, adapter: String
    ) {
        (self.address, self.addressIsDurable, self.name, self.strength) = (address, addressIsDurable, name, strength)
        (self.services, self.adverts, self.isBonded) = (services, adverts, isBonded)
        (self.isConnected, self.adapter) = (isConnected, adapter)
    }
}

extension BlueZSource {
    /// Listens for this long and returns the devices in range, strongest first. Reads only advertisements.
    package func scan(_ duration: Duration, completion: @escaping ([NearbyDevice]) -> Void) {
        beginScan()
        bus.loop.after(duration) { [weak self] in
            guard let self else { return completion([]) }
            // Collect the devices first, so that a failure to stop discovery does not lose them (story 3).
            let found = nearby
            endScan()
            completion(found)
        }
    }

    /// Listens until a device in range meets the condition, or until the time limit.
    package func find(
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
        // Only interactive commands call this, so polling a few times a second is acceptable.
        bus.loop.after(.milliseconds(250)) { [weak self] in
            self?.look(until: end, where: isWanted, completion: completion)
        }
    }

    /// The devices heard since the last scan began.
    package var nearby: [NearbyDevice] {
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
