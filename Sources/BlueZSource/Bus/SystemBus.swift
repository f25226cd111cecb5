import CSystemd
import EventLoopKit
import Glibc

/// How many of sd-bus's objects are held; tests compare it before and after (story 11).
final class BusCounters {
    var messages = 0
    var slots = 0
}

/// A connection to D-Bus through sd-bus: calls that answer later, signals, exported objects. It opens itself again when the bus goes away.
///
///     let bus = SystemBus(loop: loop)
///     bus.onConnected = { bus.call(.adapter("/org/bluez/hci0", "StartDiscovery")) { answer in … } }
///     bus.open()
public final class SystemBus: EventLoop.Poller {
    /// Which bus to connect to.
    public enum Address: Sendable, Equatable {
        /// The machine's, or what DBUS_SYSTEM_BUS_ADDRESS names.
        case system
        /// Such as `unix:path=/run/dbus/system_bus_socket`.
        case custom(String)
    }

    /// On whose thread everything is called and answered.
    public let loop: EventLoop
    /// After each connection, also each one that replaces a lost one. What was subscribed and exported before is gone.
    public var onConnected: (() -> Void)?
    /// The connection went away, or could not be made; it is tried again by itself.
    public var onLost: ((BusError) -> Void)?

    let counters = BusCounters()
    private let address: Address
    private(set) var pointer: OpaquePointer?
    private var calls: [ObjectIdentifier: BusCall] = [:]
    private var exports: [ObjectIdentifier: WeakSlot] = [:]
    private var attempts = 0
    private var retry: EventLoop.Timer?
    private var closed = false
    private var processing = false
    private var announced = false

    /// sd-bus invalidates nothing by itself: slots are released before the connection they belong to.
    struct WeakSlot { weak var slot: BusSlot? }

    /// Does not connect before ``open()``.
    public init(loop: EventLoop, address: Address = .system) {
        self.loop = loop
        self.address = address
    }

    deinit { sd_bus_close_unref(pointer) }

    /// Messages, slots and calls held, for tests of leaks.
    public var load: (messages: Int, slots: Int, calls: Int) { (counters.messages, counters.slots, calls.count) }
    /// Whether the bus has answered and let us in, and was not lost since.
    public var isConnected: Bool { pointer != nil && announced }

    /// Our unique name on the bus.
    public var uniqueName: String? {
        var name: UnsafePointer<CChar>?
        guard sd_bus_get_unique_name(pointer, &name) >= 0, let name else { return nil }
        return String(cString: name)
    }

    // MARK: The connection

    /// Connects, now or as soon as there is a bus.
    public func open() {
        closed = false
        guard pointer == nil else { return }
        var fresh: OpaquePointer?
        var result: Int32
        switch address {
        case .system:
            result = sd_bus_open_system(&fresh)
        case .custom(let address):
            result = sd_bus_new(&fresh)
            if result >= 0 { result = sd_bus_set_address(fresh, address) }
            if result >= 0 { result = sd_bus_set_bus_client(fresh, 1) }
            if result >= 0 { result = sd_bus_start(fresh) }
        }
        guard result >= 0 else {
            sd_bus_close_unref(fresh)
            lost(.system(result, "connecting to D-Bus"))
            return
        }
        pointer = fresh
        announced = false
        loop.add(self)
        // The first answer tells that the bus has let us in (Hello is sent by sd-bus).
        call(BusMethod("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")) { [weak self] answer in
            guard let self, case .success = answer else { return }
            attempts = 0
            announced = true
            onConnected?()
        }
    }

    /// Closes for good.
    public func close() {
        closed = true
        retry?.cancel()
        drop(.disconnected)
    }

    private func lost(_ error: BusError) {
        drop(error)
        onLost?(error)
        guard !closed else { return }
        // 1, 2, 4 … 60 seconds: dbus-daemon is restarted within seconds, or not before a person comes.
        let delay = Duration.seconds(min(60, 1 << min(attempts, 6)))
        attempts += 1
        retry = loop.after(delay) { [weak self] in self?.open() }
    }

    private func drop(_ error: BusError) {
        announced = false
        loop.remove(self)
        // Whoever calls again because his call has failed is refused, instead of waiting on a connection that is going.
        let old = pointer
        pointer = nil
        let pending = calls.values
        calls.removeAll()
        for export in exports.values { export.slot?.release() }
        exports.removeAll()
        for call in pending { call.finish(.failure(error)) }
        sd_bus_close_unref(old)
    }

    // MARK: The loop

    /// sd-bus's descriptor and the events that it waits for now; nil while there is no connection.
    public var interest: (descriptor: Int32, events: Int16)? {
        guard let pointer else { return nil }
        let descriptor = sd_bus_get_fd(pointer)
        let events = sd_bus_get_events(pointer)
        return descriptor >= 0 && events >= 0 ? (descriptor, Int16(truncatingIfNeeded: events)) : nil
    }

    /// A bus that is never silent must not hold the loop: other sources get their turn.
    private static let messagesInATurn = 512
    private var hasMore = false

    /// Milliseconds until sd-bus wants to run: 0 where messages are left over, -1 where only the descriptor wakes it.
    public var patience: Int32 {
        // What was read already makes the descriptor readable no more.
        if hasMore { return 0 }
        var until: UInt64 = 0
        guard let pointer, sd_bus_get_timeout(pointer, &until) >= 0, until != UInt64.max else { return -1 }
        // sd_bus_get_timeout(3) answers in CLOCK_MONOTONIC whatever clock we go by.
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
        return until <= microseconds ? 0 : Int32(clamping: (until - microseconds + 999) / 1000)
    }

