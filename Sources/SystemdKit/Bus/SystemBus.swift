import CSystemd
import EventLoopKit
import Glibc

/// The number of sd-bus objects that are held. Tests compare it before and after (story 11).
final class BusCounters {
    var messages = 0
    var slots = 0
}

/// A connection to D-Bus through sd-bus, with asynchronous calls, signals and exported objects. It reconnects by itself when the bus goes
/// away.
///
///     let bus = SystemBus(loop: loop)
///     bus.onConnected = { bus.call(.adapter("/org/bluez/hci0", "StartDiscovery")) { answer in … } }
///     bus.open()
package final class SystemBus: EventLoop.Poller {
    package enum Address: Sendable, Equatable {
        /// The system bus, or the one in DBUS_SYSTEM_BUS_ADDRESS.
        case system
        /// An address such as `unix:path=/run/dbus/system_bus_socket`.
        case custom(String)
    }

    /// The loop on whose thread everything is called and answered.
    package let loop: EventLoop
    /// Called after each connection, including reconnections. Earlier subscriptions and exports are gone by then.
    package var onConnected: (() -> Void)?
    /// Called when the connection was lost or failed. The bus tries again by itself.
    package var onLost: ((BusError) -> Void)?

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

    /// sd-bus does not invalidate slots by itself, so they are released before their connection.
    struct WeakSlot { weak var slot: BusSlot? }

    /// Creates a bus that does not connect before ``open()``.
    package init(loop: EventLoop, address: Address = .system) {
        self.loop = loop
        self.address = address
    }

    deinit { sd_bus_close_unref(pointer) }

    /// The numbers of messages, slots and calls that are held, for leak tests.
    package var load: (messages: Int, slots: Int, calls: Int) { (counters.messages, counters.slots, calls.count) }
    /// Whether the bus has accepted the connection and it was not lost since.
    package var isConnected: Bool { pointer != nil && announced }

    /// This program's unique name on the bus.
    package var uniqueName: String? {
        var name: UnsafePointer<CChar>?
        guard sd_bus_get_unique_name(pointer, &name) >= 0, let name else { return nil }
        return String(cString: name)
    }

    // MARK: The connection

    /// Connects, now or as soon as a bus is available.
    package func open() {
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
        // sd-bus sends Hello. The first answer shows that the bus has accepted the connection.
        call(BusMethod("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")) { [weak self] answer in
            guard let self, case .success = answer else { return }
            attempts = 0
            announced = true
            onConnected?()
        }
    }

    package func close() {
        closed = true
        retry?.cancel()
        drop(.disconnected)
    }

    private func lost(_ error: BusError) {
        drop(error)
        onLost?(error)
        guard !closed else { return }
        // 1, 2, 4 … 60 seconds. dbus-daemon usually restarts within seconds, or not until an administrator acts.
        let delay = Duration.seconds(min(60, 1 << min(attempts, 6)))
        attempts += 1
        retry = loop.after(delay) { [weak self] in self?.open() }
    }

    private func drop(_ error: BusError) {
        announced = false
        loop.remove(self)
        // Calls made from the failure handlers are refused instead of waiting on a connection that is closing.
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

    /// sd-bus's descriptor and the events it currently waits for, or nil if not connected.
    package var interest: (descriptor: Int32, events: Int16)? {
        guard let pointer else { return nil }
        let descriptor = sd_bus_get_fd(pointer)
        let events = sd_bus_get_events(pointer)
        return descriptor >= 0 && events >= 0 ? (descriptor, Int16(truncatingIfNeeded: events)) : nil
    }

    /// The maximum number of messages in one turn, so that a busy bus does not block other sources.
    private static let messagesInATurn = 512
    private var hasMore = false

    /// Milliseconds until sd-bus wants to run: 0 if messages are left over, -1 if only the descriptor wakes it.
    package var pollTimeout: Int32 {
        // The descriptor does not become readable for messages that were already read.
        if hasMore { return 0 }
        var until: UInt64 = 0
        guard let pointer, sd_bus_get_timeout(pointer, &until) >= 0, until != UInt64.max else { return -1 }
        // sd_bus_get_timeout(3) always uses CLOCK_MONOTONIC.
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
        return until <= microseconds ? 0 : Int32(clamping: (until - microseconds + 999) / 1000)
    }

    /// Handles at most 512 messages and leaves the rest for the next turn. Detects a lost connection.
    package func process() {
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

    /// Calls a method. The completion is called once, from the loop, even if the bus goes away or the time runs out.
    @discardableResult
    package func call(
        _ method: BusMethod, _ arguments: [BusValue] = [], timeout: Duration = .seconds(30),
        completion: @escaping (Result<[BusValue], BusError>) -> Void = { _ in }
    ) -> BusCall {
        ask(method, arguments, timeout: timeout) { answer in
            completion(answer.flatMap { message in Result { () throws(BusError) in try message.arguments() } })
        }
    }

    /// Calls a method whose answer the caller reads, because it may be longer than usual. The completion is called once.
    package func ask(
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
            // Use the loop's timer for the timeout, because sd-bus knows only the machine's clock.
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
            // Fail later, so that the completion is never called before this function returns.
            call.timer = loop.after(.zero) { call.finish(.failure(error)) }
        }
        return call
    }

    func forget(_ call: BusCall) { calls[ObjectIdentifier(call)] = nil }

    // MARK: Signals and objects

    /// Subscribes to signals. The subscription ends with the returned object or with the connection.
    /// - Parameter rule: a match rule of the D-Bus specification.
    package func subscribe(_ rule: String, handler: @escaping (BusSignal) -> Void) -> BusSubscription? {
        let subscription = BusSubscription(counters: counters, handler: handler)
        var slot: OpaquePointer?
        // Without a reply handler, a refused rule ends the connection, which is reported as a loss.
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

    /// Answers calls to an object, and optionally to everything below it.
    package func export(_ path: String, andBelow: Bool = false, handler: @escaping (IncomingCall) -> Void) -> BusExport? {
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

    /// Sends a signal from an exported object.
    package func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]) throws(BusError) {
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
