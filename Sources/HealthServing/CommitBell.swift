import Dispatch
import SampleStore
import Synchronization

/// Wakes all live streams after a commit, without polling. They share one file watch.
package final class CommitBell: Sendable {
    private struct State {
        var wakes: [UInt64: @Sendable () -> Void] = [:]
        /// The listeners for which the writer should commit early.
        var promptListeners: Set<UInt64> = []
        var last: UInt64 = 0
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "vitalgate.bell")
    private let following: @Sendable (Bool) -> Void
    // The source is only created and cancelled.
    nonisolated(unsafe) private let source: any DispatchSourceRead

    /// Starts listening for commits.
    ///
    /// - Parameter following: Called on one queue with whether there are listeners: when the first one starts, when the last one
    ///   ends, and after each commit in between.
    package init(store: String, following: @escaping @Sendable (Bool) -> Void = { _ in }) throws(StoreError) {
        self.following = following
        let bell = RungBell(try StoreBell(store: store))
        source = DispatchSource.makeReadSource(
            fileDescriptor: bell.bell.descriptor, queue: queue)
        source.setEventHandler { [weak self] in
            bell.drain()
            self?.ring()
        }
        // The handler keeps the descriptor open until the source no longer uses it.
        source.setCancelHandler { _ = bell }
        source.activate()
    }

    deinit { source.cancel() }

    /// Adds a listener and returns its number.
    ///
    /// - Parameter needsPromptCommits: Whether the writer should commit early for this listener.
    package func add(needsPromptCommits: Bool, _ wake: @escaping @Sendable () -> Void) -> UInt64 {
        defer { if needsPromptCommits { reportListeners() } }
        return state.withLock { state in
            state.last += 1
            state.wakes[state.last] = wake
            if needsPromptCommits { state.promptListeners.insert(state.last) }
            return state.last
        }
    }

    /// Sets whether the writer should commit early for a listener. A listener that may not read anything does not need it.
    package func set(_ number: UInt64, needsPromptCommits: Bool) {
        let isChanged = state.withLock { state in
            guard state.wakes[number] != nil else { return false }
            return needsPromptCommits
                ? state.promptListeners.insert(number).inserted : state.promptListeners.remove(number) != nil
        }
        if isChanged { reportListeners() }
    }

    package func remove(_ number: UInt64) {
        let neededPromptCommits = state.withLock {
            $0.wakes.removeValue(forKey: number)
            return $0.promptListeners.remove(number) != nil
        }
        if neededPromptCommits { reportListeners() }
    }

    private func reportListeners() {
        queue.async { [weak self] in
            guard let self else { return }
            following(needsPromptCommits)
        }
    }

    private var needsPromptCommits: Bool { state.withLock { !$0.promptListeners.isEmpty } }

    private func ring() {
        for wake in state.withLock({ Array($0.wakes.values) }) { wake() }
        if needsPromptCommits { following(true) }
    }

    /// Used only on the queue once the source is active.
    private final class RungBell: @unchecked Sendable {
        let bell: StoreBell
        init(_ bell: StoreBell) { self.bell = bell }
        /// If the watch fails, streams read at each heartbeat instead.
        func drain() { try? bell.wait() }
    }
}
