import CMicroHTTPD
import Glibc
import Synchronization

/// Runs actions at their deadlines. Slow connections are closed, and waiting streams are asked again. One thread sleeps until the
/// earliest deadline.
final class Deadlines: Sendable {
    enum Action: Sendable {
        /// The connection's socket, which stays open while this entry exists.
        case hangUp(Int32)
        case wake(BodySender)
    }

    private struct State {
        var entries: [UInt: (time: ContinuousClock.Instant, action: Action)] = [:]
        var sleepsUntil: ContinuousClock.Instant?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let bell = vitalgate_http_bell()

    deinit { close(bell) }

    func set(_ key: UInt, in patience: Duration, _ action: Action) {
        let time = ContinuousClock.now + patience
        let isFirst = state.withLock { state in
            state.entries[key] = (time, action)
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
            for (key, entry) in state.entries where entry.time <= now {
                state.entries[key] = nil
                switch entry.action {
                // While the lock is held, no other thread closes the descriptor.
                case .hangUp(let descriptor): shutdown(descriptor, Int32(SHUT_RDWR))
                case .wake(let sender): due.append(sender)
                }
            }
            state.sleepsUntil = state.entries.values.map(\.time).min()
            return (state.isStopped, due, state.sleepsUntil)
        }
        for sender in due { sender.wake() }
        return isStopped ? nil : .some(next)
    }
}
