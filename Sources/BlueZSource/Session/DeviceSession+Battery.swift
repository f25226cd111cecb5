/// The battery level, which is read from every device that has one.
///
/// One level can arrive in three ways: as the answer to a read with its echo (``ReadEchoes``), as a notification, and as the property
/// `Percentage` of org.bluez.Battery1, which BlueZ's own reader of the service updates (profiles/battery). It is passed on once.
extension DeviceSession {
    static let batteryLevel = CharacteristicName(0x180F, 0x2A19)

    /// Uses BlueZ's reading of the level if the service itself reports nothing on this link.
    func batteryChanged() {
        guard isRead(Self.batteryLevel), machine.state == .live, let path,
            let level = host.tree[path: path, interface: BlueZ.battery]?["Percentage"]?.integer, let byte = UInt8(exactly: level)
        else { return }
        deliverBatteryLevel([byte], isOfService: false)
    }

    private func isRead(_ name: CharacteristicName) -> Bool {
        description.reads.contains(name) || description.subscriptions.contains(name) || description.accompaniments.contains(name)
    }

    /// The time within which equal levels count as one report, however they arrive. Up to 220 ms between the answer and its signal were
    /// observed.
    private static let together = Duration.seconds(2)

    func deliverBatteryLevel(_ value: [UInt8], isOfService: Bool) {
        let now = loop.clock.uptime
        if let battery, value == [battery.level] {
            if now - battery.received < Self.together {
                self.battery?.isOfService = battery.isOfService || isOfService
                return
            }
            // The other way repeats the level. Only the service itself may report a level twice.
            if !isOfService { return }
            if !battery.isOfService {
                self.battery?.isOfService = true
                return
            }
        }
        if let battery, battery.isOfService, !isOfService, machine.subscribed.contains(Self.batteryLevel) { return }
        if let level = value.first { battery = (level, isOfService, now) }
        deliver("gatt:2A19", value)
    }

    func deliverAccompaniment(_ name: CharacteristicName, _ value: [UInt8]) {
        if name == Self.batteryLevel { return deliverBatteryLevel(value, isOfService: true) }
        deliver("gatt:\(name.characteristic)", value)
    }

    func readAnswer(_ name: CharacteristicName, _ value: [UInt8]) {
        if name == Self.batteryLevel { return deliverBatteryLevel(value, isOfService: true) }
        deliver("gatt:\(name.characteristic)", value, isAhead: description.descriptions.contains(name))
    }
}
