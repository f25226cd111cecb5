extension SampleStore {
    /// Assigns a separate key to a device that reports the same identity as another one, so that both had been treated as one device.
    /// Stored samples keep the common key.
    ///
    /// - Returns: The key. It consists of the common key and the address, so it is the same in every store.
    /// - Throws: ``StoreError`` if no such device is adopted, or no other adopted device has its key.
    @discardableResult
    public func part(device address: String) throws -> String {
        try connection.transaction {
            let (devices, aliases) = (try adoptedDevices(), try aliases())
            guard let device = devices.first(where: { $0.address == address }) else {
                throw StoreError(.invalid, "no device \(address) is adopted")
            }
            let key = aliases[device.goesBy] ?? device.goesBy
            guard devices.contains(where: { $0.address != address && (aliases[$0.goesBy] ?? $0.goesBy) == key }) else {
                throw StoreError(.invalid, "no other adopted device goes by \(key), so there is nothing to part")
            }
            let own =
                device.ownKey ?? device.key + "/" + (address.split(separator: ":", maxSplits: 1).last.map(String.init) ?? address)
            // The key may have been merged after an earlier separation.
            try connection.run("DELETE FROM device_alias WHERE old = ?", .text(own))
            try connection.run("UPDATE device SET own_key = ? WHERE address = ?", .text(own), .text(address))
            return own
        }
    }
}
