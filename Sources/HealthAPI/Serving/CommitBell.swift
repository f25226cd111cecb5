import Dispatch
import SampleStore
import Synchronization

/// Wakes all live streams when somebody has committed; they share one watch of the system, and nothing is asked again and again.
final class CommitBell: Sendable {
    private struct State {
        var wakes: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())
    // Made and cancelled; nothing else is done with it.
    nonisolated(unsafe) private let source: any DispatchSourceRead

    init(store: String) throws(StoreError) {
        let bell = RungBell(try StoreBell(store: store))
        source = DispatchSource.makeReadSource(
            fileDescriptor: bell.bell.descriptor, queue: DispatchQueue(label: "health-api.bell"))
        source.setEventHandler { [weak self] in
            bell.hear()
            self?.ring()
        }
        // The descriptor is closed once nobody looks at it any more.
        source.setCancelHandler { _ = bell }
        source.activate()
    }

    deinit { source.cancel() }

    func add(_ wake: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.wakes[state.last] = wake
            return state.last
        }
    }

    func remove(_ number: UInt64) { state.withLock { _ = $0.wakes.removeValue(forKey: number) } }

    private func ring() {
        for wake in state.withLock({ Array($0.wakes.values) }) { wake() }
    }

    /// From the start on the queue's alone.
    private final class RungBell: @unchecked Sendable {
        let bell: StoreBell
        init(_ bell: StoreBell) { self.bell = bell }
        /// Where the watch fails, streams look with each heartbeat.
        func hear() { try? bell.wait() }
    }
}
