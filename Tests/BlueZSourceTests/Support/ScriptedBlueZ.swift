import EventLoopKit
import Glibc
import SystemdKit

@testable import BlueZSource

/// An org.bluez on a private bus that follows a script, for situations that a real one cannot be brought into.
final class ScriptedBlueZ {
    typealias Properties = [String: BusValue]

    let bus: SystemBus
    var objects: [String: [String: Properties]] = [:]
    /// Calls heard, as `Interface.Member path`, without `GetManagedObjects`.
    private(set) var received: [String] = []
    /// Answers other than the usual: by member.
    var answers: [String: (IncomingCall) -> Void] = [:]
    /// Our ends of the sockets given out by AcquireNotify, by path.
    private(set) var sockets: [String: Descriptor] = [:]
    private(set) var notifying: Set<String> = []
    private(set) var isNamed = false
    private var export: BusExport?
    /// Calls that are never answered while the test runs.
    var ignored: [IncomingCall] = []

    /// The interface of questions that only the test asks.
    static let test = "org.vitalgate.Test"

    init(loop: EventLoop, address: String) {
        bus = SystemBus(loop: loop, address: .custom(address))
        bus.onConnected = { [weak self] in self?.connected() }
        bus.open()
    }

    private func connected() {
        export = bus.export("/", andBelow: true) { [weak self] in self?.answer($0) }
        let method = BusMethod("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName")
        bus.call(method, [.string("org.bluez"), .uint32(0)]) { [weak self] in self?.isNamed = $0.failure == nil }
    }

    /// The daemon is gone, with its objects and its sockets.
    func die() {
        export = nil
        sockets.removeAll()
        notifying.removeAll()
        isNamed = false
        bus.close()
    }

    func count(_ call: String) -> Int { received.count { $0.hasPrefix(call) } }

    // MARK: Objects

    static let adapterPath = "/org/bluez/hci0"

    func addAdapter(_ path: String = adapterPath, address: String = "00:00:00:00:00:01") {
        add(
            path,
            [
                BlueZ.adapter: [
                    "Address": .string(address), "Powered": .boolean(true), "Discovering": .boolean(false),
                ]
            ])
    }

    static func path(_ address: String) -> String { adapterPath + "/dev_" + address.replacing(":", with: "_") }

    func addDevice(_ address: String, _ more: Properties = [:]) {
        let defaultAnswer: Properties = [
            "Address": .string(address), "AddressType": .string("random"), "Adapter": .path(Self.adapterPath),
            "Connected": .boolean(false), "ServicesResolved": .boolean(false), "Paired": .boolean(false), "RSSI": .int16(-50),
        ]
        add(Self.path(address), [BlueZ.device: defaultAnswer.merging(more) { $1 }])
    }

    /// - Parameters:
    ///   - characteristics: number and flags.
    ///   - handle: the service's position in the device's table (default: derived from its number).
    func addService(_ address: String, _ service: UInt16, at handle: String? = nil, _ characteristics: [(UInt16, Properties)]) {
        let path = Self.path(address) + "/service" + (handle ?? String(service, radix: 16))
        add(path, [BlueZ.gattService: ["UUID": .string(BluetoothUUID(service).text)]])
        for (number, more) in characteristics {
            let defaultAnswer: Properties = ["UUID": .string(BluetoothUUID(number).text), "Service": .path(path)]
            add(path + "/char" + String(number, radix: 16), [BlueZ.characteristic: defaultAnswer.merging(more) { $1 }])
        }
    }

    func characteristic(_ address: String, _ service: UInt16, _ number: UInt16) -> String {
        Self.path(address) + "/service" + String(service, radix: 16) + "/char" + String(number, radix: 16)
    }

    func add(_ path: String, _ interfaces: [String: Properties]) {
        objects[path, default: [:]].merge(interfaces) { $1 }
        try? bus.emit(
            "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", [.path(path), Self.interfaces(interfaces)])
    }

    func remove(_ prefix: String) {
        for path in objects.keys.filter({ $0.hasPrefix(prefix) }).sorted(by: >) {
            let names = objects.removeValue(forKey: path)?.keys.map { BusValue.string($0) } ?? []
            try? bus.emit(
                "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", [.path(path), .array(of: "s", names)])
        }
    }

    func change(_ path: String, _ interface: String, _ properties: Properties) {
        objects[path]?[interface]?.merge(properties) { $1 }
        try? bus.emit(
            path, BlueZ.properties, "PropertiesChanged", [.string(interface), .options(properties), .array(of: "s", [])])
    }

    func connect(_ address: String) {
        change(Self.path(address), BlueZ.device, ["Connected": .boolean(true)])
        change(Self.path(address), BlueZ.device, ["ServicesResolved": .boolean(true)])
    }

    func disconnect(_ address: String) {
        let path = Self.path(address)
        sockets = sockets.filter { !$0.key.hasPrefix(path) }
        notifying = notifying.filter { !$0.hasPrefix(path) }
        change(path, BlueZ.device, ["ServicesResolved": .boolean(false), "Connected": .boolean(false)])
    }

    /// A notification by the method that was requested.
    func notify(_ path: String, _ bytes: [UInt8]) {
        if let socket = sockets[path] {
            _ = write(socket.number, bytes, bytes.count)
        } else if notifying.contains(path) {
            change(path, BlueZ.characteristic, ["Value": .bytes(bytes)])
        }
    }

    private static func interfaces(_ interfaces: [String: Properties]) -> BusValue {
        .dictionary(
            key: "s", value: "a{sv}", interfaces.sorted { $0.key < $1.key }.map { .init(.string($0.key), .options($0.value)) })
    }

    // MARK: Calls

    private func answer(_ call: IncomingCall) {
        if call.interface == Self.test { return call.reply() }
        if call.member == "GetManagedObjects" {
            if let answer = answers[call.member] { return answer(call) }
            let entries = objects.sorted { $0.key < $1.key }.map { BusValue.Entry(.path($0.key), Self.interfaces($0.value)) }
            return call.reply([.dictionary(key: "o", value: "a{sa{sv}}", entries)])
        }
        received.append("\(call.member) \(call.path)")
        if let answer = answers[call.member] { return answer(call) }
        defaultAnswer(call)
    }

    func defaultAnswer(_ call: IncomingCall) {
        switch call.member {
        case "StartDiscovery":
            call.reply()
            change(call.path, BlueZ.adapter, ["Discovering": .boolean(true)])
        case "StopDiscovery":
            call.reply()
            change(call.path, BlueZ.adapter, ["Discovering": .boolean(false)])
        case "Connect":
            let address = objects[call.path]?[BlueZ.device]?["Address"]?.text ?? ""
            call.reply()
            connect(address)
        case "Disconnect":
            call.reply()
            disconnect(objects[call.path]?[BlueZ.device]?["Address"]?.text ?? "")
        case "ReadValue": call.reply([objects[call.path]?[BlueZ.characteristic]?["Value"] ?? .bytes([])])
        case "StartNotify":
            notifying.insert(call.path)
            call.reply()
        case "StopNotify":
            notifying.remove(call.path)
            call.reply()
        case "AcquireNotify":
            var ends: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
            sockets[call.path] = Descriptor(owning: ends[0])
            call.reply([.descriptor(Descriptor(owning: ends[1])), .uint16(247)])
        case "Set":
            guard call.arguments.count == 3, let interface = call.arguments[0].text, let name = call.arguments[1].text else {
                return call.fail(.unexpected)
            }
            call.reply()
            change(call.path, interface, [name: call.arguments[2].unwrapped])
        default: call.reply()
        }
    }
}
