import EventLoopKit

/// Values that BlueZ delivers before the hub knows the device's services. After a link loss BlueZ enables notifications again by itself and
/// confirms stored values, which the device then does not send again.
extension DeviceSession {
    struct EarlyValue {
        var path: String
        /// The characteristic at this path in BlueZ's table when the value arrived.
        var name: CharacteristicName?
        var value: [UInt8]
        var received: Duration
    }

    /// More than a device stores. Further values are passed on as doubtful at once.
    private static let maximumEarlyValues = 1024

    func didReceiveEarlyValue(_ path: String, _ value: [UInt8]) {
        guard machine.state != .stopped, !machine.lacksBond else { return }
        let name = host.tree.characteristic(at: path)
        // A value that no profile requested belongs to another program.
        if let name, !isWanted(name) { return }
        early.append(EarlyValue(path: path, name: name, value: value, received: loop.clock.uptime))
        if early.count >= Self.maximumEarlyValues { return handOnEarly(isKnown: false) }
        guard earlyTimer == nil else { return }
        earlyTimer = loop.after(Self.maximumBufferTime) { [weak self] in self?.handOnEarly(isKnown: false) }
    }

    /// Passes on the early values. If the table is known, it determines their characteristics. If it is not, or if it has another
    /// characteristic at that path, a value is marked as doubtful and the hub quarantines it.
    func handOnEarly(isKnown: Bool) {
        earlyTimer?.cancel()
        earlyTimer = nil
        let values = early
        early = []
        for value in values {
            let name = isKnown ? table.names[value.path] : nil
            if let name, value.name == nil || value.name == name {
                if isWanted(name) { notified(name, value.value, received: value.received) }
            } else {
                deliver(
                    "gatt:\(value.name.map { "\($0.characteristic)" } ?? "")\(Self.doubtful)", value.value,
                    received: value.received)
            }
        }
    }

    /// The end of the channel's name for a frame that may belong to another characteristic.
    static let doubtful = "?"
}

extension ObjectTree {
    func characteristic(at path: String) -> CharacteristicName? {
        guard let properties = self[path: path, interface: BlueZ.characteristic],
            let uuid = properties["UUID"]?.text.flatMap({ BluetoothUUID($0) }), let service = properties["Service"]?.text,
            let serviceUUID = self[path: service, interface: BlueZ.gattService]?["UUID"]?.text.flatMap({ BluetoothUUID($0) })
        else { return nil }
        return CharacteristicName(serviceUUID, uuid)
    }
}
