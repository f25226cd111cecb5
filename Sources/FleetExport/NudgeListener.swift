import Dispatch
import NATSKit
import Synchronization

/// Waits on a thread of its own for messages of the center to this hub. They have no content.
final class NudgeListener: Sendable {
    private let subscription: NATSSubscription
    private let state: State

    private final class State: Sendable {
        let isNudged = Atomic(false)
        let hasEnded = Atomic(false)
    }

    /// - Parameter ring: called on any thread after each message, and when the connection breaks.
    /// - Throws: ``NATSError``.
    init(_ connection: NATSConnection, _ subject: String, ring: @escaping @Sendable () -> Void) throws(NATSError) {
        let subscription = try connection.subscription(subject)
        let state = State()
        (self.subscription, self.state) = (subscription, state)
        DispatchQueue(label: "vitalgate.fleet.nudges").async {
            while subscription.next() != nil {
                state.isNudged.store(true, ordering: .sequentiallyConsistent)
                ring()
            }
            // A new connection brings the orders that were given in between.
            guard !state.hasEnded.load(ordering: .sequentiallyConsistent) else { return }
            state.isNudged.store(true, ordering: .sequentiallyConsistent)
            ring()
        }
    }

    /// Whether a message has arrived since ``take()``.
    var isNudged: Bool { state.isNudged.load(ordering: .sequentiallyConsistent) }

    /// Returns whether a message has arrived since the last call.
    func take() -> Bool { state.isNudged.exchange(false, ordering: .sequentiallyConsistent) }

    /// Ends the thread.
    func end() {
        state.hasEnded.store(true, ordering: .sequentiallyConsistent)
        subscription.end()
    }
}
