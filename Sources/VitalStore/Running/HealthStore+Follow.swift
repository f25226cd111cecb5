import SampleStore

extension HealthStore {
    /// Looks, and again behind each commit, until there is something to tell; `nil` where the task is cancelled.
    func whileFollowing<Value>(_ look: () async throws -> Value?) async throws -> Value? {
        while !Task.isCancelled {
            // Before the look, so that no commit falls between the two.
            let heard = try await commits.listen()
            do {
                if let found = try await look() { return found }
            } catch is CancellationError {
                return nil
            }
            guard try await commits.next(after: heard) else { return nil }
        }
        return nil
    }

    /// The same with a reader of the pool.
    ///
    /// - Parameters:
    ///   - state: what the follower knows; what a look makes of it is kept also where it tells nothing.
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
