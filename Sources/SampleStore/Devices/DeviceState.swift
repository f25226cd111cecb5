import HealthModel

/// The state of a device's reader that must survive a restart, as text that only the reader understands.
public struct DeviceState: Hashable, Sendable {
    /// The device's address.
    public var address: String
    /// The last time when the reader received data from the device.
    public var lastReceived: Instant
    /// The state, at most ``maximum`` bytes.
    public var text: String

    /// The maximum length in bytes. A longer state is not stored, so a device that sends a lot of data does no harm.
    public static let maximum = 65_536

    /// Creates a state.
    public init(address: String, lastReceived: Instant, text: String) {
        (self.address, self.lastReceived, self.text) = (address, lastReceived, text)
    }
}

extension SampleStore.Devices {
    private static let prefix = "device state "

    /// Returns the last stored state of a device, whether the device is adopted or not.
    public func state(ofDevice address: String) throws(StoreError) -> DeviceState? {
        guard let value = try connection.settings.text(Self.prefix + address),
            let end = value.firstIndex(of: " "), let lastReceived = Int64(value[..<end])
        else { return nil }
        return DeviceState(
            address: address, lastReceived: Instant(microseconds: lastReceived), text: String(value[value.index(after: end)...]))
    }

    /// Stores the state of a device. Inside a transaction it becomes durable together with the samples.
    ///
    /// - Parameter isReplay: Whether a stored state with a later time is kept.
    public func save(_ state: DeviceState, isReplay: Bool = false) throws(StoreError) {
        guard state.text.utf8.count <= DeviceState.maximum else { return }
        if isReplay, let stored = try self.state(ofDevice: state.address), stored.lastReceived > state.lastReceived { return }
        try connection.settings.set(Self.prefix + state.address, to: .text("\(state.lastReceived.microseconds) \(state.text)"))
    }

    /// Stores the states of devices in one transaction.
    public func save(_ states: [DeviceState], isReplay: Bool = false) throws {
        guard !states.isEmpty else { return }
        try connection.transaction { for state in states { try save(state, isReplay: isReplay) } }
    }

    /// Removes the states of all devices, because they contain measured values.
    func forgetDeviceStates() throws(StoreError) { try connection.settings.removeAll(withPrefix: Self.prefix) }
}