    /// Handles at most 512 messages; what is left waits for the next turn. Notices here that the connection is lost.
    public func process() {
        guard !processing else { return }
        processing = true
        var result: Int32 = 1
        var messages = 0
        while result > 0, messages < Self.messagesInATurn, let pointer {
            result = sd_bus_process(pointer, nil)
            messages += 1
        }
        hasMore = result > 0
        processing = false
        guard let pointer else { return }
        if result < 0 {
            lost(.system(result, "the connection to D-Bus"))
        } else if sd_bus_is_open(pointer) <= 0 {
            lost(.disconnected)
        }
    }

    // MARK: Calls

    /// Calls a method; the answer comes once, from the loop, also where the bus goes away or the time is over.
    @discardableResult
    public func call(
        _ method: BusMethod, _ arguments: [BusValue] = [], timeout: Duration = .seconds(30),
        completion: @escaping (Result<[BusValue], BusError>) -> Void = { _ in }
    ) -> BusCall {
        ask(method, arguments, timeout: timeout) { answer in
            completion(answer.flatMap { message in Result { () throws(BusError) in try message.arguments() } })
        }
    }

    /// Calls a method whose answer is read by the caller, since it may be longer than others.
    func ask(
        _ method: BusMethod, _ arguments: [BusValue] = [], timeout: Duration = .seconds(30),
        completion: @escaping (Result<BusMessage, BusError>) -> Void
    ) -> BusCall {
        let call = BusCall(bus: self, completion: completion)
        do throws(BusError) {
            var fresh: OpaquePointer?
            let result = sd_bus_message_new_method_call(
                pointer, &fresh, method.destination, method.path, method.interface, method.member)
            guard result >= 0, let fresh else { throw pointer == nil ? .disconnected : .system(result, "preparing a call") }
            let message = BusMessage(owning: fresh, counters: counters)
            try message.append(arguments)
            var slot: OpaquePointer?
            // Our own timer ends the wait, since sd-bus knows only the machine's clock.
            let sent = sd_bus_call_async(
                pointer, &slot, message.pointer,
                { reply, data, _ in
                    guard let data else { return 0 }
                    Unmanaged<BusCall>.fromOpaque(data).takeUnretainedValue().answered(reply)
                    return 1
                }, Unmanaged.passUnretained(call).toOpaque(), UInt64.max)
            guard sent >= 0, let slot else { throw .system(sent, "sending a call") }
            call.slot = BusSlot(owning: slot, counters: counters)
            calls[ObjectIdentifier(call)] = call
            call.timer = loop.after(timeout) { [weak call] in call?.finish(.failure(.timeout)) }
        } catch {
            // Later, so that nobody is answered while he still asks.
            call.timer = loop.after(.zero) { call.finish(.failure(error)) }
        }
        return call
    }

    func forget(_ call: BusCall) { calls[ObjectIdentifier(call)] = nil }

    // MARK: Signals and objects

    /// Hears signals; ends when the subscription goes, or with the connection.
    /// - Parameter rule: a match rule of the D-Bus specification.
    public func subscribe(_ rule: String, handler: @escaping (BusSignal) -> Void) -> BusSubscription? {
        let subscription = BusSubscription(counters: counters, handler: handler)
        var slot: OpaquePointer?
        // Without an answer handler, a bus that refuses the rule ends the connection, and we would hear of it.
        let result = sd_bus_add_match_async(
            pointer, &slot, rule,
            { message, data, _ in
                guard let data else { return 0 }
                Unmanaged<BusSubscription>.fromOpaque(data).takeUnretainedValue().received(message)
                return 0
            }, nil, Unmanaged.passUnretained(subscription).toOpaque())
        guard result >= 0, let slot else { return nil }
        keep(slot, in: subscription)
        return subscription
    }

    /// Answers calls to an object, and where asked to everything below it.
    public func export(_ path: String, andBelow: Bool = false, handler: @escaping (IncomingCall) -> Void) -> BusExport? {
        let export = BusExport(bus: self, handler: handler)
        var slot: OpaquePointer?
        let data = Unmanaged.passUnretained(export).toOpaque()
        let callback: sd_bus_message_handler_t = { message, data, _ in
            guard let data else { return 0 }
            return Unmanaged<BusExport>.fromOpaque(data).takeUnretainedValue().received(message)
        }
        let result =
            andBelow
            ? sd_bus_add_fallback(pointer, &slot, path, callback, data) : sd_bus_add_object(pointer, &slot, path, callback, data)
        guard result >= 0, let slot else { return nil }
        keep(slot, in: export)
        return export
    }

    private func keep(_ pointer: OpaquePointer, in holder: some SlotHolder) {
        let slot = BusSlot(owning: pointer, counters: counters)
        holder.slot = slot
        exports = exports.filter { $0.value.slot != nil }
        exports[ObjectIdentifier(slot)] = WeakSlot(slot: slot)
    }

    /// Sends a signal of an object of ours.
    public func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]) throws(BusError) {
        var fresh: OpaquePointer?
        let result = sd_bus_message_new_signal(pointer, &fresh, path, interface, member)
        guard result >= 0, let fresh else { throw .system(result, "preparing a signal") }
        let message = BusMessage(owning: fresh, counters: counters)
        try message.append(arguments)
        try send(message)
    }

    func send(_ message: BusMessage) throws(BusError) {
        let result = sd_bus_send(pointer, message.pointer, nil)
        guard result >= 0 else { throw .system(result, "sending") }
    }
}
