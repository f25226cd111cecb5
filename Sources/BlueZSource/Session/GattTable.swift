/// A connected device's characteristics, from BlueZ's tree.
struct GattTable: Equatable {
    struct Characteristic: Equatable {
        var path: String
        var flags: Set<String>
        /// Whether AcquireNotify works. BlueZ has the property only in that case (org.bluez.GattCharacteristic1, NotifyAcquired).
        var offersDescriptor: Bool
    }

    private(set) var characteristics: [CharacteristicName: Characteristic] = [:]
    private(set) var names: [String: CharacteristicName] = [:]

    init() {}

    /// Returns the names of all characteristics with the same path as in another table.
    func unchangedNames(from other: GattTable) -> Set<CharacteristicName> {
        Set(characteristics.filter { other.characteristics[$0.key]?.path == $0.value.path }.keys)
    }

    /// Removes an object that BlueZ has removed.
    /// - Returns: the characteristic that was used at this path.
    mutating func remove(_ path: String) -> CharacteristicName? {
        guard let name = names.removeValue(forKey: path), characteristics[name]?.path == path else { return nil }
        characteristics[name] = nil
        return name
    }

    init(of device: String, in tree: ObjectTree) {
        let prefix = device + "/"
        for (path, interfaces) in tree.objects where path.hasPrefix(prefix) {
            guard let properties = interfaces[BlueZ.characteristic],
                let uuid = properties["UUID"]?.text.flatMap({ BluetoothUUID($0) }),
                let service = properties["Service"]?.text,
                let serviceUUID = tree[path: service, interface: BlueZ.gattService]?["UUID"]?.text.flatMap({ BluetoothUUID($0) })
            else { continue }
            let name = CharacteristicName(serviceUUID, uuid)
            names[path] = name
            // Of several instances, use the one with the lowest handle. The others are still received by their path.
            if let other = characteristics[name], other.path < path { continue }
            characteristics[name] = Characteristic(
                path: path, flags: Set(properties["Flags"]?.texts ?? []), offersDescriptor: properties["NotifyAcquired"] != nil)
        }
    }
}
