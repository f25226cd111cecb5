import CSystemd
import EventLoopKit

/// Which method of which object.
public struct BusMethod: Hashable, Sendable {
    /// The bus name of the service, such as `org.bluez`.
    public var destination: String
    /// The path of the object, such as `/org/bluez/hci0`.
    public var path: String
    /// The interface that has the method, such as `org.bluez.Adapter1`.
    public var interface: String
    /// The method's own name, such as `StartDiscovery`.
    public var member: String

    /// In the order in which D-Bus names a method: service, object, interface, method.
    public init(_ destination: String, _ path: String, _ interface: String, _ member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }
}

/// A signal that was heard.
public struct BusSignal {
    /// The bus name of who sent it, to compare with the owner of a service; empty where the message has none.
    public let sender: String
    /// The path of the object that sent it.
    public let path: String
    /// The interface that has the signal.
    public let interface: String
    /// The signal's own name, such as `PropertiesChanged`.
    public let member: String
    /// What it carries, all read; a signal whose arguments cannot be read is not told.
    public let arguments: [BusValue]
}

/// One reference to a slot: while it lives, sd-bus calls us.
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

/// A call under way. The bus owns it until it is answered.
public final class BusCall {
    var slot: BusSlot?
    var timer: EventLoop.Timer?
    private weak var bus: SystemBus?
    private var completion: ((Result<BusMessage, BusError>) -> Void)?

    init(bus: SystemBus, completion: @escaping (Result<BusMessage, BusError>) -> Void) {
        self.bus = bus
        self.completion = completion
    }

    /// Nobody waits for the answer any more; it is not delivered.
    public func cancel() {
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
        // The bus holds the last reference; it goes after the answer is given.
        withExtendedLifetime(self) {
            bus?.forget(self)
            completion?(answer)
        }
    }
}

/// Signals are heard as long as this lives.
public final class BusSubscription: SlotHolder {
    var slot: BusSlot?
    private let counters: BusCounters
    private let handler: (BusSignal) -> Void

    init(counters: BusCounters, handler: @escaping (BusSignal) -> Void) {
        self.counters = counters
        self.handler = handler
    }

    func received(_ pointer: OpaquePointer?) {
        guard let message = BusMessage(lent: pointer, counters: counters) else { return }
        // A signal that cannot be read is not what BlueZ documents; there is nobody to answer.
        guard let arguments = try? message.arguments() else { return }
        handler(
            BusSignal(
                sender: message.sender, path: message.path, interface: message.interface, member: message.member,
                arguments: arguments))
    }
}

/// An object of ours answers calls as long as this lives.
public final class BusExport: SlotHolder {
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

/// A call to an object of ours. It is answered once; one that is dropped without an answer is refused, so that no caller waits.
public final class IncomingCall {
    /// The bus name of who calls, to tell BlueZ from strangers; empty where the message has none.
    public let sender: String
    /// The object that is called: the exported one, or one below it.
    public let path: String
    /// The interface that has the method; empty where the caller names none.
    public let interface: String
    /// The method's own name.
    public let member: String
    /// What the caller gives, all read; their number and types are not checked yet.
    public let arguments: [BusValue]
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

    /// Answers with these values; does nothing where it was answered already or the bus is gone.
    public func reply(_ values: [BusValue] = []) {
        guard !answered, let bus else { return }
        answered = true
        var fresh: OpaquePointer?
        guard sd_bus_message_new_method_return(message.pointer, &fresh) >= 0, let fresh else { return }
        let answer = BusMessage(owning: fresh, counters: bus.counters)
        // A caller that is gone by now wants no answer.
        guard (try? answer.append(values)) != nil else { return }
        try? bus.send(answer)
    }

    /// Refuses the call; does nothing where it was answered already or the bus is gone.
    public func fail(_ error: BusError) {
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
