import Synchronization

/// Counts tokens that nobody has. The first of a minute may be a mistake; whoever tries many is answered later and later.
final class GuessCounter: Sendable {
    private struct State {
        var total = 0
        /// Those of the last minute, the latest at the end; no more than matter.
        var recent: [ContinuousClock.Instant] = []
    }

    private let state = Mutex(State())
    private static let span = Duration.seconds(60)
    private static let most = 64

    /// Since the start.
    var count: Int { state.withLock { $0.total } }

    /// Counts one more; how many there were within the last minute, at most 64.
    func add(at time: ContinuousClock.Instant) -> Int {
        state.withLock { state in
            state.total += 1
            state.recent.append(time)
            state.recent.removeAll { $0.duration(to: time) > Self.span }
            if state.recent.count > Self.most { state.recent.removeFirst() }
            return state.recent.count
        }
    }

    /// Nothing for the first ten, then up to five seconds.
    static func usualDelay(of count: Int) -> Duration { .milliseconds(min(5000, max(0, count - 10) * 100)) }
}
