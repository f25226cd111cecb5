import HealthModel

/// A device whose readings a person wants: only these are read.
public struct AdoptedDevice: Hashable, Sendable {
    /// How it is reached, such as `bluetooth:C0:01:02:03:04:01`.
    public var address: String
    /// What identity is computed with; until the device has said who it is, the address.
    public var key: String
    /// The profiles that read it.
    public var profiles: [String]
    /// For people.
    public var name: String
    /// Whose readings they are: a UUID or ``Origin/unassigned``.
    public var subject: String
    /// Those who share it, told by their weight; it is nobody's alone then. ``SampleStore/assign(device:to:sharedBy:users:)`` sets it.
    public var sharedBy: [SharedUse] = []
    /// Those whom the device tells apart itself, by its numbers. ``SampleStore/assign(device:to:sharedBy:users:)`` sets it.
    public var users: [ScaleUser] = []
    /// All who share it: by their weights, or by its numbers.
    public var sharers: Set<String> { Set(sharedBy.map(\.subject) + users.map(\.subject)) }
    /// Microseconds since 1970.
    public var adopted: Int64
    /// What the device said of itself, once it did; its key is ``key``.
    public var device: Device?
    /// How far its stored records were collected, where it numbers them.
    public var lastRecord: LastRecord?
    /// It delivered before: that it no longer lets us in is then a broken bond, not a missing one.
    public var hasDelivered = false
    /// What its encrypted advertisements are opened with, in hexadecimal.
    public var bindKey: String?
    /// The counter of the last encrypted frame that was taken; what does not count higher was sent before. Adopting the device again with
    /// its key makes it `nil`, as a device counts from 0 again after a change of its battery.
    public var counter: Int64?
    /// A key that a person gave it, since another device says the same of itself. ``SampleStore/part(device:)`` sets it.
    public var ownKey: String?
    /// What its readings go by, unless that was merged into another key.
    public var goesBy: String { ownKey ?? key }

    /// The stored record read last.
    public struct LastRecord: Hashable, Sendable {
        public var number: Int64
        /// Tells it from another record with its number, after the device was reset.
        public var fingerprint: Int64
        /// How many the device had then.
        public var count: Int64?

        public init(number: Int64, fingerprint: Int64, count: Int64?) {
            self.number = number
            self.fingerprint = fingerprint
            self.count = count
        }
    }

    /// Describes a device as it is adopted.
    public init(address: String, key: String, profiles: [String], name: String, subject: String, adopted: Int64) {
        self.address = address
        self.key = key
        self.profiles = profiles
        self.name = name
        self.subject = subject
        self.adopted = adopted
    }
}

extension SampleStore {
    /// What the device itself makes known, apart from what a person decided.
    private static let memoryColumns = [
        "key", "known", "device_name", "manufacturer", "model", "serial", "hardware", "firmware", "software", "udi",
        "record_number",
        "record_fingerprint", "record_count", "delivered", "counter",
    ]
    private static let deviceColumns =
        ["address", "profiles", "name", "subject", "adopted", "bind_key"] + memoryColumns + ["own_key"]

    /// The adopted devices, oldest first.
    public func adoptedDevices() throws(StoreError) -> [AdoptedDevice] {
        let statement = try connection.statement(
            "SELECT \(Self.deviceColumns.joined(separator: ", ")) FROM device ORDER BY adopted, address")
        defer { statement.reset() }
        var devices: [AdoptedDevice] = []
        while try statement.step() {
            let key = statement.text(6)
            var device = AdoptedDevice(
                address: statement.text(0), key: key, profiles: statement.text(1).split(separator: " ").map(String.init),
                name: statement.text(2), subject: statement.text(3), adopted: statement.integer(4))
            device.bindKey = statement.optionalText(5)
            if statement.integer(7) != 0 {
                device.device = Device(
                    key: key, name: statement.optionalText(8), manufacturer: statement.optionalText(9),
                    model: statement.optionalText(10), serial: statement.optionalText(11), hardware: statement.optionalText(12),
                    firmware: statement.optionalText(13), software: statement.optionalText(14), udi: statement.optionalText(15))
            }
            if let number = statement.optionalInteger(16) {
                device.lastRecord = AdoptedDevice.LastRecord(
                    number: number, fingerprint: statement.integer(17), count: statement.optionalInteger(18))
            }
            device.hasDelivered = statement.integer(19) != 0
            device.counter = statement.optionalInteger(20)
            device.ownKey = statement.optionalText(21)
            devices.append(device)
        }
        for index in devices.indices {
            devices[index].sharedBy = try sharedUses(of: devices[index].address)
            devices[index].users = try scaleUsers(of: devices[index].address)
        }
        return devices
    }

