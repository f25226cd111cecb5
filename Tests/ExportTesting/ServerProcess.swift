import FoundationEssentials
import Glibc

/// A server that tests start. It ends when they end, in any way, and leaves nothing behind on disk.
public final class ServerProcess: @unchecked Sendable {
    /// Why it is not there.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
        public init(_ description: String) { self.description = description }
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
    public let folder: String
    private var process: pid_t = 0
    private var lifeline: [Int32] = [-1, -1]

    /// - Parameter user: the owner of the folder, if the tests run as root.
    public init(user: String? = nil) throws {
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
    public func start(_ command: [String], until isThere: () -> Bool) throws {
        for attempt in 0..<600 {
            // One that was killed may have left something that keeps it from starting for a while.
            if attempt % 50 == 0 {
                kill()
                guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &lifeline) == 0 else {
                    throw Failure("socketpair")
                }
                process = try Self.spawn(["/bin/sh", "-c", Self.guardian, folder] + command, input: lifeline[1])
            }
            if isThere() { return }
            usleep(50_000)
        }
        throw Failure("\(command[0]) does not start")
    }

    /// As a power cut would end it.
    public func kill() {
        guard process > 0 else { return }
        Glibc.kill(-process, SIGKILL)
        end()
    }

    /// Ends it for good.
    public func stop() {
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

    /// Runs a program to its end.
    public static func run(_ command: [String]) throws {
        let process = try spawn(command)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        guard status == 0 else { throw Failure("\(command) failed (\(status))") }
    }

    private static func spawn(_ words: [String], input: Int32? = nil) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, flags) in [(Int32(0), O_RDONLY), (1, O_WRONLY), (2, O_WRONLY)] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", flags, 0)
        }
        if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
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
