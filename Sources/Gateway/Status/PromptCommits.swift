/// Has the hub of a store commit within a second what devices send, as long as this object is held and kept up: for whoever follows the
/// changes.
///
///     let commits = PromptCommits(store: store.path, machine: machine)
///     while true {
///         commits.keepUp()
///         try bell.wait()
///         …
///     }
///
/// The hub that is asked commits at once what waits. Where there is none, or it may not be asked, a reader sees what is committed anyway.
public final class PromptCommits {
    private let store: String
    private let machine: Machine
    private var client: StatusClient?
    /// Not asked again before then.
    private var pause: ContinuousClock.Instant?

    /// A hub answers at once. One that does not must not hold its reader up.
    private static let patience = Duration.seconds(2)
    /// For a hub that gives no answer, or is of an older version, or may not be asked.
    private static let rested = Duration.seconds(10)

    /// - Parameter store: the path of the store that is read.
    public init(store: String, machine: Machine) {
        self.store = store
        self.machine = machine
    }

    /// Asks the hub, where it was not asked yet or another one runs now. Costs next to nothing otherwise.
    public func keepUp() {
        if client?.isOpen == true { return }
        client = nil
        if let pause, pause > .now { return }
        pause = nil
        do throws(StatusClient.Failure) {
            client = try StatusClient.ask(.hurry, store: store, machine: machine, patience: Self.patience).client
        } catch {
            // Where no hub runs, one may be there with the next commit.
            if error != .noHub, error != .ended { pause = .now + Self.rested }
        }
    }

    /// Nobody follows any more: the hub takes its time again.
    public func rest() { client = nil }
}
