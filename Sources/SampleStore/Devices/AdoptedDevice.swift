import HealthModel

/// A device that a person has adopted. Only adopted devices are read.
public struct AdoptedDevice: Hashable, Sendable {
    /// The address of the device, such as `bluetooth:C0:01:02:03:04:01`.
    public var address: String
    /// The key that identities are computed with. It is the address until the device has identified itself.
    public var key: String
    /// The profiles that read the device.
    public var profiles: [String]
    /// The name for display.
    public var name: String
    /// The subject of its readings: a UUID or ``Origin/unassigned``.
    public var person: String
    /// The people who share the device, distinguished by weight. The device then has no single owner.
    /// ``SampleStore/assign(device:to:sharedBy:users:)`` sets it.
    public var sharedBy: [SharedUse] = []
    /// The users that the device distinguishes by its own numbers. ``SampleStore/assign(device:to:sharedBy:users:)`` sets it.
    public var users: [ScaleUser] = []
    /// The subjects of all people who share the device, by weight or by number.
    public var sharers: Set<String> { Set(sharedBy.map(\.person) + users.map(\.person)) }
    /// The time of adoption, in microseconds since 1970.
    public var adopted: Int64
    /// The device's description of itself, or `nil` until it was received. Its key is ``key``.
    public var device: Device?
    /// The last stored record that was collected, if the device numbers its records.
    public var lastRecord: LastRecord?
    /// Whether the device has delivered readings before. If it then refuses a connection, the bond is broken rather than missing.
    public var hasDelivered = false
    /// The key for its encrypted advertisements, in hexadecimal.
    public var bindKey: String?
    /// The counter of the last accepted encrypted frame. Frames with a counter that is not higher are repeats. Adopting the device again
    /// with its key resets it to `nil`, because a device counts from 0 again after a battery change.
    public var counter: Int64?
    /// A separate key that a person assigned because another device reports the same identity. ``SampleStore/part(device:)`` sets it.
    public var ownKey: String?
    /// The key under which its readings are stored, unless that key was merged into another one.
    public var storageKey: String { ownKey ?? key }

    /// The name for people. If there is none, it is the model or the address.
    public var displayName: String { name.isEmpty ? device?.model ?? address : name }

    /// The stored record that was read last.
    public struct LastRecord: Hashable, Sendable {
        public var number: Int64
        /// Distinguishes the record from another one with the same number after the device was reset.
        public var fingerprint: Int64
        /// The number of records that the device had at that time.
        public var count: Int64?

        public init(number: Int64, fingerprint: Int64, count: Int64?) {
            self.number = number
            self.fingerprint = fingerprint
            self.count = count
        }
    }

    /// Creates a device at its adoption.
    public init(address: String, key: String, profiles: [String], name: String, person: String, adopted: Int64) {
        self.address = address
        self.key = key
        self.profiles = profiles
        self.name = name
        self.person = person
        self.adopted = adopted
    }
}

extension SampleStore.Devices {
    /// The columns that the device itself determines, as opposed to those that a person decides.
    private static let memoryColumns = [
        "key", "known", "device_name", "manufacturer", "model", "serial", "hardware", "firmware", "software", "udi",
        "record_number",
        "record_fingerprint", "record_count", "delivered", "counter",
    ]
    private static let deviceColumns =
        ["address", "profiles", "name", "subject", "adopted", "bind_key"] + memoryColumns + ["own_key"]

    /// Returns the adopted devices, oldest first.
    public func adopted() throws(StoreError) -> [AdoptedDevice] {
        var devices = try connection.list(
            "SELECT \(Self.deviceColumns.joined(separator: ", ")) FROM device ORDER BY adopted, address"
        ) { row in
            let key = row.text(6)
            var device = AdoptedDevice(
                address: row.text(0), key: key, profiles: row.text(1).split(separator: " ").map(String.init),
                name: row.text(2), person: row.text(3), adopted: row.integer(4))
            device.bindKey = row.optionalText(5)
            if row.integer(7) != 0 {
                device.device = Device(
                    key: key, name: row.optionalText(8), manufacturer: row.optionalText(9),
                    model: row.optionalText(10), serial: row.optionalText(11), hardware: row.optionalText(12),
                    firmware: row.optionalText(13), software: row.optionalText(14), udi: row.optionalText(15))
            }
            if let number = row.optionalInteger(16) {
                device.lastRecord = AdoptedDevice.LastRecord(
                    number: number, fingerprint: row.integer(17), count: row.optionalInteger(18))
            }
            device.hasDelivered = row.integer(19) != 0
            device.counter = row.optionalInteger(20)
            device.ownKey = row.optionalText(21)
            return device
        }
        for index in devices.indices {
            devices[index].sharedBy = try sharedUses(of: devices[index].address)
            devices[index].users = try scaleUsers(of: devices[index].address)
        }
        return devices
    }

    private static func memory(of device: AdoptedDevice) -> [Value] {
        let described = device.device
        return [
            .text(device.key), .integer(described == nil ? 0 : 1), .optional(described?.name), .optional(described?.manufacturer),
            .optional(described?.model), .optional(described?.serial), .optional(described?.hardware),
            .optional(described?.firmware),
            .optional(described?.software), .optional(described?.udi), .optional(device.lastRecord?.number),
            .optional(device.lastRecord?.fingerprint), .optional(device.lastRecord?.count), .integer(device.hasDelivered ? 1 : 0),
            .optional(device.counter),
        ]
    }

