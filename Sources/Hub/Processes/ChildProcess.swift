import EventLoopKit
import Glibc

/// A program that the hub started. It is ended with this object.
final class ChildProcess {
    private let process: pid_t
    private var isReaped = false
    /// The status from waitpid(2), or 0 until the process has ended.
    private(set) var status: Int32 = 0

    /// Starts a program in its own process group, so that Ctrl-C in a terminal stops only the hub, which then stops the program.
    ///
    /// - Parameters: - arguments: the program's path and its arguments. - input: the standard input. The default is /dev/null. -
    ///   output: the standard output. The default is the hub's, also for `errors`. - memory: the limit of its memory, if it is this program.
    init(
        _ arguments: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil, memory: MemoryLimit? = nil
    ) throws(SystemFailure) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
        if let errors { posix_spawn_file_actions_adddup2(&actions, errors, 2) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        var process: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var environment = MemoryLimit.environment(with: memory)
        defer { for word in words + environment { free(word) } }
        let code = posix_spawn(&process, arguments[0], &actions, &attributes, &words, &environment)
        guard code == 0 else { throw SystemFailure(arguments[0], code) }
        self.process = process
    }

    /// Starts a program that reads a short text from its standard input.
    convenience init(
        _ arguments: [String], reading text: [UInt8], output: Int32? = nil, errors: Int32? = nil, memory: MemoryLimit? = nil
    ) throws(SystemFailure) {
        guard !text.isEmpty else {
            try self.init(arguments, output: output, errors: errors, memory: memory)
            return
        }
        var ends: [Int32] = [-1, -1]
        // A socket takes this many bytes at once, so writing does not wait for the reader. Unlike pipe(2), no other started program can
        // inherit it.
        guard text.count <= Self.maximumTextLength,
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else { throw SystemFailure(arguments[0], errno) }
        defer { close(ends[0]) }
        let count = write(ends[1], text, text.count)
        close(ends[1])
        guard count == text.count else { throw SystemFailure(arguments[0], EIO) }
        try self.init(arguments, input: ends[0], output: output, errors: errors, memory: memory)
    }

    private static let maximumTextLength = 16_384

    deinit { kill() }

    /// Asks the process to end.
    func stop() { Glibc.kill(process, SIGTERM) }

    /// Waits for the end of the process, which must be certain.
    func wait() { _ = reap(0) }

    /// Asks the process to end, and kills it after `limit`.
    func end(within limit: Duration) {
        stop()
        let end = ContinuousClock.now + limit
        while !reap(WNOHANG) {
            guard ContinuousClock.now < end else { return kill() }
            usleep(5000)
        }
    }

    /// Kills the process unless it has ended.
    func kill() {
        guard !isReaped else { return }
        Glibc.kill(process, SIGKILL)
        wait()
    }

    private func reap(_ options: Int32) -> Bool {
        guard !isReaped else { return true }
        var answer = waitpid(process, &status, options)
        while answer < 0, errno == EINTR { answer = waitpid(process, &status, options) }
        isReaped = answer != 0
        return isReaped
    }
}
