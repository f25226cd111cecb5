import EventLoopKit

/// Values that BlueZ hands on before the hub knows the device's services. After a link loss BlueZ enables notifications again by itself, and
/// confirms what the device kept: the device does not send it again.
extension DeviceSession {
    struct EarlyValue {
        var path: String
        /// What BlueZ's table had there when it came.
        var name: CharacteristicName?
        var value: [UInt8]
        var heard: Duration
    }

    /// More than a device keeps. What is more is handed on as doubtful, at once.
    private static let mostEarly = 1024

    func cameEarly(_ path: String, _ value: [UInt8]) {
        guard machine.state != .stopped, !machine.lacksBond else { return }
        let name = host.tree.characteristic(at: path)
        // What no program of ours asked for is another's.
        if let name, !isWanted(name) { return }
        early.append(EarlyValue(path: path, name: name, value: value, heard: loop.clock.uptime))
        if early.count >= Self.mostEarly { return handOnEarly(isKnown: false) }
        guard earlyTimer == nil else { return }
        earlyTimer = loop.after(Self.longestHold) { [weak self] in self?.handOnEarly(isKnown: false) }
    }

    /// Hands on what came before: where the table is known, as what the table says. Otherwise, and where the table has something else in
    /// its place, it is marked as doubtful, and the hub keeps it in quarantine.
    func handOnEarly(isKnown: Bool) {
        earlyTimer?.cancel()
        earlyTimer = nil
        let values = early
        early = []
        for value in values {
            let name = isKnown ? table.names[value.path] : nil
            if let name, value.name == nil || value.name == name {
                if isWanted(name) { notified(name, value.value, heard: value.heard) }
            } else {
                deliver(
                    "gatt:\(value.name.map { "\($0.characteristic)" } ?? "")\(Self.doubtful)", value.value, heard: value.heard)
            }
        }
    }

    /// Ends the channel of a frame that may not be what its name says.
    static let doubtful = "?"
}

extension ObjectTree {
    /// What the characteristic at a path is.
    func characteristic(at path: String) -> CharacteristicName? {
        guard let properties = self[path: path, interface: BlueZ.characteristic],
            let uuid = properties["UUID"]?.text.flatMap({ BluetoothUUID($0) }), let service = properties["Service"]?.text,
            let serviceUUID = self[path: service, interface: BlueZ.gattService]?["UUID"]?.text.flatMap({ BluetoothUUID($0) })
        else { return nil }
        return CharacteristicName(serviceUUID, uuid)
    }
}
