import SystemdKit

/// Names of BlueZ's D-Bus interface (doc/org.bluez.*.rst).
enum BlueZ {
    static let service = "org.bluez"
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let gattService = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    static let battery = "org.bluez.Battery1"
    static let agentManager = "org.bluez.AgentManager1"
    static let agent = "org.bluez.Agent1"
    static let properties = "org.freedesktop.DBus.Properties"
}

extension BusMethod {
    static func adapter(_ path: String, _ member: String) -> BusMethod { BusMethod(BlueZ.service, path, BlueZ.adapter, member) }
    static func device(_ path: String, _ member: String) -> BusMethod { BusMethod(BlueZ.service, path, BlueZ.device, member) }
    static func characteristic(_ path: String, _ member: String) -> BusMethod {
        BusMethod(BlueZ.service, path, BlueZ.characteristic, member)
    }
    static func agentManager(_ member: String) -> BusMethod {
        BusMethod(BlueZ.service, "/org/bluez", BlueZ.agentManager, member)
    }
}

extension SystemBus {
    func set(
        _ path: String, _ interface: String, _ name: String, _ value: BusValue,
        completion: @escaping (Result<[BusValue], BusError>) -> Void = { _ in }
    ) {
        call(
            BusMethod(BlueZ.service, path, BlueZ.properties, "Set"), [.string(interface), .string(name), .variant(value)],
            completion: completion)
    }
}

extension Result where Success == [BusValue], Failure == BusError {
    var failure: BusError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
