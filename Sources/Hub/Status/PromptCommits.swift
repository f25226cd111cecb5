/// Makes the hub of a store commit readings within a second while this object exists and is kept up, for a program that follows
/// the changes.
///
///     let commits = PromptCommits(store: store.path, machine: machine)
///     while true {
///         commits.keepUp()
///         try bell.wait()
///         …
///     }
///
/// The hub commits waiting readings at once. Without a hub, or without permission to ask it, the reader sees the usual commits.
package final class PromptCommits {
    private let store: String
    private let machine: Machine
    private var client: StatusClient?
    /// The time before which the hub is not asked again.
    private var pause: ContinuousClock.Instant?

    /// The maximum wait for the hub's answer, so that its reader is not delayed.
    private static let timeout = Duration.seconds(2)
    /// The pause after a hub did not answer, is too old, or denied the request.
    private static let rested = Duration.seconds(10)

    /// - Parameter store: the path of the store.
    package init(store: String, machine: Machine) {
        self.store = store
        self.machine = machine
    }

    /// Asks the hub if it was not asked yet or another hub runs now. Otherwise it costs almost nothing.
    package func reconnectIfNeeded() {
        if client?.isOpen == true { return }
        client = nil
        if let pause, pause > .now { return }
        pause = nil
        do throws(StatusClient.Failure) {
            client = try StatusClient.ask(.hurry, store: store, machine: machine, timeout: Self.timeout).client
        } catch {
            // If no hub runs, one may be there with the next commit.
            if error != .noHub, error != .ended { pause = .now + Self.rested }
        }
    }

    /// Ends the request, so that the hub commits at its usual interval.
    package func rest() { client = nil }
}
