extension AdvertisedData {
    /// Returns a device's advertised data from its properties ServiceData (a{sv}) and ManufacturerData (a{qv}).
    static func all(in properties: ObjectTree.Properties) -> [AdvertisedData: [UInt8]] {
        var parts: [AdvertisedData: [UInt8]] = [:]
        for (name, value) in properties["ServiceData"]?.members ?? [:] {
            if let uuid = BluetoothUUID(name), let data = value.bytes { parts[.service(uuid)] = data }
        }
        if case .dictionary(_, _, let entries)? = properties["ManufacturerData"]?.unwrapped {
            for entry in entries {
                if case .uint16(let company) = entry.key, let data = entry.value.bytes { parts[.manufacturer(company)] = data }
            }
        }
        return parts
    }
}
