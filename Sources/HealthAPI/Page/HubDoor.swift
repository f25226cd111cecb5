import HealthModel
import Synchronization

/// What the page asks of the hub that runs on the store: how its devices do, and what takes its radio. The hub's own program does that, as from a shell.
public struct HubDoor: Sendable {
    /// A device, and how it delivers.
    public struct Device: Sendable {
        /// As the store has it.
        public var address: String
        /// What people call it.
        public var name: String
        /// `live`, or what it waits for; `nil` where no hub says it.
        public var state: String?
        /// When its last reading came.
        public var last: Instant?
        /// Readings a minute.
        public var rate: Double?
        /// Since when the next reading is long due.
        public var silentSince: Instant?
        /// In percent.
        public var battery: Double?

        /// A device of its name and address.
        public init(address: String, name: String) { (self.address, self.name) = (address, name) }
    }

    /// What became of a command: its exit code, what it printed, and what it said of its work.
    public struct Outcome: Sendable {
        /// 0 where it did what it was to do.
        public var code: Int32
        /// Lines that it printed.
        public var output: String
        /// What it said, for a person.
        public var words: String

        /// An outcome of its parts.
        public init(code: Int32, output: String, words: String) { (self.code, self.output, self.words) = (code, output, words) }
    }

    /// The adopted devices, and whether a hub runs that says how they do.
    public var devices: @Sendable () -> (isRunning: Bool, devices: [Device])
    /// Runs the program with words such as `scan`; waits for its end.
    public var run: @Sendable ([String]) -> Outcome
    /// Has the hub read its devices again.
    public var reload: @Sendable () -> Void
    /// The folder whose files the hub reads; `nil` where it reads none.
    public var inbox: String?
    /// The name under which the hub reads a file of the inbox; `nil` where it reads none of that name.
    public var readName: @Sendable (String) -> String? = { $0 }

    /// A door of its parts.
    public init(
        inbox: String?, devices: @escaping @Sendable () -> (isRunning: Bool, devices: [Device]),
        run: @escaping @Sendable ([String]) -> Outcome, reload: @escaping @Sendable () -> Void
    ) {
        (self.inbox, self.devices, self.run, self.reload) = (inbox, devices, run, reload)
    }
}

/// The one command at a time that the page has the hub's program run: none of the server's threads waits for it.
final class HubWork: Sendable {
    struct State: Sendable {
        var running: String?
        var outcome: HubDoor.Outcome?
        /// Of the last scan.
        var near: [NearbyLine] = []
    }

    private let state = Mutex(State())

    var now: State { state.withLock { $0 } }

    /// Begins with a command, unless one is at work.
    func begin(_ name: String, _ body: @escaping @Sendable () -> (HubDoor.Outcome, [NearbyLine]?)) -> Bool {
        let isFree = state.withLock { state in
            guard state.running == nil else { return false }
            (state.running, state.outcome) = (name, nil)
            return true
        }
        guard isFree else { return false }
        detach { [self] in
            let (outcome, near) = body()
            state.withLock { state in
                (state.running, state.outcome) = (nil, outcome)
                if let near { state.near = near }
            }
        }
        return true
    }
}
