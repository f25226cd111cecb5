import CMicroHTTPD
import Dispatch
import Synchronization

/// Connections that are suspended until their responses are ready. So no thread that reads and sends waits for the store's writer or for
/// a delay.
///
/// libmicrohttpd does not touch a suspended connection. Each one is resumed exactly once, also when the server stops.
final class Sleepers: Sendable {
    /// A suspended connection and its exchange, which only its worker uses.
    struct Sleeper: @unchecked Sendable {
        fileprivate let exchange: Exchange
        fileprivate let connection: OpaquePointer
        fileprivate let all: Sleepers

        /// Runs the work that the connection waits for, and resumes it.
        func wake(_ work: (Exchange) -> Void) {
            work(exchange)
            MHD_resume_connection(connection)
            // After the resumption, because the server stops when the count is 0.
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
    private let maximum: Int
    /// The maximum number of delayed responses, so that clients that guess tokens cannot occupy the server.
    private static let maximumDelayed = 128

    init(maximum: Int) { self.maximum = maximum }

    var count: Int { state.withLock { $0.count } }

    /// - Returns: whether the connection is suspended now. It is not if too many are, or if the server stops.
    func sleep(_ exchange: Exchange, _ connection: OpaquePointer, _ begin: (Sleeper) -> Void) -> Bool {
        let sleeps = state.withLock { state in
            guard !state.isStopping, state.count - state.delayed.count < maximum else { return false }
            state.count += 1
            MHD_suspend_connection(connection)
            return true
        }
        if sleeps { begin(Sleeper(exchange: exchange, connection: connection, all: self)) }
        return sleeps
    }

    /// - Returns: whether the connection is suspended now, for at most this time.
    func sleep(_ exchange: Exchange, _ connection: OpaquePointer, for time: Duration) -> Bool {
        let sleeper = Sleeper(exchange: exchange, connection: connection, all: self)
        let number = state.withLock { state -> UInt64? in
            guard !state.isStopping, state.delayed.count < Self.maximumDelayed else { return nil }
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

    /// Resumes all delayed connections. Only those whose responses are being made stay suspended.
    func endDelays() {
        let delayed = state.withLock { state in
            state.isStopping = true
            defer { state.delayed.removeAll() }
            return Array(state.delayed.values)
        }
        for sleeper in delayed { sleeper.wake { _ in } }
    }
}
