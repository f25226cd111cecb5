import EventLoopKit
import Glibc
import Pipeline

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
        var program = ProgramStart(arguments)
        program.connect(0, to: input)
        if let output { program.connect(1, to: output) }
        if let errors { program.connect(2, to: errors) }
        program.group = .own
        let environment = MemoryLimit.environment(with: memory)
        program.environment = environment
        defer { for word in environment { free(word) } }
        do throws(ErrorNumber) {
            process = try program.run().get()
        } catch {
            throw SystemFailure(arguments[0], error.code)
        }
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

    /// Kills the process and all programs of its group, such as those that it waits for.
    func killGroup() {
        if !isReaped { Glibc.kill(-process, SIGKILL) }
        kill()
    }

    private func reap(_ options: Int32) -> Bool {
        guard !isReaped else { return true }
        var answer = waitpid(process, &status, options)
        while answer < 0, errno == EINTR { answer = waitpid(process, &status, options) }
        isReaped = answer != 0
        return isReaped
    }
}
