import HealthModel

/// What a reader of a device has to know after a restart, as text that only the reader understands.
public struct DeviceState: Hashable, Sendable {
    /// The device's address.
    public var address: String
    /// When the reader heard the device last.
    public var heard: Instant
    /// At most ``maximum`` bytes.
    public var text: String

    /// More is not stored: a device that sends so much that has to be remembered does no harm.
    public static let maximum = 65_536

    /// A state of its parts.
    public init(address: String, heard: Instant, text: String) {
        (self.address, self.heard, self.text) = (address, heard, text)
    }
}

extension SampleStore {
    private static let prefix = "device state "

    /// The state that was stored last for a device, whether it is adopted or not.
    public func state(ofDevice address: String) throws(StoreError) -> DeviceState? {
        guard let value = try connection.text("SELECT value FROM setting WHERE name = ?", .text(Self.prefix + address)),
            let end = value.firstIndex(of: " "), let heard = Int64(value[..<end])
        else { return nil }
        return DeviceState(
            address: address, heard: Instant(microseconds: heard), text: String(value[value.index(after: end)...]))
    }

    /// Stores the state of a device. Inside a transaction it is durable with the samples.
    ///
    /// - Parameter isReplay: a state of a later time stays.
    public func save(_ state: DeviceState, isReplay: Bool = false) throws(StoreError) {
        guard state.text.utf8.count <= DeviceState.maximum else { return }
        if isReplay, let stored = try self.state(ofDevice: state.address), stored.heard > state.heard { return }
        try connection.run(
            "INSERT OR REPLACE INTO setting VALUES(?, ?)", .text(Self.prefix + state.address),
            .text("\(state.heard.microseconds) \(state.text)"))
    }

    /// Stores the states of devices in one transaction.
    public func save(_ states: [DeviceState], isReplay: Bool = false) throws {
        guard !states.isEmpty else { return }
        try connection.transaction { for state in states { try save(state, isReplay: isReplay) } }
    }

    /// Forgets the states of all devices, which hold values.
    func forgetDeviceStates() throws(StoreError) {
        try connection.run("DELETE FROM setting WHERE name >= ? AND name < ?", .text(Self.prefix), .text(Self.prefix + "\u{7F}"))
    }
}
