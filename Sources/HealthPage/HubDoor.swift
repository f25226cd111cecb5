import HealthModel
import Synchronization

/// The page's interface to the running hub: the state of its devices, and commands that need its radio. The hub's own program runs
/// these commands, as from a shell.
package struct HubDoor: Sendable {
    package struct Device: Sendable {
        /// The address as in the store.
        package var address: String
        package var name: String
        /// `live`, or the reason for waiting. `nil` if no hub reports the state.
        package var state: String?
        /// The time of its last reading.
        package var last: Instant?
        /// The number of readings per minute.
        package var rate: Double?
        /// The time since which the next reading has been overdue.
        package var silentSince: Instant?
        package var battery: Double?

        package init(address: String, name: String) { (self.address, self.name) = (address, name) }
    }

    package struct Backup: Sendable {
        package var name: String
        /// The last verified backup.
        package var made: Instant?
        /// The newest backup that was restored and checked.
        package var proven: Instant?
        /// Why a person has to look after them, as the end of a key of the texts, or `nil`.
        package var trouble: String?
        /// The number of days in the words about it.
        package var days = 0

        /// Creates the state of a location.
        package init(name: String) { self.name = name }
    }

    package struct Outcome: Sendable {
        /// The exit code, 0 for success.
        package var code: Int32
        /// The command's standard output.
        package var output: String
        /// The command's messages for the user.
        package var words: String

        package init(code: Int32, output: String, words: String) { (self.code, self.output, self.words) = (code, output, words) }
    }

    /// The adopted devices, and whether a running hub reports their state.
    package var devices: @Sendable () -> (isRunning: Bool, devices: [Device])
    package var backups: @Sendable () -> [Backup] = { [] }
    /// Whether the hub reports that alerts cannot be evaluated.
    package var alertsFail: @Sendable () -> Bool = { false }
    private let program: @Sendable ([String], String?, Int) -> Outcome
    /// Makes the hub read its devices again.
    package var reload: @Sendable () -> Void
    /// The folder from which the hub imports files, or `nil` if there is none.
    package var inbox: String?
    /// The name under which the hub reads a file in the inbox, or `nil` if it ignores such files.
    package var readName: @Sendable (String) -> String? = { $0 }

    /// Creates the interface.
    ///
    /// - Parameter run: Runs the program with arguments, a text on its standard input, and for at most a number of seconds.
    package init(
        inbox: String?, devices: @escaping @Sendable () -> (isRunning: Bool, devices: [Device]),
        run: @escaping @Sendable ([String], String?, Int) -> Outcome, reload: @escaping @Sendable () -> Void
    ) {
        (self.inbox, self.devices, program, self.reload) = (inbox, devices, run, reload)
    }

    /// Runs the program with arguments such as `scan` and waits for its end. The default time is enough for anything but a large file.
    func run(_ words: [String], seconds: Int = 200) -> Outcome { program(words, nil, seconds) }

    /// Imports a file of a person. All users of the machine can see the arguments of a program, so neither is among them.
    func runImport(of file: String, person: String, onlyPerson: Bool, seconds: Int) -> Outcome {
        let words = ["import", "--files-from", "-", "--person", "-", "--format", "ndjson", "--leave-room"]
        return program(words + (onlyPerson ? ["--only-person"] : []), "\(person)\0\(file)\0", seconds)
    }
}

/// Runs one hub command at a time for the page, without blocking a thread of the server.
final class HubWork: Sendable {
    struct State: Sendable {
        var running: String?
        var outcome: HubDoor.Outcome?
        /// The command that ``outcome`` belongs to.
        var ended: String?
        /// The nearby devices of the last scan.
        var near: [NearbyLine] = []
    }

    private let state = Mutex(State())

    var now: State { state.withLock { $0 } }

    /// Starts a command and returns true, unless another one is running.
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
                (state.running, state.outcome, state.ended) = (nil, outcome, name)
                if let near { state.near = near }
            }
        }
        return true
    }
}
