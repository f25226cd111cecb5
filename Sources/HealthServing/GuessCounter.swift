import Synchronization

/// Counts invalid tokens. The first few in a minute may be mistakes. With more, the answers are increasingly delayed.
final class GuessCounter: Sendable {
    private struct State {
        var total = 0
        /// The times of the last minute in ascending order, at most 64.
        var recent: [ContinuousClock.Instant] = []
    }

    private let state = Mutex(State())
    private static let span = Duration.seconds(60)
    private static let maximum = 64

    /// The number of invalid tokens since the start.
    var count: Int { state.withLock { $0.total } }

    /// Counts an invalid token and returns the number within the last minute, at most 64.
    func add(at time: ContinuousClock.Instant) -> Int {
        state.withLock { state in
            state.total += 1
            state.recent.append(time)
            state.recent.removeAll { $0.duration(to: time) > Self.span }
            if state.recent.count > Self.maximum { state.recent.removeFirst() }
            return state.recent.count
        }
    }

    /// The delay of an answer: none for the first ten tokens, then up to 5 seconds.
    static func defaultDelay(of count: Int) -> Duration { .milliseconds(min(5000, max(0, count - 10) * 100)) }
}
