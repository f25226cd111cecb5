import CSystemd
import EventLoopKit
import Glibc

@testable import BlueZSource
@testable import SystemdKit

/// The other end of a bus. It answers calls and sends signals as the input directs.
final class RandomBlueZ {
    static let addresses = ["C0:01:02:03:04:01", "C0:01:02:03:04:02", "C0:01:02:03:04:03"]

    private var values: RandomValues
    private let counters = BusCounters()
    private var pointer: OpaquePointer?
    /// Our ends of the sockets given out by AcquireNotify.
    private var pipes: [Descriptor] = []

    init(_ input: [UInt8]) { values = RandomValues(input) }

    deinit { sd_bus_close_unref(pointer) }

    var isSpent: Bool { values.isSpent }
    var isConnected: Bool { pointer != nil }

    func accept(from listener: Int32) {
        let number = Glibc.accept(listener, nil, nil)
        guard number >= 0 else { return }
        guard sd_bus_new(&pointer) >= 0, sd_bus_set_fd(pointer, number, number) >= 0 else {
            close(number)
            return hangUp()
        }
        sd_bus_set_server(pointer, 1, sd_id128_t(bytes: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
        sd_bus_negotiate_fds(pointer, 1)
        if sd_bus_start(pointer) < 0 { hangUp() }
    }

    private func hangUp() {
        sd_bus_close_unref(pointer)
        pointer = nil
    }

    // MARK: Calls

    /// Receives calls and answers them.
    func answer() {
        for _ in 0..<64 {
            var message: OpaquePointer?
            let result = sd_bus_process(pointer, &message)
            if let message { answer(BusMessage(owning: message, counters: counters)) }
            if result < 0 { hangUp() }
            if result <= 0 { return }
        }
    }

    private func answer(_ call: BusMessage) {
        guard call.isMethodCall else { return }
        switch call.member {
        case "Hello": reply(call, [.string(":1.1")])
        case "GetId": reply(call, [.string("0123456789abcdef")])
        case "AddMatch", "RemoveMatch": reply(call, [])
        default:
            switch values.next() {
            case 1: fail(call)
            case 2: reply(call, values.some())
            // Never.
            case 3: break
            default: respond(call)
            }
        }
    }

    private func respond(_ call: BusMessage) {
        switch call.member {
        case "GetManagedObjects": reply(call, [values.objects()])
        case "Connect", "Disconnect":
            reply(call, [])
            let isOn = BusValue.boolean(call.member == "Connect")
            for name in ["Connected", "ServicesResolved"] { change(call.path, BlueZ.device, [name: isOn]) }
        case "StartDiscovery", "StopDiscovery":
            reply(call, [])
            change(call.path, BlueZ.adapter, ["Discovering": .boolean(call.member == "StartDiscovery")])
        case "ReadValue": reply(call, [.bytes(values.bytes())])
        case "WriteValue":
            reply(call, [])
            // The answer of a control point: how many records there are, or that it is done.
            change(call.path, BlueZ.characteristic, ["Value": .bytes(values.flag() ? values.bytes() : [5, 0, 2, 0])])
        case "AcquireNotify":
            var ends: [Int32] = [-1, -1]
            guard
                socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
                    == 0
            else { return fail(call) }
            pipes.append(Descriptor(owning: ends[0]))
            reply(call, [.descriptor(Descriptor(owning: ends[1])), .uint16(values.flag() ? UInt16(values.next()) * 256 : 247)])
        default: reply(call, [])
        }
    }

    private func reply(_ call: BusMessage, _ arguments: [BusValue]) {
        var fresh: OpaquePointer?
        guard sd_bus_message_new_method_return(call.pointer, &fresh) >= 0, let fresh else { return }
        send(BusMessage(owning: fresh, counters: counters), arguments)
    }

    private func fail(_ call: BusMessage) {
        var raw = sd_bus_error(name: nil, message: nil, _need_free: 0)
        sd_bus_error_set(&raw, values.error(), values.flag() ? values.text() : "fuzz")
        defer { sd_bus_error_free(&raw) }
        var fresh: OpaquePointer?
        guard sd_bus_message_new_method_error(call.pointer, &fresh, &raw) >= 0, let fresh else { return }
        send(BusMessage(owning: fresh, counters: counters), [])
    }

    /// Values that sd-bus itself does not send (an invalid path, a text with a NUL) are not sent.
    private func send(_ message: BusMessage, _ arguments: [BusValue]) {
        guard (try? message.append(arguments)) != nil else { return }
        sd_bus_message_set_sender(message.pointer, BlueZ.service)
        sd_bus_send(pointer, message.pointer, nil)
    }

    // MARK: Signals

    /// Sends one unsolicited message.
    /// - Returns: the time that passes.
    func act() -> Duration {
        switch values.next() {
        case 1: change(values.path(), BlueZ.characteristic, ["Value": .bytes(values.bytes())])
        case 2: signal("/", "ObjectManager", "InterfacesAdded", [.path(values.path()), values.interfaces()])
        case 3:
            let names = (0...values.next() % 4).map { _ in BusValue.string(values.interface()) }
            signal("/", "ObjectManager", "InterfacesRemoved", [.path(values.path()), .array(of: "s", names)])
        case 4: change(values.path(), values.interface(), values.properties())
        case 5:
            let owner = values.flag() ? "" : ":1.\(values.next())"
            signal(
                "/org/freedesktop/DBus", "", "NameOwnerChanged", [.string(BlueZ.service), .string(""), .string(owner)],
                sender: "org.freedesktop.DBus")
        case 6:
            let members = ["InterfacesAdded", "InterfacesRemoved", "PropertiesChanged", "NameOwnerChanged"]
            let member = members[Int(values.next()) % members.count]
            signal(values.path(), member == "PropertiesChanged" ? "Properties" : "ObjectManager", member, values.some())
        case 7: return .seconds(Int(values.next()) * 4)
        case 8:
            let bytes = values.bytes()
            for pipe in pipes { _ = Glibc.send(pipe.number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
        case 9: pipes.removeAll()
        case 10: ask()
        case 11: hangUp()
        default: return .milliseconds(500)
        }
        return .zero
    }

    /// Calls the hub's agent.
    private func ask() {
        let members = [
            "RequestConfirmation", "RequestAuthorization", "RequestPasskey", "DisplayPasskey", "RequestPinCode", "Cancel",
            "Release",
            "AuthorizeService",
        ]
        var fresh: OpaquePointer?
        let member = members[Int(values.next()) % members.count]
        guard sd_bus_message_new_method_call(pointer, &fresh, nil, "/org/vitalgate/agent", BlueZ.agent, member) >= 0, let fresh
        else { return }
        let arguments = values.flag() ? values.some() : [.path(values.path()), .uint32(123_456)]
        send(BusMessage(owning: fresh, counters: counters), arguments)
    }

    private func change(_ path: String, _ interface: String, _ properties: [String: BusValue]) {
        signal(path, "Properties", "PropertiesChanged", [.string(interface), .options(properties), .array(of: "s", [])])
    }

    private func signal(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue], sender: String = BlueZ.service
    ) {
        var fresh: OpaquePointer?
        let full = "org.freedesktop.DBus" + (interface.isEmpty ? "" : "." + interface)
        guard sd_bus_message_new_signal(pointer, &fresh, path, full, member) >= 0, let fresh else { return }
        let message = BusMessage(owning: fresh, counters: counters)
        guard (try? message.append(arguments)) != nil else { return }
        sd_bus_message_set_sender(message.pointer, sender)
        sd_bus_send(pointer, message.pointer, nil)
    }
}
