import Dispatch
import HealthModel
import SampleStore
import Synchronization

/// Checks the alerts after each commit, and when an alert for a missing reading is due. It does not poll.
final class AlertWatch: Sendable {
    private struct State {
        var (isStopped, isWaiting) = (false, false)
        var listener: UInt64?
        /// The number of the last timer. Earlier timers do nothing.
        var timer = 0
    }

    private let path: String
    private let bell: CommitBell
    private let now: @Sendable () -> Instant
    private let onEvent: @Sendable (SampleStore.AlertEvent) -> Void
    private let queue = DispatchQueue(label: "vitalgate.alerts", qos: .utility)
    private let state = Mutex(State())
    /// Commits within this time are checked together.
    private static let pause = DispatchTimeInterval.milliseconds(500)

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - path: The path of the store's file.
    ///   - onEvent: Called on one queue for each condition that is met.
    init(
        path: String, bell: CommitBell, now: @escaping @Sendable () -> Instant,
        onEvent: @escaping @Sendable (SampleStore.AlertEvent) -> Void
    ) {
        (self.path, self.bell, self.now, self.onEvent) = (path, bell, now, onEvent)
        let listener = bell.add(isHurried: false) { [weak self] in self?.wake() }
        state.withLock { $0.listener = listener }
        wake()
    }

    private func wake() {
        let isFirst = state.withLock { state in
            defer { state.isWaiting = true }
            return !state.isWaiting && !state.isStopped
        }
        if isFirst { queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.check() } }
    }

    private func check() {
        let isStopped = state.withLock { state in
            state.isWaiting = false
            return state.isStopped
        }
        guard !isStopped else { return }
        // The check of a busy store is repeated after the next commit.
        guard let hasAlerts = try? !SampleStore(path: path, access: .read).alerts().isEmpty, hasAlerts,
            let result = try? SampleStore(path: path, access: .write).checkAlerts(at: now())
        else { return }
        for event in result.events { onEvent(event) }
        guard let next = result.next else { return }
        let timer = state.withLock { state in
            state.timer += 1
            return state.timer
        }
        let delay = Int(max(0, (next.microseconds - now().microseconds) / 1000)) + 1
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
            guard let self, state.withLock({ $0.timer == timer }) else { return }
            check()
        }
    }

    /// Stops watching and waits for the current check.
    func stop() {
        let listener = state.withLock { state in
            state.isStopped = true
            defer { state.listener = nil }
            return state.listener
        }
        if let listener { bell.remove(listener) }
        queue.sync {}
    }
}
