import FoundationEssentials
import Glibc

/// A server that tests start. It ends when they end, in any way, and leaves nothing behind on disk.
package final class ServerProcess: @unchecked Sendable {
    /// Why it is not there.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package init(_ description: String) { self.description = description }
    }

    /// The shell around it waits for the end of its input, whose other end the tests hold.
    private static let guardian = """
        "$@" & server=$!
        read -r line
        kill -KILL $server 2>/dev/null
        wait
        rm -rf "$0"
        """

    /// Where it keeps its things.
    package let folder: String
    private var process: pid_t = 0
    private var lifeline: [Int32] = [-1, -1]

    /// - Parameter user: the owner of the folder, if the tests run as root.
    package init(user: String? = nil) throws {
        var template = Array("/tmp/vitalgate-server-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("mkdtemp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if let user, geteuid() == 0 {
            guard let entry = getpwnam(user), chown(folder, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
                throw Failure("there is no user \(user)")
            }
        }
    }

    /// Starts it, and waits until it is there.
    ///
    /// One that was killed may have left something that keeps it from starting for a while, so it is started again, after ever longer
    /// pauses. The limit of five minutes only ends a test that would hang.
    package func start(_ command: [String], until isThere: () -> Bool) throws {
        var next = 0
        for attempt in 0..<6000 {
            if attempt == next {
                kill()
                next = max(50, 2 * next)
                guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &lifeline) == 0 else {
                    throw Failure("socketpair")
                }
                let log = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
                defer { close(log) }
                process = try Self.spawn(["/bin/sh", "-c", Self.guardian, folder] + command, input: lifeline[1], output: log)
            }
            if isThere() { return }
            usleep(50_000)
        }
        let printed = Self.end(of: open(output, O_RDONLY | O_CLOEXEC))
        throw Failure("\(command[0]) does not start\(printed)")
    }

    /// The file with everything that it has printed.
    private var output: String { folder + "/output" }

    /// The end of a file as part of a message. Closes the file.
    private static func end(of file: Int32) -> String {
        guard file >= 0 else { return "" }
        defer { close(file) }
        let maximumLength = 4000
        lseek(file, max(0, lseek(file, 0, SEEK_END) - off_t(maximumLength)), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: maximumLength)
        let count = max(0, read(file, &bytes, maximumLength))
        return count == 0 ? ", and printed nothing" : ", and printed:\n\(String(decoding: bytes[..<count], as: UTF8.self))"
    }

    /// As a power cut would end it.
    package func kill() {
        guard process > 0 else { return }
        Glibc.kill(-process, SIGKILL)
        end()
    }

    /// Ends it for good.
    package func stop() {
        for end in lifeline { close(end) }
        lifeline = [-1, -1]
        end()
    }

    private func end() {
        var status: Int32 = 0
        if process > 0 { waitpid(process, &status, 0) }
        process = 0
        for end in lifeline where end >= 0 { close(end) }
        lifeline = [-1, -1]
    }

    /// Runs a program to its end. The failure contains the program's output.
    package static func run(_ command: [String]) throws {
        var template = Array("/tmp/vitalgate-output-XXXXXX".utf8CString)
        let output = mkstemp(&template)
        guard output >= 0 else { throw Failure("/tmp: \(String(cString: strerror(errno)))") }
        unlink(template)
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        let process: pid_t
        do {
            process = try spawn(command, output: output)
        } catch {
            close(output)
            throw error
        }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        let printed = end(of: output)
        guard status == 0 else { throw Failure("\(command) failed (\(status))\(printed)") }
    }

    /// - Parameter output: The file for everything that it prints.
    private static func spawn(_ words: [String], input: Int32? = nil, output: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        for descriptor: Int32 in [1, 2] { posix_spawn_file_actions_adddup2(&actions, output, descriptor) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var process: pid_t = 0
        let texts: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for text in texts { free(text) } }
        let code = posix_spawn(&process, words[0], &actions, &attributes, texts, environ)
        guard code == 0 else { throw Failure("\(words[0]): \(String(cString: strerror(code)))") }
        return process
    }
}
