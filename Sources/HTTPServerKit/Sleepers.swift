import CMicroHTTPD
import Dispatch
import Synchronization

/// Connections that sleep until their answers are there, so that no thread that reads and sends waits for a store's writer, or for time to pass.
///
/// A connection that sleeps is libmicrohttpd's no more until it is woken; it is woken exactly once, also when the server stops.
final class Sleepers: Sendable {
    /// One connection, and the exchange that nobody else touches while it sleeps.
    struct Sleeper: @unchecked Sendable {
        fileprivate let exchange: Exchange
        fileprivate let connection: OpaquePointer
        fileprivate let all: Sleepers

        /// Does what the connection slept for, and wakes it.
        func wake(_ work: (Exchange) -> Void) {
            work(exchange)
            MHD_resume_connection(connection)
            // Behind it: the server stops once nobody sleeps.
            all.state.withLock { $0.count -= 1 }
        }
    }

    private struct State {
        var count = 0
        var isStopping = false
        var delayed: [UInt64: Sleeper] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())
    private let most: Int
    /// More of them are not held back: who guesses is not to take up the server.
    private static let mostDelayed = 128

    init(most: Int) { self.most = most }

    var count: Int { state.withLock { $0.count } }

    /// - Returns: whether it sleeps now; not where too many do, or the server stops.
    func sleep(_ exchange: Exchange, _ connection: OpaquePointer, _ begin: (Sleeper) -> Void) -> Bool {
        let sleeps = state.withLock { state in
            guard !state.isStopping, state.count - state.delayed.count < most else { return false }
            state.count += 1
            MHD_suspend_connection(connection)
            return true
        }
        if sleeps { begin(Sleeper(exchange: exchange, connection: connection, all: self)) }
        return sleeps
    }

    /// - Returns: whether it sleeps now, for this time at most.
    func sleep(_ exchange: Exchange, _ connection: OpaquePointer, for time: Duration) -> Bool {
        let sleeper = Sleeper(exchange: exchange, connection: connection, all: self)
        let number = state.withLock { state -> UInt64? in
            guard !state.isStopping, state.delayed.count < Self.mostDelayed else { return nil }
            state.count += 1
            state.last += 1
            state.delayed[state.last] = sleeper
            MHD_suspend_connection(connection)
            return state.last
        }
        guard let number else { return false }
        let milliseconds = Int(time / .milliseconds(1))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            self?.state.withLock { $0.delayed.removeValue(forKey: number) }?.wake { _ in }
        }
        return true
    }

    /// Nobody sleeps any more, but for those whose answers are being made.
    func endDelays() {
        let delayed = state.withLock { state in
            state.isStopping = true
            defer { state.delayed.removeAll() }
            return Array(state.delayed.values)
        }
        for sleeper in delayed { sleeper.wake { _ in } }
    }
}