    /// Adopts a device, or updates it if it is already adopted.
    public func save(_ device: AdoptedDevice) throws {
        let keys = Self.deviceColumns.map { _ in "?" }.joined(separator: ", ")
        try connection.transaction {
            try connection.run(
                "INSERT OR REPLACE INTO device(\(Self.deviceColumns.joined(separator: ", "))) VALUES(\(keys))",
                [
                    .text(device.address), .text(device.profiles.joined(separator: " ")), .text(device.name),
                    .text(device.person), .integer(device.adopted), .optional(device.bindKey),
                ] + Self.memory(of: device) + [.optional(device.ownKey)])
            // The device now belongs to one person.
            guard device.person != Origin.unassigned else { return }
            try forgetUsers(of: device.address)
        }
    }

    /// Stores the properties that the device itself determines. It does not change what a person decided, and does nothing if the device is
    /// no longer adopted.
    public func remember(_ device: AdoptedDevice) throws(StoreError) {
        // If the device was adopted again in the meantime, the counter of that adoption is kept.
        let assignments = Self.memoryColumns.map {
            $0 == "counter" ? "counter = CASE adopted WHEN ? THEN ? ELSE counter END" : "\($0) = ?"
        }.joined(separator: ", ")
        try connection.run(
            "UPDATE device SET \(assignments) WHERE address = ?",
            Self.memory(of: device).dropLast() + [.integer(device.adopted), .optional(device.counter), .text(device.address)])
    }

    /// Removes an adopted device with its alerts. Its samples stay.
    ///
    /// - Throws: ``StoreError`` if no device has this address.
    public func forget(device address: String) throws {
        try connection.transaction {
            try connection.run("DELETE FROM device WHERE address = ?", .text(address))
            guard connection.changes > 0 else { throw StoreError(.invalid, "no device \(address) is adopted") }
            try forgetUsers(of: address)
            try store.alerts.remove(ofDevice: address)
        }
    }

    /// Returns the device keys that were merged into other keys, with the keys they were merged into.
    public func aliases() throws(StoreError) -> [String: String] {
        Dictionary(try connection.list("SELECT old, new FROM device_alias") { ($0.text(0), $0.text(1)) }) { $1 }
    }

    /// Returns the keys of all devices that are adopted, have delivered readings, or were merged.
    public func keys() throws(StoreError) -> [String] {
        try connection.list(
            """
            \(SeriesTable.deviceKeys) UNION SELECT coalesce(own_key, key) FROM device
            UNION SELECT old FROM device_alias
            UNION SELECT new FROM device_alias ORDER BY 1
            """
        ) { $0.text(0) }
    }

    /// Returns the keys under which the readings of an adopted device are stored. Empty if no device has this address.
    public func keys(of address: String) throws(StoreError) -> [String] {
        guard let device = try adopted().first(where: { $0.address == address }) else { return [] }
        // Until a device has identified itself, its address is its key.
        return Set([address, device.storageKey, try aliases()[device.storageKey] ?? device.storageKey]).sorted()
    }

    /// Returns the display names of the adopted devices by their addresses. A device without a name is named by its model or its address.
    public func names() throws(StoreError) -> [String: String] {
        Dictionary(try adopted().map { ($0.address, $0.displayName) }) { first, _ in first }
    }

    /// Returns the adopted devices whose readings are a person's, also together with other people.
    public func adopted(usedBy person: String) throws(StoreError) -> [AdoptedDevice] {
        try adopted().filter { $0.person == person || $0.sharers.contains(person) }
    }

    /// Stores future readings of the device key `new` under the key `old`, which its earlier readings have.
    public func merge(device new: String, into old: String) throws {
        guard new != old else { throw StoreError(.invalid, "a device cannot be merged into itself") }
        try connection.transaction {
            // Keys that were merged into the new key are redirected too, so that one lookup always finds the final key.
            let target = try connection.text("SELECT new FROM device_alias WHERE old = ?", .text(old)) ?? old
            guard target != new else { throw StoreError(.invalid, "\(old) is already merged into \(new)") }
            try connection.run("UPDATE device_alias SET new = ? WHERE new = ?", .text(target), .text(new))
            try connection.run("INSERT OR REPLACE INTO device_alias(old, new) VALUES(?, ?)", .text(new), .text(target))
        }
    }

    /// Whether a device is assigned to a person alone.
    func isOwner(_ person: String) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM device WHERE subject = ? LIMIT 1", .text(person)) != nil
    }

    /// Sets the person that a device is assigned to.
    ///
    /// - Throws: ``StoreError`` if no device has this address.
    func set(owner person: String, of address: String) throws(StoreError) {
        try connection.run("UPDATE device SET subject = ? WHERE address = ?", .text(person), .text(address))
        guard connection.changes > 0 else { throw StoreError(.invalid, "no device \(address) is adopted") }
    }

    /// Assigns a separate key to a device that reports the same identity as another one, so that both had been treated as one device.
    /// Stored samples keep the common key.
    ///
    /// - Returns: The key. It consists of the common key and the address, so it is the same in every store.
    /// - Throws: ``StoreError`` if no such device is adopted, or no other adopted device has its key.
    @discardableResult
    public func part(device address: String) throws -> String {
        try connection.transaction {
            let (devices, aliases) = (try adopted(), try aliases())
            guard let device = devices.first(where: { $0.address == address }) else {
                throw StoreError(.invalid, "no device \(address) is adopted")
            }
            let key = aliases[device.storageKey] ?? device.storageKey
            guard devices.contains(where: { $0.address != address && (aliases[$0.storageKey] ?? $0.storageKey) == key }) else {
                throw StoreError(.invalid, "no other adopted device reports the identity \(key), so there is nothing to separate")
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