    private static func memory(of device: AdoptedDevice) -> [Value] {
        let said = device.device
        return [
            .text(device.key), .integer(said == nil ? 0 : 1), .optional(said?.name), .optional(said?.manufacturer),
            .optional(said?.model), .optional(said?.serial), .optional(said?.hardware), .optional(said?.firmware),
            .optional(said?.software), .optional(said?.udi), .optional(device.lastRecord?.number),
            .optional(device.lastRecord?.fingerprint), .optional(device.lastRecord?.count), .integer(device.hasDelivered ? 1 : 0),
            .optional(device.counter),
        ]
    }

    /// Adopts a device, or changes what is known of it.
    public func save(_ device: AdoptedDevice) throws {
        let places = Self.deviceColumns.map { _ in "?" }.joined(separator: ", ")
        try connection.transaction {
            let statement = try connection.statement(
                "INSERT OR REPLACE INTO device(\(Self.deviceColumns.joined(separator: ", "))) VALUES(\(places))")
            defer { statement.reset() }
            try statement.bind(
                [
                    .text(device.address), .text(device.profiles.joined(separator: " ")), .text(device.name),
                    .text(device.subject), .integer(device.adopted), .optional(device.bindKey),
                ] + Self.memory(of: device) + [.optional(device.ownKey)])
            _ = try statement.step()
            // One person's from now on.
            guard device.subject != Origin.unassigned else { return }
            try forgetUsers(of: device.address)
        }
    }

    /// Keeps what the device made known; nothing where it was forgotten meanwhile, and nothing of what a person decides.
    public func remember(_ device: AdoptedDevice) throws(StoreError) {
        // It was adopted again meanwhile: it counts from there.
        let assignments = Self.memoryColumns.map {
            $0 == "counter" ? "counter = CASE adopted WHEN ? THEN ? ELSE counter END" : "\($0) = ?"
        }.joined(separator: ", ")
        let statement = try connection.statement("UPDATE device SET \(assignments) WHERE address = ?")
        defer { statement.reset() }
        let memory = Self.memory(of: device)
        try statement.bind(memory.dropLast() + [.integer(device.adopted), .optional(device.counter), .text(device.address)])
        _ = try statement.step()
    }

    /// Forgets a device; its samples stay.
    ///
    /// - Throws: ``StoreError`` where no device has this address.
    public func forget(device address: String) throws {
        try connection.transaction {
            try connection.run("DELETE FROM device WHERE address = ?", .text(address))
            guard connection.changes > 0 else { throw StoreError(.invalid, "no device \(address) is adopted") }
            try forgetUsers(of: address)
        }
    }

    /// Old device keys and the keys they were merged into.
    public func aliases() throws(StoreError) -> [String: String] {
        let statement = try connection.statement("SELECT old, new FROM device_alias")
        defer { statement.reset() }
        var aliases: [String: String] = [:]
        while try statement.step() { aliases[statement.text(0)] = statement.text(1) }
        return aliases
    }

    /// The keys of all devices that are adopted, or have delivered, or were merged.
    public func deviceKeys() throws(StoreError) -> [String] {
        let statement = try connection.statement(
            """
            SELECT device FROM series WHERE device <> '' UNION SELECT coalesce(own_key, key) FROM device
            UNION SELECT old FROM device_alias
            UNION SELECT new FROM device_alias ORDER BY 1
            """)
        defer { statement.reset() }
        var keys: [String] = []
        while try statement.step() { keys.append(statement.text(0)) }
        return keys
    }

    /// From now on readings of the device key `new` go by the key `old`, under which its earlier ones are stored.
    public func merge(device new: String, into old: String) throws {
        guard new != old else { throw StoreError(.invalid, "a device cannot be merged into itself") }
        try connection.transaction {
            // What was merged into the new key follows it, so that one step always leads to the last.
            let target = try connection.text("SELECT new FROM device_alias WHERE old = ?", .text(old)) ?? old
            guard target != new else { throw StoreError(.invalid, "\(old) is merged into \(new) already") }
            try connection.run("UPDATE device_alias SET new = ? WHERE new = ?", .text(target), .text(new))
            try connection.run("INSERT OR REPLACE INTO device_alias(old, new) VALUES(?, ?)", .text(new), .text(target))
        }
    }
}
