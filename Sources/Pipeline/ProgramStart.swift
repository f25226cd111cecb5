import Glibc

/// A program to start. All programs are started here, by posix_spawn(3).
package struct ProgramStart {
    /// The process group of a program, which receives the signals of a terminal.
    package enum Group: Sendable {
        /// The group of this process.
        case shared
        /// A group of its own, so that Ctrl-C in a terminal does not reach it.
        case own
        /// A session of its own, so that it cannot ask at the terminal.
        case session

        fileprivate var flags: Int32 {
            switch self {
            case .shared: 0
            case .own: Int32(POSIX_SPAWN_SETPGROUP)
            // POSIX_SPAWN_SETSID, which is behind a feature macro.
            case .session: 0x80
            }
        }
    }

    private let words: [String]
    package var group = Group.shared
    /// Whether the program gets the default signal handling. Otherwise it ignores and blocks the signals that this process does.
    package var resetsSignals = false
    /// Whether a program without a slash is searched for in PATH.
    package var isSearched = false
    /// The environment, which ends with `nil` and belongs to the caller. `nil` for that of this process.
    package var environment: [UnsafeMutablePointer<CChar>?]?
    /// The descriptors of the program. All others are those of this process, unless they close on execution.
    private var descriptors: [(number: Int32, source: Int32?)] = []

    /// - Parameter words: the program and its arguments.
    package init(_ words: [String]) { self.words = words }

    /// Gives the program a descriptor, or /dev/null if `source` is `nil`.
    package mutating func connect(_ number: Int32, to source: Int32?) { descriptors.append((number, source)) }

    /// Starts the program.
    ///
    /// - Returns: the process, or the value of `errno`.
    package func run() -> Result<pid_t, ErrorNumber> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, source) in descriptors {
            if let source {
                posix_spawn_file_actions_adddup2(&actions, source, number)
            } else {
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
            }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var flags = group.flags
        if resetsSignals {
            var signals = sigset_t()
            sigfillset(&signals)
            posix_spawnattr_setsigdefault(&attributes, &signals)
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            flags |= Int32(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)
        }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let spawn = isSearched ? posix_spawnp : posix_spawn
        let code =
            environment.map { spawn(&process, words[0], &actions, &attributes, &arguments, $0) }
            ?? spawn(&process, words[0], &actions, &attributes, &arguments, environ)
        return code == 0 ? .success(process) : .failure(ErrorNumber(code: code))
    }
}

/// A value of `errno`.
package struct ErrorNumber: Error {
    package let code: Int32
}
