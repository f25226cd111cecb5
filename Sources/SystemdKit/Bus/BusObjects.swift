import CSystemd
import EventLoopKit

/// The full name of a method.
package struct BusMethod: Hashable, Sendable {
    /// The bus name of the service, such as `org.bluez`.
    package var destination: String
    /// The path of the object, such as `/org/bluez/hci0`.
    package var path: String
    /// The interface that has the method, such as `org.bluez.Adapter1`.
    package var interface: String
    /// The method's own name, such as `StartDiscovery`.
    package var member: String

    /// Creates a name in D-Bus's order: service, object, interface, method.
    package init(_ destination: String, _ path: String, _ interface: String, _ member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }
}

package struct BusSignal {
    /// The sender's bus name, to compare with the owner of a service, or empty if the message has none.
    package let sender: String
    package let path: String
    package let interface: String
    /// The signal's own name, such as `PropertiesChanged`.
    package let member: String
    /// The arguments. A signal whose arguments cannot be read is dropped.
    package let arguments: [BusValue]
}

/// One reference to a slot. sd-bus calls its handler while it lives.
final class BusSlot {
    private var pointer: OpaquePointer?
    private let counters: BusCounters

    init(owning pointer: OpaquePointer, counters: BusCounters) {
        self.pointer = pointer
        self.counters = counters
        counters.slots += 1
    }

    deinit { release() }

    func release() {
        guard let pointer else { return }
        sd_bus_slot_unref(pointer)
        self.pointer = nil
        counters.slots -= 1
    }
}

protocol SlotHolder: AnyObject {
    var slot: BusSlot? { get set }
}

/// A pending call. The bus owns it until it is answered.
package final class BusCall {
    var slot: BusSlot?
    var timer: EventLoop.Timer?
    private weak var bus: SystemBus?
    private var completion: ((Result<BusMessage, BusError>) -> Void)?

    init(bus: SystemBus, completion: @escaping (Result<BusMessage, BusError>) -> Void) {
        self.bus = bus
        self.completion = completion
    }

    /// Cancels the call. Its answer is not delivered.
    package func cancel() {
        completion = nil
        finish(.failure(.disconnected))
    }

    func answered(_ reply: OpaquePointer?) {
        guard let bus, let message = BusMessage(lent: reply, counters: bus.counters) else { return }
        finish(message.error.map { .failure($0) } ?? .success(message))
    }

    func finish(_ answer: Result<BusMessage, BusError>) {
        let completion = completion
        self.completion = nil
        timer?.cancel()
        timer = nil
        slot?.release()
        slot = nil
        // The bus holds the last reference, so keep the call alive until the answer is delivered.
        withExtendedLifetime(self) {
            bus?.forget(self)
            completion?(answer)
        }
    }
}

/// A subscription to signals. It lasts as long as this object.
package final class BusSubscription: SlotHolder {
    var slot: BusSlot?
    private let counters: BusCounters
    private let handler: (BusSignal) -> Void

    init(counters: BusCounters, handler: @escaping (BusSignal) -> Void) {
        self.counters = counters
        self.handler = handler
    }

    func received(_ pointer: OpaquePointer?) {
        guard let message = BusMessage(lent: pointer, counters: counters) else { return }
        // A signal that cannot be read has an undocumented form, and signals have no reply.
        guard let arguments = try? message.arguments() else { return }
        handler(
            BusSignal(
                sender: message.sender, path: message.path, interface: message.interface, member: message.member,
                arguments: arguments))
    }
}

/// An exported object. It answers calls as long as this object lives.
package final class BusExport: SlotHolder {
    var slot: BusSlot?
    private weak var bus: SystemBus?
    private let handler: (IncomingCall) -> Void

    init(bus: SystemBus, handler: @escaping (IncomingCall) -> Void) {
        self.bus = bus
        self.handler = handler
    }

    func received(_ pointer: OpaquePointer?) -> Int32 {
        guard let bus, let message = BusMessage(lent: pointer, counters: bus.counters), message.isMethodCall else { return 0 }
        guard let arguments = try? message.arguments() else { return 0 }
        handler(IncomingCall(message: message, bus: bus, arguments: arguments))
        return 1
    }
}

/// A call to an exported object. It is answered once. A call that is dropped without an answer is refused, so that no caller waits.
package final class IncomingCall {
    /// The caller's bus name, which distinguishes BlueZ from other programs, or empty if the message has none.
    package let sender: String
    /// The path of the called object: the exported one, or one below it.
    package let path: String
    /// The interface that has the method, or empty if the caller names none.
    package let interface: String
    /// The method's own name.
    package let member: String
    /// The arguments. Their number and types are not checked yet.
    package let arguments: [BusValue]
    private let message: BusMessage
    private weak var bus: SystemBus?
    private var answered = false

    init(message: BusMessage, bus: SystemBus, arguments: [BusValue]) {
        self.message = message
        self.bus = bus
        self.arguments = arguments
        sender = message.sender
        path = message.path
        interface = message.interface
        member = message.member
    }

    deinit {
        if !answered { fail(BusError("org.freedesktop.DBus.Error.Failed", "not answered")) }
    }

    /// Answers with these values. Does nothing if the call was already answered or the bus is gone.
    package func reply(_ values: [BusValue] = []) {
        guard !answered, let bus else { return }
        answered = true
        var fresh: OpaquePointer?
        guard sd_bus_message_new_method_return(message.pointer, &fresh) >= 0, let fresh else { return }
        let answer = BusMessage(owning: fresh, counters: bus.counters)
        // If the caller is gone by now, no answer is needed.
        guard (try? answer.append(values)) != nil else { return }
        try? bus.send(answer)
    }

    /// Refuses the call. Does nothing if the call was already answered or the bus is gone.
    package func fail(_ error: BusError) {
        guard !answered, let bus else { return }
        answered = true
        error.name.withCString { name in
            error.message.withCString { text in
                var raw = sd_bus_error(name: name, message: text, _need_free: 0)
                var fresh: OpaquePointer?
                guard sd_bus_message_new_method_error(message.pointer, &fresh, &raw) >= 0, let fresh else { return }
                try? bus.send(BusMessage(owning: fresh, counters: bus.counters))
            }
        }
    }
}
