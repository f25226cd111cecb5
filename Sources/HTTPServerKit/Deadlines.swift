import CMicroHTTPD
import Glibc
import Synchronization

/// Runs actions at their deadlines. Slow connections are closed, and waiting streams are asked again. One thread sleeps until the
/// earliest deadline.
///
/// Connections whose clients have left are closed as well. libmicrohttpd waits for changes of a socket (`EPOLLET`), and does not notice the end
/// if it came together with the last bytes, such as those of a request that was cut. Such connections would use up the share of an address.
final class Deadlines: Sendable {
    enum Action: Sendable {
        /// The connection's socket, which stays open while this entry exists.
        case hangUp(Int32)
        case wake(BodySender)
    }

    private struct Entry {
        var time: ContinuousClock.Instant
        var action: Action
        var isIdle: Bool
        /// Whether the client had left when the thread last looked.
        var hasLeft = false

        /// Whether the client has left, and had when the thread looked before. In between, its last bytes were read.
        mutating func isAbandoned() -> Bool {
            guard case .hangUp(let descriptor) = action, vitalgate_http_has_left(descriptor) != 0 else {
                hasLeft = false
                return false
            }
            defer { hasLeft = true }
            return hasLeft
        }
    }

    private struct State {
        var entries: [UInt: Entry] = [:]
        var addresses: [UInt: String] = [:]

        /// Hangs up the idle connection that has waited longest, of the given ones.
        mutating func hangUpOldest(where isGiven: (String) -> Bool) -> Bool {
            let idle = entries.filter { entry in entry.value.isIdle && addresses[entry.key].map(isGiven) ?? false }
            guard let (key, entry) = idle.min(by: { $0.value.time < $1.value.time }), case .hangUp(let descriptor) = entry.action
            else { return false }
            entries[key] = nil
            shutdown(descriptor, Int32(SHUT_RDWR))
            return true
        }
        var sleepsUntil: ContinuousClock.Instant?
        /// When to look for clients that have left, or `nil` if no connection waits for a client.
        var looksAt: ContinuousClock.Instant?
        var isStopped = false

        /// Removes the entries whose time has come, and those of clients that have left. Returns their actions.
        mutating func takeDue(at now: ContinuousClock.Instant) -> [Action] {
            let looks = looksAt.map { $0 <= now } ?? false
            var due: [Action] = []
            for key in Array(entries.keys) {
                guard entries[key]?.time ?? now <= now || (looks && entries[key]?.isAbandoned() == true) else { continue }
                if let entry = entries.removeValue(forKey: key) { due.append(entry.action) }
            }
            let isWaiting = entries.values.contains { if case .hangUp = $0.action { true } else { false } }
            looksAt = isWaiting ? (looks ? now + Deadlines.pause : looksAt ?? now + Deadlines.pause) : nil
            sleepsUntil = (entries.values.map(\.time) + [looksAt].compactMap { $0 }).min()
            return due
        }
    }

    /// The time between two looks for clients that have left.
    private static let pause = Duration.seconds(1)

    private let state = Mutex(State())
    private let bell = vitalgate_http_bell()

    deinit { Glibc.close(bell) }

    func open(_ key: UInt, from address: String) { state.withLock { $0.addresses[key] = address } }

    func close(_ key: UInt) {
        state.withLock { state in
            state.entries[key] = nil
            state.addresses[key] = nil
        }
    }

    /// Hangs up connections that wait for a request: the oldest ones of each address with too many, and while there are too many in all,
    /// the oldest ones of the address with the most.
    ///
    /// - Returns: The number of connections.
    func hangUpIdle(maximum: Int, perAddress: Int) -> Int {
        state.withLock { state in
            guard state.addresses.count > min(maximum, perAddress) else { return 0 }
            var counts: [String: Int] = [:]
            for address in state.addresses.values { counts[address, default: 0] += 1 }
            // Called for each new connection, so one at a time is enough.
            if let busiest = counts.first(where: { $0.value > perAddress })?.key, state.hangUpOldest(where: { $0 == busiest }) {
                return 1
            }
            guard state.addresses.count > maximum else { return 0 }
            var idle: [String: Int] = [:]
            for (key, entry) in state.entries where entry.isIdle {
                if let address = state.addresses[key] { idle[address, default: 0] += 1 }
            }
            guard let busiest = idle.max(by: { $0.value < $1.value })?.key else { return 0 }
            return state.hangUpOldest(where: { $0 == busiest }) ? 1 : 0
        }
    }

    /// - Parameter isIdle: Whether the action closes a connection that waits for a request.
    func set(_ key: UInt, in timeout: Duration, _ action: Action, isIdle: Bool = false) {
        let time = ContinuousClock.now + timeout
        let isFirst = state.withLock { state in
            state.entries[key] = Entry(time: time, action: action, isIdle: isIdle)
            if case .hangUp = action, state.looksAt == nil { return true }
            return state.sleepsUntil.map { time < $0 } ?? true
        }
        if isFirst { ring() }
    }

    func remove(_ key: UInt) { state.withLock { _ = $0.entries.removeValue(forKey: key) } }

    func start() {
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Deadlines>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        if code == 0 { pthread_detach(thread) } else { context.release() }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        ring()
    }

    private func ring() {
        var one: UInt64 = 1
        _ = write(bell, &one, 8)
    }

    private func run() {
        while let next = act() {
            var poll = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
            let rest = next.map { max(0, ContinuousClock.now.duration(to: $0) / .milliseconds(1)) }
            _ = Glibc.poll(&poll, 1, rest.map { Int32(min($0 + 1, 3_600_000)) } ?? -1)
            var count: UInt64 = 0
            _ = read(bell, &count, 8)
        }
    }

    /// Runs the actions that are due. Returns the next deadline, an inner `nil` if there is none, or `nil` after the end.
    private func act() -> ContinuousClock.Instant?? {
        let now = ContinuousClock.now
        let (isStopped, due, next) = state.withLock { state -> (Bool, [BodySender], ContinuousClock.Instant?) in
            var due: [BodySender] = []
            for action in state.takeDue(at: now) {
                switch action {
                // While the lock is held, no other thread closes the descriptor.
                case .hangUp(let descriptor): shutdown(descriptor, Int32(SHUT_RDWR))
                case .wake(let sender): due.append(sender)
                }
            }
            return (state.isStopped, due, state.sleepsUntil)
        }
        for sender in due { sender.wake() }
        return isStopped ? nil : .some(next)
    }
}
