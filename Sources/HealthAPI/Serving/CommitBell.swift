import Dispatch
import SampleStore
import Synchronization

/// Wakes all live streams when somebody has committed; they share one watch of the system, and nothing is asked again and again.
final class CommitBell: Sendable {
    private struct State {
        var wakes: [UInt64: @Sendable () -> Void] = [:]
        /// Those of `wakes` for whom whoever writes hurries.
        var hurried: Set<UInt64> = []
        var last: UInt64 = 0
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "health-api.bell")
    private let following: @Sendable (Bool) -> Void
    // Made and cancelled; nothing else is done with it.
    nonisolated(unsafe) private let source: any DispatchSourceRead

    /// - Parameter following: told on one queue whether anybody listens: when that begins and ends, and behind each commit meanwhile.
    init(store: String, following: @escaping @Sendable (Bool) -> Void) throws(StoreError) {
        self.following = following
        let bell = RungBell(try StoreBell(store: store))
        source = DispatchSource.makeReadSource(
            fileDescriptor: bell.bell.descriptor, queue: queue)
        source.setEventHandler { [weak self] in
            bell.hear()
            self?.ring()
        }
        // The descriptor is closed once nobody looks at it any more.
        source.setCancelHandler { _ = bell }
        source.activate()
    }

    deinit { source.cancel() }

    /// - Parameter isHurried: whether commits come soon as long as this one listens.
    func add(isHurried: Bool, _ wake: @escaping @Sendable () -> Void) -> UInt64 {
        defer { if isHurried { tell() } }
        return state.withLock { state in
            state.last += 1
            state.wakes[state.last] = wake
            if isHurried { state.hurried.insert(state.last) }
            return state.last
        }
    }

    /// Says whether commits come soon for a listener. One that may read nothing hurries nobody.
    func set(_ number: UInt64, isHurried: Bool) {
        let isChanged = state.withLock { state in
            guard state.wakes[number] != nil else { return false }
            return isHurried ? state.hurried.insert(number).inserted : state.hurried.remove(number) != nil
        }
        if isChanged { tell() }
    }

    func remove(_ number: UInt64) {
        let wasHurried = state.withLock {
            $0.wakes.removeValue(forKey: number)
            return $0.hurried.remove(number) != nil
        }
        if wasHurried { tell() }
    }

    private func tell() {
        queue.async { [weak self] in
            guard let self else { return }
            following(isHurried)
        }
    }

    private var isHurried: Bool { state.withLock { !$0.hurried.isEmpty } }

    private func ring() {
        for wake in state.withLock({ Array($0.wakes.values) }) { wake() }
        if isHurried { following(true) }
    }

    /// From the start on the queue's alone.
    private final class RungBell: @unchecked Sendable {
        let bell: StoreBell
        init(_ bell: StoreBell) { self.bell = bell }
        /// Where the watch fails, streams look with each heartbeat.
        func hear() { try? bell.wait() }
    }
}
