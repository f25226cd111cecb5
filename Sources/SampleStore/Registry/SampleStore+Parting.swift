extension SampleStore {
    /// From now on the device goes by a key of its own: another one says the same of itself, so that both were taken for one. What is stored
    /// stays where it is.
    ///
    /// - Returns: the key, which is made of the common one and the address, so that it is the same in every store.
    /// - Throws: ``StoreError`` where no such device is adopted, or no other one goes by its key.
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
            // Where it was merged again after an earlier parting.
            try connection.run("DELETE FROM device_alias WHERE old = ?", .text(own))
            try connection.run("UPDATE device SET own_key = ? WHERE address = ?", .text(own), .text(address))
            return own
        }
    }
}
