import SampleStore

extension HealthStore {
    /// Calls `look` now and after each commit until it returns a value. Returns `nil` if the task is cancelled.
    func whileFollowing<Value>(_ look: () async throws -> Value?) async throws -> Value? {
        while !Task.isCancelled {
            // This precedes the query, so that a commit in between is not missed.
            let received = try await commits.listen()
            do {
                if let found = try await look() { return found }
            } catch is CancellationError {
                return nil
            }
            guard try await commits.next(after: received) else { return nil }
        }
        return nil
    }

    /// Does the same with a reader from the pool.
    ///
    /// - Parameters:
    ///   - state: The follower's state. Changes that `look` makes to it are kept even if it returns `nil`.
    func follow<State: Sendable, Value: Sendable>(
        _ state: inout State, _ look: @escaping @Sendable (SampleStore, inout State) throws -> Value?
    ) async throws -> Value? {
        try await whileFollowing {
            let before = state
            let (found, after) = try await readers.read { store in
                var after = before
                return (try look(store, &after), after)
            }
            state = after
            return found
        }
    }
}
