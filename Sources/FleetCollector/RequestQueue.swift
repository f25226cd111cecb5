import Dispatch
import FleetProtocol
import HealthModel
import Synchronization

/// The requests that wait for the workers of a collector (``RequestTurns``). Any thread may use it.
final class RequestQueue: Sendable {
    private struct State: Sendable {
        var turns = RequestTurns<ArrivedRequest>(timeout: FleetRequest.timeout)
        var hasEnded = false
        var hasWorked = false
    }

    private let state = Mutex(State())
    /// Is signalled after each change that can give a worker something to do.
    private let bell = DispatchSemaphore(value: 0)
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant) { self.now = now }

    /// Adds a request that has arrived.
    func add(_ request: ArrivedRequest, bytes: Int, of store: String) {
        state.withLock { $0.turns.add(request, bytes: bytes, of: store, at: now()) }
        bell.signal()
    }

    /// Whether requests were carried out since the last call, or are now.
    func hasWorked() -> Bool {
        state.withLock { state in
            defer { state.hasWorked = state.turns.isBusy }
            return state.hasWorked
        }
    }

    /// No more requests come. The workers carry out those that wait.
    func end() {
        state.withLock { $0.hasEnded = true }
        bell.signal()
    }

    /// Waits for requests and passes them to a worker, until the queue has ended. A worker without work reads the next request of a hub while
    /// another one writes the last.
    func work(_ carryOut: ([RequestTurns<ArrivedRequest>.Turn]) -> Void) {
        while true {
            bell.wait()
            let (turns, ahead, isOver) = state.withLock { state in
                let turns = state.turns.take(
                    maximum: DeliveryGroup.maximumRequests, maximumBytes: DeliveryGroup.maximumBytes, at: now())
                if !turns.isEmpty { state.hasWorked = true }
                return (turns, turns.isEmpty ? state.turns.takeAhead() : nil, state.hasEnded && state.turns.isEmpty)
            }
            ahead?.read()
            if !turns.isEmpty {
                carryOut(turns)
                state.withLock { $0.turns.finish(turns.map(\.store)) }
            }
            // For the next request of these hubs, or for the other workers to end.
            if isOver || !turns.isEmpty { bell.signal() }
            if isOver { return }
        }
    }
}
