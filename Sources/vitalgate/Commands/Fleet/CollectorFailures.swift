import Synchronization

/// The failures that a collector's threads report, for the log. A failure that repeats is logged once, until another one of the same
/// hub comes in between.
final class CollectorFailures: Sendable {
    private struct State {
        var lines: [String] = []
        var last: [String: String] = [:]
    }

    private static let maximumHubs = 1000
    private static let maximumLines = 100
    private let state = Mutex(State())

    /// Adds a failure.
    ///
    /// - Parameters:
    ///   - store: The hub's store.
    ///   - words: The reason, without values and names.
    func add(_ store: String, _ words: String) {
        state.withLock { state in
            guard state.last[store] != words else { return }
            if state.last.count >= Self.maximumHubs { state.last.removeAll() }
            state.last[store] = words
            if state.lines.count < Self.maximumLines {
                state.lines.append("collect: a request of the store \(store) failed: \(words)")
            }
        }
    }

    /// Returns the lines that are not in the log yet.
    func take() -> [String] {
        state.withLock { state in
            defer { state.lines.removeAll() }
            return state.lines
        }
    }
}
