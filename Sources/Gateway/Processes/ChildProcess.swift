import EventLoopKit
import Glibc

/// A program that the hub started. It does not live longer than this.
final class ChildProcess {
    private let process: pid_t
    private var isReaped = false
    /// How it ended, as waitpid(2) tells it; 0 until then.
    private(set) var status: Int32 = 0

    /// Starts a program in a group of its own: what a terminal's Ctrl-C stops is the hub, which then stops what it started.
    ///
    /// - Parameters:
    ///   - arguments: with the program's path in front.
    ///   - input: what it reads from; /dev/null where nothing is said.
    ///   - output: where it writes to; where the hub does where nothing is said. So with `errors`.
    init(
        _ arguments: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil
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
        defer { for word in words { free(word) } }
        let code = posix_spawn(&process, arguments[0], &actions, &attributes, &words, environ)
        guard code == 0 else { throw SystemFailure(arguments[0], code) }
        self.process = process
    }

    deinit { kill() }

    /// Asks it to end.
    func stop() { Glibc.kill(process, SIGTERM) }

    /// Waits for its end, once it is certain to come.
    func wait() { _ = reap(0) }

    /// Asks it to end, and ends it where it does not within `limit`.
    func end(within limit: Duration) {
        stop()
        let end = ContinuousClock.now + limit
        while !reap(WNOHANG) {
            guard ContinuousClock.now < end else { return kill() }
            usleep(5000)
        }
    }

    /// Ends it, where it has not ended.
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
