/// A connected device's characteristics, as BlueZ's tree shows them.
struct GattTable: Equatable {
    struct Characteristic: Equatable {
        var path: String
        var flags: Set<String>
        /// BlueZ has the property only where AcquireNotify works (org.bluez.GattCharacteristic1, NotifyAcquired).
        var offersDescriptor: Bool
    }

    private(set) var characteristics: [CharacteristicName: Characteristic] = [:]
    private(set) var names: [String: CharacteristicName] = [:]

    init() {}

    /// The names of all characteristics that are where they are in another table.
    func kept(from other: GattTable) -> Set<CharacteristicName> {
        Set(characteristics.filter { other.characteristics[$0.key]?.path == $0.value.path }.keys)
    }

    /// Forgets an object that BlueZ has taken away.
    /// - Returns: The characteristic that was used there.
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
            // Of several instances the first, in the order of their handles; the others are still heard by their path.
            if let other = characteristics[name], other.path < path { continue }
            characteristics[name] = Characteristic(
                path: path, flags: Set(properties["Flags"]?.texts ?? []), offersDescriptor: properties["NotifyAcquired"] != nil)
        }
    }
}
