import Glibc

/// A command that was not started or did not succeed.
public struct CommandFailure: Error {
    /// The reason, without the command's arguments or output.
    public var reason: String

    /// A failure with its reason.
    public init(_ reason: String) { self.reason = reason }
}

/// A program that reads bytes from its standard input, in its own process group. Exit status 0 means success.
public struct StartedCommand: Sendable {
    private let process: pid_t

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments, at least one.
    ///   - input: Its standard input.
    ///   - isSilent: Whether its output and errors are discarded. Otherwise they go where the caller's go.
    public init(_ words: [String], input: [UInt8], isSilent: Bool = false) throws(CommandFailure) {
        // An unlinked file holds an input of any length, and the command may read it at any time. A pipe would block.
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/vitalgate-message.XXXXXX".utf8CString)
        let message = mkstemp(&template)
        guard message >= 0 else { throw Self.failure(errno, folder) }
        defer { close(message) }
        _ = fcntl(message, F_SETFD, FD_CLOEXEC)
        unlink(template)
        guard Self.write(input, to: message), lseek(message, 0, SEEK_SET) == 0 else { throw Self.failure(errno, folder) }
        var program = ProgramStart(words)
        program.connect(0, to: message)
        if isSilent { for output: Int32 in [1, 2] { program.connect(output, to: nil) } }
        (program.group, program.isSearched) = (.own, true)
        // The command must not inherit the signals that the calling program ignores or blocks.
        program.resetsSignals = true
        do throws(ErrorNumber) {
            process = try program.run().get()
        } catch {
            throw Self.failure(error.code, words[0])
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return false }
            sent += max(count, 0)
        }
        return true
    }

    private static func failure(_ code: Int32, _ action: String) -> CommandFailure {
        CommandFailure("\(action): \(String(cString: strerror(code)))")
    }

    /// Waits for the exit and leaves the process unreaped.
    ///
    /// - Returns: The reason why the command failed, or `nil` if it succeeded.
    public func wait() -> String? { ended(WEXITED | WNOWAIT) ?? nil }

    /// Waits for the exit, kills the command after `timeout`, and reaps it.
    ///
    /// - Returns: The reason why the command failed, or `nil` if it succeeded.
    public func wait(within timeout: Duration) -> String? {
        let deadline = ContinuousClock.now + timeout
        // A command that takes long is asked for ever less often.
        var pause: UInt32 = 1000
        while true {
            if let result = ended(WEXITED | WNOWAIT | WNOHANG) {
                reap()
                return result
            }
            guard ContinuousClock.now < deadline else { break }
            usleep(pause)
            pause = min(pause * 2, 100_000)
        }
        end()
        reap()
        return "it did not acknowledge within \(timeout.components.seconds) s"
    }

    /// The result, or `nil` if the command is still running.
    private func ended(_ options: Int32) -> String?? {
        var end = siginfo_t()
        while waitid(P_PID, id_t(process), &end, options) != 0 {
            guard errno == EINTR else { return .some("waiting for the command: \(String(cString: strerror(errno)))") }
        }
        guard end.si_signo != 0 else { return nil }
        let status = end._sifields._sigchld.si_status
        guard end.si_code == CLD_EXITED else { return .some("the command was ended by signal \(status)") }
        return .some(status == 0 ? nil : "the command ended with status \(status)")
    }

    /// Kills the command and the processes that it started.
    public func end() { kill(-process, SIGKILL) }

    /// Releases the process id.
    public func reap() {
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }
}
